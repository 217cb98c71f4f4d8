package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// Options are the choices that Open leaves.
type Options struct {
	// SegmentSize is the size in bytes of a file of the log. It may change from one start to the next.
	SegmentSize int64
	// BatchSize is how many bytes the log writes with one sync at most, unless one Append alone has more.
	BatchSize int
	// RelocateThreshold is the share of a segment's bytes below which what is left alive in it moves into the root file, so that
	// the segment can go. At 1 every message that outlives its checkpoint moves; at 0 none does.
	RelocateThreshold float64
	// RelocateRate is how many bytes of them move in a second at most, those of the emptiest segments first, and none out of a segment that
	// is about to be empty anyway. At 0 all move at once.
	RelocateRate int64
	// MinFree is the number of bytes of free disk below which Alarm is on.
	MinFree uint64
	// AcceptDataLoss opens a store although segments are missing that hold live messages.
	AcceptDataLoss bool
	// Logger gets recovery's progress, damage and disk errors; nil for none.
	Logger *slog.Logger

	shrinkFrom int64              // instead of the constant, in tests
	files      fileSystem         // instead of the folder's, in tests
	hook       func(string) error // told of each step, in tests; it may fail those that ask
}

// DefaultOptions returns what a broker uses that says nothing else.
func DefaultOptions() Options {
	return Options{SegmentSize: 32 << 20, BatchSize: 1 << 20, RelocateThreshold: 0.25, RelocateRate: 8 << 20, MinFree: 50_000_000}
}

// Disk is the Store of a folder. Its goroutines are the committer, which alone writes the log and the index; the root's writer,
// which alone writes the bbolt file; the keeper, which checkpoints, compacts and frees segments; and the preparer of new ones.
//
// Of its locks none is held while another is taken, but for Spill's, which covers the index's; none is held over a call of the
// disk, but for Spill's and for a segment's, which readers share and which keeps its file in place.
type Disk struct {
	options Options
	minFree atomic.Uint64 // options.MinFree, until it is changed
	logger  *slog.Logger
	files   fileSystem
	lock    *os.File
	log     log
	index   *index
	pool    *pool
	root    *root
	spill   spill
	writer  *committer

	mu       sync.Mutex
	segments []*segment // of the log, in order; the last one is written

	checkpointed uint64    // the keeper's: position from which the log would be replayed
	shrinkAfter  time.Time // the keeper's: when the root file may be shrunk again
	moveAfter    time.Time // under the index's mutex: when more survivors may move into it
	recovered    []QueueState
	report       Report

	kicks    atomic.Pointer[[]func()]
	watchers atomic.Pointer[[]func(bool)]
	space    spaceWatch
	reading  chan struct{} // a token for each read at once
	keeping  chan struct{} // wakes the keeper

	closing   chan struct{} // the keeper and the preparer end
	abort     chan struct{} // nobody waits for the disk any more
	failed    chan struct{}
	failOnce  sync.Once
	abortOnce sync.Once
	closeOnce sync.Once
	closeErr  error
	failure   atomic.Pointer[error]
	// The goroutines, in the order in which they end.
	committed  sync.WaitGroup
	keeperDone sync.WaitGroup // the preparer too
	rootDone   sync.WaitGroup

	counters counters
}

// minSegment is the smallest segment that makes sense: room for a few batches.
const minSegment = 64 << 10

// readsAtOnce bounds the threads that paging reads hold.
const readsAtOnce = 8

// Open opens the store in a folder, and makes it if there is none. It takes the folder for this process, recovers what is in it,
// and returns when it can be used.
func Open(dir string, o Options) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s, err := openLocked(dir, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store in %s: %w", dir, err), lock.Close())
	}
	s.lock = lock
	return s, nil
}

// openLocked opens a folder that no other process can change meanwhile.
func openLocked(dir string, o Options) (*Disk, error) {
	if o.SegmentSize < minSegment {
		return nil, fmt.Errorf("segments of %d bytes are too small, the least is %d", o.SegmentSize, minSegment)
	}
	if o.files == nil {
		folder, err := openFolder(filepath.Join(dir, "log"))
		if err != nil {
			return nil, err
		}
		o.files = folder
	}
	o = quiet(o)
	root, err := openRoot(dir, false)
	if err != nil {
		return nil, err
	}
	root.hook = o.hook
	// The names of what was made just now have to last as well, or a power cut takes the folder with all that is confirmed.
	if err := errors.Join(root.shrinkAtStart(o), osFolder{dir}.syncDir(), osFolder{filepath.Dir(dir)}.syncDir()); err != nil {
		return nil, errors.Join(err, root.closeFile())
	}
	s := newDisk(o, root)
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	s.start()
	return s, nil
}

