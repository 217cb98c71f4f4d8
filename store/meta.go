package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// The root file is one bbolt database. Definitions stand in a bucket for each of the caller's, under a prefix; the rest:
//
//	meta      version, clean, ckpt (position from which the log is replayed), queue (next queue id), segment (next segment id)
//	segments  id -> position, end, size of file, flags: what a checkpoint saved
//	chunks    segment, queue, first -> last, number, bytes, disk: summaries, read at the start
//	entries   the same key -> packed entries, read when somebody pages
//	acks      the same key -> floor, bits: live state, absent while all is live
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
	db      *bbolt.DB
	queueID atomic.Uint64 // the next one to give

	mu      sync.Mutex
	waiting []*change
	closed  bool
	wake    chan struct{}

	commits atomic.Uint64
	hook    func(string) error
}

// change is a step of a transaction and who waits for it.
type change struct {
	do   func(*bbolt.Tx) error
	done chan error
}

// openRoot opens the file, or makes it, and checks its version.
func openRoot(dir string, readOnly bool) (*root, error) {
	path := filepath.Join(dir, rootName)
	db, err := bbolt.Open(path, 0o640, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType,
		Timeout:      time.Second, // the folder is locked already; this is for tools
		ReadOnly:     readOnly,
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, diskError(err))
	}
	r := &root{db: db, wake: make(chan struct{}, 1), hook: func(string) error { return nil }}
	if !readOnly {
		err = db.Update(prepareRoot)
	} else {
		err = db.View(checkVersion)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, diskError(err)), db.Close())
	}
	return r, nil
}

// prepareRoot makes the buckets of a new file, or checks those of an old one.
func prepareRoot(tx *bbolt.Tx) error {
	if tx.Bucket(bucketMeta) != nil {
		return checkVersion(tx)
	}
	for _, name := range internal {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return putNumber(tx, keyVersion, formatVersion)
}

func checkVersion(tx *bbolt.Tx) error {
	for _, name := range internal {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("no bucket %s: %w", name, ErrCorrupt)
		}
	}
	if v := number(tx, keyVersion); v != formatVersion {
		return fmt.Errorf("version %d: %w", v, ErrVersion)
	}
	return nil
}

func putNumber(tx *bbolt.Tx, key []byte, v uint64) error {
	return tx.Bucket(bucketMeta).Put(key, binary.BigEndian.AppendUint64(nil, v))
}

// number reads a number of the meta bucket; zero when it is not there.
func number(tx *bbolt.Tx, key []byte) uint64 {
	if v := tx.Bucket(bucketMeta).Get(key); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// update makes a change durable. It may share its transaction with others; if that fails, each is tried alone.
func (r *root) update(do func(*bbolt.Tx) error) error {
	c := &change{do: do, done: make(chan error, 1)}
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
		if len(changes) > 0 {
			r.commit(changes)
		}
		if closed {
			return
		}
	}
}

func (r *root) commit(changes []*change) {
	err := r.transaction(changes)
	for _, c := range changes {
		if err != nil && len(changes) > 1 {
			c.done <- r.transaction([]*change{c})
		} else {
			c.done <- err
		}
	}
}

func (r *root) transaction(changes []*change) error {
	err := r.hook("committing")
	if err == nil {
		err = r.db.Update(func(tx *bbolt.Tx) error { return r.together(tx, changes) })
	}
	r.commits.Add(1)
	_ = r.hook("committed")
	return diskError(err)
}

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

// commitDefinitions is the change behind Commit.
func commitDefinitions(tx *bbolt.Tx, changes []Change) error {
	for _, c := range changes {
		b, err := tx.CreateBucketIfNotExists([]byte(definitionsPrefix + c.Bucket))
		if err != nil {
			return err
		}
		if c.Value == nil {
			err = b.Delete([]byte(c.Key))
		} else {
			err = b.Put([]byte(c.Key), c.Value)
		}
		if err != nil {
			return fmt.Errorf("commit %q in %q: %w", c.Key, c.Bucket, err)
		}
	}
	return nil
}

// load is the work behind Load. It copies the bucket a thousand keys at a time, so that a slow caller holds no transaction open.
func (r *root) load(bucket string, each func(key string, value []byte) error) error {
	const atOnce = 1000
	from := []byte{}
	for more := true; more; {
		var keys, values [][]byte
		err := r.db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(definitionsPrefix + bucket))
			if b == nil {
				return nil
			}
			c := b.Cursor()
			for k, v := c.Seek(from); k != nil && len(keys) < atOnce; k, v = c.Next() {
				keys, values = append(keys, slices.Clone(k)), append(values, slices.Clone(v))
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, key := range keys {
			if err := each(string(key), values[i]); err != nil {
				return err
			}
		}
		if more = len(keys) == atOnce; more {
			from = append(keys[atOnce-1], 0)
		}
	}
	return nil
}

func (k chunkKey) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 24), k.segment)
	b = binary.BigEndian.AppendUint64(b, k.queue)
	return binary.BigEndian.AppendUint64(b, k.first)
}

func parseChunkKey(b []byte) (k chunkKey, ok bool) {
	if len(b) != 24 {
		return k, false
	}
	return chunkKey{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, true
}

func uint64Key(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// keyUint64 is its inverse; a key of another length yields zero.
func keyUint64(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// encodeSummary is the value in the chunks bucket.
func (c *chunk) encodeSummary() []byte {
	b := binary.AppendUvarint(make([]byte, 0, 24), c.last-c.first)
	b = binary.AppendUvarint(b, uint64(c.n))
	b = binary.AppendUvarint(b, uint64(c.bytes))
	return binary.AppendUvarint(b, uint64(c.disk))
}

// encodeLive is the value in the acks bucket; nil when all entries are live and there are no holes.
func (c *chunk) encodeLive() []byte {
	if c.bits == nil && c.floor == c.first {
		return nil
	}
	if c.bits == nil {
		return binary.AppendUvarint(nil, c.floor-c.first)
	}
	b := append(make([]byte, 0, 2+8*len(c.bits)), 0)
	for _, w := range c.bits {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
