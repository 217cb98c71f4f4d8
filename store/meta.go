package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// The root file is one bbolt database. Definitions stand in a bucket for each of the caller's, under a prefix; the rest:
//
//	meta      version, clean, ckpt (position from which the log is replayed), queue (next queue id), segment (next segment id)
//	segments  id -> position, end, size of file, flags: what a checkpoint saved
//	chunks    segment, queue, first -> last, number, bytes, disk: summaries, read at the start
//	entries   the same key -> packed entries, read when somebody pages
//	acks      the same key -> floor, bits: live state, absent while all is live
//	notes     the same key -> notes, absent when there are none
//	queues    id -> next sequence
//	bodies    position -> record: survivors of segments that were given up
//
// Keys are big endian, so that they sort.
var (
	bucketMeta     = []byte("meta")
	bucketSegments = []byte("segments")
	bucketChunks   = []byte("chunks")
	bucketEntries  = []byte("entries")
	bucketAcks     = []byte("acks")
	bucketNotes    = []byte("notes")
	bucketQueues   = []byte("queues")
	bucketBodies   = []byte("bodies")
	internal       = [][]byte{bucketMeta, bucketSegments, bucketChunks, bucketEntries, bucketAcks, bucketQueues, bucketBodies}

	keyVersion    = []byte("version")
	keyClean      = []byte("clean")
	keyCheckpoint = []byte("ckpt")
	keyQueue      = []byte("queue")
	keySegment    = []byte("segment")
)

const (
	rootName          = "broker.db"
	definitionsPrefix = "definitions/"
)

// root is the bbolt file and the one goroutine that writes it. Writers hand it functions; those that wait at the same time share
// a transaction, and so its two syncs.
type root struct {
	path    string
	swap    sync.RWMutex // keeps db in place while somebody uses it, the writing goroutine aside, which alone puts another there
	db      *bbolt.DB
	queueID atomic.Uint64 // the next one to give

	mu      sync.Mutex
	waiting []*change
	closed  bool
	wake    chan struct{}

	commits atomic.Uint64
	hook    func(string) error
}

// change is a step of a transaction and who waits for it; without a function it asks for the file to be shrunk.
type change struct {
	do   func(*bbolt.Tx) error
	done chan error
}

// openRoot opens the file, or makes it, and checks its version.
func openRoot(dir string, readOnly bool) (*root, error) {
	path := filepath.Join(dir, rootName)
	r := &root{path: path, wake: make(chan struct{}, 1), hook: func(string) error { return nil }}
	err := guard(func() (err error) {
		r.db, err = openBolt(path, readOnly)
		return err
	})
	if err == nil && readOnly {
		err = r.view(checkVersion)
	} else if err == nil {
		err = r.write(prepareRoot)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, diskError(err)), r.closeFile())
	}
	return r, nil
}

// openBolt opens a bbolt file as all are opened here.
func openBolt(path string, readOnly bool) (*bbolt.DB, error) {
	return bbolt.Open(path, 0o640, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType,
		Timeout:      time.Second, // the folder is locked already; this is for tools
		ReadOnly:     readOnly,
	})
}

// guard runs work on the root file. bbolt trusts its pages: a damaged one makes it panic, or touch memory that is not there. Both
// are an error here, and no reason for the process to end.
func guard(work func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%s: %v: %w", rootName, cause, ErrCorrupt)
		}
	}()
	return work()
}

// view reads; any number may at once, and beside the one that writes.
func (r *root) view(look func(*bbolt.Tx) error) error {
	r.swap.RLock()
	defer r.swap.RUnlock()
	err := guard(func() error { return r.db.View(look) })
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// write is for the writing goroutine, and for the start, before that runs.
func (r *root) write(do func(*bbolt.Tx) error) error {
	return guard(func() error { return r.db.Update(do) })
}

// closeFile closes what openRoot opened, if it did.
func (r *root) closeFile() error {
	if r.db == nil {
		return nil
	}
	return guard(r.db.Close)
}

// prepareRoot makes the buckets of a new file, or checks those of an old one.
func prepareRoot(tx *bbolt.Tx) error {
	if tx.Bucket(bucketMeta) != nil {
		if err := checkVersion(tx); err != nil {
			return err
		}
		_, err := tx.CreateBucketIfNotExists(bucketNotes) // older files have none
		return err
	}
	for _, name := range append(internal, bucketNotes) {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return putNumber(tx, keyVersion, formatVersion)
}

// checkVersion refuses a file that another version wrote, or whose numbers can't be trusted.
func checkVersion(tx *bbolt.Tx) error {
	for _, name := range internal {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("no bucket %s: %w", name, ErrCorrupt)
		}
	}
	if err := eachValue(tx, bucketMeta, func(_, _ []byte) error { return nil }); err != nil {
		return err
	}
	if v := number(tx, keyVersion); v != formatVersion {
		return fmt.Errorf("version %d: %w", v, ErrVersion)
	}
	return nil
}

// putNumber writes a number of the meta bucket.
func putNumber(tx *bbolt.Tx, key []byte, v uint64) error {
	return putValue(tx, bucketMeta, key, uint64Key(v))
}

// number reads a number of the meta bucket, all of which were checked when the file was opened; zero when it is not there.
func number(tx *bbolt.Tx, key []byte) uint64 {
	if v, err := openValue(key, tx.Bucket(bucketMeta).Get(key)); err == nil {
		return keyUint64(v)
	}
	return 0
}

// update makes a change durable. It may share its transaction with others; if that fails, each is tried alone.
func (r *root) update(do func(*bbolt.Tx) error) error {
	return r.request(&change{do: do})
}

// request waits until the writing goroutine has done what is asked.
func (r *root) request(c *change) error {
	c.done = make(chan error, 1)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	r.waiting = append(r.waiting, c)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return <-c.done
}

// run is the writing goroutine; it ends when the root is closed and nobody waits any more.
func (r *root) run() {
	for range r.wake {
		r.mu.Lock()
		changes, closed := r.waiting, r.closed
		r.waiting = nil
		r.mu.Unlock()
		r.commit(changes)
		if closed {
			return
		}
	}
}

// commit makes changes durable that came while the last transaction ran.
func (r *root) commit(changes []*change) {
	changes = slices.DeleteFunc(changes, func(c *change) bool {
		if c.do == nil {
			c.done <- r.shrink()
		}
		return c.do == nil
	})
	if len(changes) == 0 {
		return
	}
	err := r.transaction(changes)
	for _, c := range changes {
		if err != nil && len(changes) > 1 {
			c.done <- r.transaction([]*change{c})
		} else {
			c.done <- err
		}
	}
}

// transaction tries changes, all or none.
func (r *root) transaction(changes []*change) error {
	err := r.hook("committing")
	if err == nil {
		err = r.write(func(tx *bbolt.Tx) error { return r.together(tx, changes) })
	}
	r.commits.Add(1)
	_ = r.hook("committed")
	return diskError(err)
}

// together is the body of a transaction. The next queue id goes along, so that no id that a change names is given again.
func (r *root) together(tx *bbolt.Tx, changes []*change) error {
	for _, c := range changes {
		if err := c.do(tx); err != nil {
			return err
		}
	}
	if next := r.queueID.Load(); next != number(tx, keyQueue) {
		return putNumber(tx, keyQueue, next)
	}
	return nil
}

// close ends the writing goroutine; what waits is still written.
func (r *root) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