// quiet puts functions that do nothing, and the usual numbers, where none are given.
func quiet(o Options) Options {
	if o.hook == nil {
		o.hook = func(string) error { return nil }
	}
	if o.shrinkFrom == 0 {
		o.shrinkFrom = shrinkFrom
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// newDisk puts the parts together; nothing runs yet and nothing is read.
func newDisk(o Options, r *root) *Disk {
	s := &Disk{
		options: o,
		logger:  o.Logger,
		files:   o.files,
		index:   newIndex(),
		root:    r,
		pool:    &pool{fs: o.files, size: o.SegmentSize, want: preparedSegments, most: keptSegments, wake: make(chan struct{}, 1)},
		reading: make(chan struct{}, readsAtOnce),
		keeping: make(chan struct{}, 1),
		closing: make(chan struct{}),
		abort:   make(chan struct{}),
		failed:  make(chan struct{}),
	}
	s.minFree.Store(o.MinFree)
	s.log.wake = make(chan struct{}, 1)
	s.writer = &committer{s: s}
	s.spill.s = s
	return s
}

// start runs the goroutines; what they work on is complete.
func (s *Disk) start() {
	s.committed.Go(s.writer.run)
	s.keeperDone.Go(s.keep)
	s.keeperDone.Go(s.preparer)
	s.rootDone.Go(s.root.run)
	s.wakeKeeper()
}

// hook tells a test of a step.
func (s *Disk) hook(step string) { _ = s.options.hook(step) }

// logSegments returns the log's segments in order.
func (s *Disk) logSegments() []*segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.segments)
}

// addSegment is called by the committer, in the order of the log.
func (s *Disk) addSegment(seg *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.segments = append(s.segments, seg)
}

// removeSegment is called by the keeper.
func (s *Disk) removeSegment(seg *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.segments = slices.DeleteFunc(s.segments, func(other *segment) bool { return other == seg })
}

// Commit implements Store.
func (s *Disk) Commit(changes ...Change) error {
	return s.root.update(func(tx *bbolt.Tx) error { return commitDefinitions(tx, changes) })
}

// Load implements Store.
func (s *Disk) Load(bucket string, each func(key string, value []byte) error) error {
	return s.root.load(bucket, each)
}

// NextQueueID implements Store.
func (s *Disk) NextQueueID() uint64 { return s.root.queueID.Add(1) - 1 }

// Append implements Store.
func (s *Disk) Append(b *Batch, number func()) LSN {
	lsn := s.log.append(b.take(), number)
	b.forget()
	return lsn
}

// Settle implements Store.
func (s *Disk) Settle(queue uint64, ranges []Range) {
	if len(ranges) > 0 {
		s.log.lazily(recordSettle, func(p *payload) { p.appendSettle(queue, ranges) })
	}
}

// DropQueue implements Store.
func (s *Disk) DropQueue(queue uint64) {
	s.log.lazily(recordDrop, func(p *payload) { p.appendQueue(queue) })
}

// Durable implements Store.
func (s *Disk) Durable() LSN { return LSN(s.log.durable.Load()) }

// OnDurable implements Store.
func (s *Disk) OnDurable(kick func()) { register(&s.kicks, kick) }

// kick tells everybody who asked that Durable moved.
func (s *Disk) kick() {
	if kicks := s.kicks.Load(); kicks != nil {
		for _, kick := range *kicks {
			kick()
		}
	}
}

// register adds to a list that is read without a lock.
func register[T any](list *atomic.Pointer[[]T], v T) {
	for {
		old := list.Load()
		fresh := []T{v}
		if old != nil {
			fresh = append(slices.Clone(*old), v)
		}
		if list.CompareAndSwap(old, &fresh) {
			return
		}
	}
}

// Queues implements Store.
func (s *Disk) Queues(each func(QueueState)) {
	for i := range s.recovered {
		each(s.recovered[i])
		s.recovered[i].Notes = nil // there may be millions
	}
}

// Pressure implements Store.
func (s *Disk) Pressure() bool { return s.log.unsynced.Load() > pressureBytes }

// Failed implements Store.
func (s *Disk) Failed() <-chan struct{} { return s.failed }

// Err implements Store.
func (s *Disk) Err() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// fail ends the log for good: the disk refused, and refused again elsewhere.
func (s *Disk) fail(err error) {
	s.failOnce.Do(func() {
		s.logger.Error("the store failed, nothing is confirmed any more", "error", err)
		s.failure.Store(&err)
		s.log.close()
		s.index.end(err)
		close(s.failed)
	})
}

// Close implements Store.
func (s *Disk) Close(ctx context.Context) error {
	s.closeOnce.Do(func() { s.closeErr = s.shutDown(ctx) })
	return s.closeErr
}

// shutDown ends the goroutines in the order in which they need each other: the committer, which writes what is pending; the
// keeper, so that nobody else checkpoints; the last checkpoint; the root's writer.
func (s *Disk) shutDown(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.abortOnce.Do(func() { close(s.abort) }) })
	defer stop()
	s.log.close()
	s.committed.Wait()
	s.index.end(ErrClosed)
	close(s.closing)
	s.keeperDone.Wait()
	err := s.finalCheckpoint(ctx)
	s.root.close()
	s.rootDone.Wait()
	return errors.Join(s.Err(), err, s.closeFiles())
}

// closeFiles lets go of everything that is open.
func (s *Disk) closeFiles() error {
	err := s.pool.close()
	for _, seg := range slices.Concat(s.logSegments(), s.spill.all()) {
		if f := seg.detach(); f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	err = errors.Join(err, s.spill.clear(), s.root.closeFile())
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}
