package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// life is a store on a faultFS with what a test needs around it.
type life struct {
	*Disk
	t     *testing.T
	dir   string
	files *faultFS
	next  map[uint64]uint64
}

func begin(t *testing.T, dir string, files *faultFS, change func(*Options)) *life {
	t.Helper()
	o := crashOptions(files, 0.25)
	if change != nil {
		change(&o)
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return &life{Disk: s, t: t, dir: dir, files: files, next: map[uint64]uint64{}}
}

// send appends n messages of a size to a queue.
func (l *life) send(queue uint64, n, size int) LSN {
	var b Batch
	for range n {
		b.Publish(make([]byte, size), 0)
		b.To(queue)
	}
	return l.Append(&b, func() {
		for i := range b.Pairs() {
			l.next[queue]++
			b.Pairs()[i].Seq = l.next[queue]
		}
	})
}

// until waits for a condition that the store's goroutines bring about.
func (l *life) until(what string, holds func() bool) {
	l.t.Helper()
	moved := make(chan struct{}, 1)
	kick := func() {
		select {
		case moved <- struct{}{}:
		default:
		}
	}
	l.OnDurable(kick)
	l.OnAlarm(func(bool) { kick() })
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-moved:
		case <-poll.C:
		case <-deadline.C:
			l.t.Fatalf("waited in vain until %s", what)
		}
	}
}

func (l *life) confirmed(lsn LSN) {
	l.t.Helper()
	l.until("a batch is durable", func() bool { return l.Durable() >= lsn || l.Err() != nil })
	if l.Err() != nil {
		l.t.Fatal(l.Err())
	}
}

// has checks which messages of a queue are there.
func (l *life) has(queue uint64, want ...Range) {
	l.t.Helper()
	messages, err := readQueue(l.Disk, queue)
	if err != nil {
		l.t.Fatal(err)
	}
	var got []Range
	for _, m := range messages {
		got = joinRange(got, Range{m.Seq, m.Seq})
	}
	if describeRanges(got) != describeRanges(want) {
		l.t.Fatalf("queue %d holds %v, want %v", queue, got, want)
	}
}

// applied waits until everything that was settled is in the index, and so written.
func (l *life) applied() {
	l.t.Helper()
	l.until("settlements are written", func() bool {
		l.log.mu.Lock()
		defer l.log.mu.Unlock()
		l.index.mu.Lock()
		defer l.index.mu.Unlock()
		return l.index.applied == l.log.appended
	})
}

func (l *life) end() { l.t.Helper(); closeStore(l.t, l.Disk) }

// kill leaves the folder as a killed process would, and opens it again elsewhere.
func (l *life) kill() *life {
	l.t.Helper()
	root, err := os.ReadFile(filepath.Join(l.dir, rootName))
	if err != nil {
		l.t.Fatal(err)
	}
	m := image{files: l.files.afterPowerCut(nil), root: root}
	l.files.setFault(nil)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	l.Close(ctx) //nolint:errcheck // it may have failed on purpose
	dir := l.t.TempDir()
	s, err := m.reopen(l.t, dir, crashOptions(nil, 0.25))
	if err != nil {
		l.t.Fatal(err)
	}
	return &life{Disk: s, t: l.t, dir: dir, files: m.files, next: l.next}
}

func TestFailingSyncGoesOnInAnotherSegment(t *testing.T) {
	for _, op := range []string{"sync", "write"} {
		for _, fault := range []error{syscall.EIO, errShort} {
			l := begin(t, t.TempDir(), newFaultFS(), nil)
			l.confirmed(l.send(1, 10, 100))
			failures := 0
			l.files.setFault(func(o, name string) error {
				if o == op && strings.HasSuffix(name, segmentSuffix) && failures == 0 {
					failures++
					return fault
				}
				return nil
			})
			l.confirmed(l.send(1, 10, 100))
			l.confirmed(l.send(1, 10, 100))
			if failures != 1 {
				t.Fatalf("%s: %d failures", op, failures)
			}
			l.has(1, Range{1, 30})
			l = l.kill()
			l.has(1, Range{1, 30})
			l.end()
		}
	}
}

func TestDiskThatRefusesTwiceFailsTheStore(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	safe := l.send(1, 10, 100)
	l.confirmed(safe)
	l.files.setFault(func(op, _ string) error {
		if op == "sync" {
			return syscall.EIO
		}
		return nil
	})
	lsn := l.send(1, 10, 100)
	select {
	case <-l.Failed():
	case <-time.After(20 * time.Second):
		t.Fatal("the store did not fail")
	}
	if !errors.Is(l.Err(), syscall.EIO) {
		t.Errorf("error %v", l.Err())
	}
	if l.Durable() >= lsn {
		t.Error("a batch was confirmed that could not be synced")
	}
	if later := l.send(1, 1, 1); later <= lsn || l.Durable() >= later {
		t.Error("a failed store confirms")
	}
	l.next[1] = 10
	l = l.kill()
	messages, err := readQueue(l.Disk, 1)
	if err != nil || len(messages) < 10 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	l.end()
}

func TestFullDiskWaitsAndGoesOn(t *testing.T) {
	files := newFaultFS()
	l := begin(t, t.TempDir(), files, nil)
	l.until("segments are ready", func() bool { return l.Stats().Free == preparedSegments })
	files.setSpace(0)
	var lsn LSN
	for range 8 {
		lsn = l.send(1, 10, 4<<10)
	}
	l.until("the alarm is on", l.Alarm)
	l.until("all prepared segments are used", func() bool { return l.Stats().Free == 0 })
	if l.Durable() >= lsn {
		t.Fatal("confirmed without space")
	}
	files.setSpace(-1)
	l.confirmed(lsn)
	l.has(1, Range{1, 80})
	l.until("the alarm is off", func() bool { return !l.Alarm() })
	l = l.kill()
	l.has(1, Range{1, 80})
	l.end()
}

func TestSettlementsFreeAFullDisk(t *testing.T) {
	files := newFaultFS()
	l := begin(t, t.TempDir(), files, nil)
	l.confirmed(l.send(1, 100, 4<<10))
	l.until("segments are ready", func() bool { return l.Stats().Free == preparedSegments })
	files.setSpace(0)
	for range 8 { // more than the files that are ready hold
		l.send(1, 12, 4<<10)
	}
	l.until("the alarm is on", l.Alarm)
	l.Settle(1, []Range{{1, 196}})
	files.setSpace(10 << 20)
	l.until("segments are freed", func() bool { return l.Stats().Segments <= 2 })
	l.confirmed(l.send(1, 10, 4<<10))
	l.has(1, Range{197, 206})
	l.end()
}

func TestFailingCheckpointKeepsTheLog(t *testing.T) {
	var refuse atomic.Bool
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) {
		o.hook = func(step string) error {
			if step == "committing" && refuse.Load() {
				return syscall.ENOSPC
			}
			return nil
		}
	})
	refuse.Store(true)
	if err := l.Commit(Change{Bucket: "queues", Key: "a", Value: []byte{1}}); !errors.Is(err, ErrFull) {
		t.Fatalf("definition committed: %v", err)
	}
	for range 30 {
		l.confirmed(l.send(1, 10, 1000))
	}
	l.Settle(1, []Range{{1, 50}})
	l.applied()
	l.until("the alarm is on", l.Alarm)
	other := l.kill()
	other.has(1, Range{51, 300})
	other.end()
}

func TestCheckpointGoesOnAfterAFailure(t *testing.T) {
	var refuse atomic.Int32
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) {
		o.hook = func(step string) error {
			if step == "committing" && refuse.Add(1)%2 == 0 {
				return syscall.EIO
			}
			return nil
		}
	})
	for i := range uint64(60) {
		l.confirmed(l.send(1, 10, 1000))
		l.Settle(1, []Range{{i*10 + 1, i*10 + 8}})
	}
	l.applied()
	l.until("a checkpoint succeeds", func() bool { return l.Stats().Checkpoints > 0 && l.Stats().CheckpointFailed > 0 })
	var want []Range
	for i := range uint64(60) {
		want = append(want, Range{i*10 + 9, i*10 + 10})
	}
	l.has(1, want...)
	l = l.kill()
	l.has(1, want...)
	l.end()
}

func TestSpaceComesBack(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	for range 100 {
		l.confirmed(l.send(1, 10, 2000))
	}
	l.confirmed(l.send(2, 3, 10))
	l.Settle(1, []Range{{1, 1000}})
	l.until("segments are freed", func() bool { return l.Stats().Segments <= 2 })
	l.has(2, Range{1, 3})
	l.DropQueue(2)
	l.confirmed(l.send(3, 1, 10))
	l.has(2)
	l = l.kill()
	l.has(2)
	l.has(3, Range{1, 1})
	l.end()
}

// One message in a hundred stays: the segments go all the same.
func TestSurvivorsMoveOutOfSparseSegments(t *testing.T) {
	for _, large := range []int{0, 10_000} { // records that are too large to move
		l := begin(t, t.TempDir(), newFaultFS(), nil)
		var want []Range
		for i := range uint64(40) {
			l.confirmed(l.send(1, 9, 1000))
			l.confirmed(l.send(1, 1, 1000+large))
			want = append(want, Range{i*10 + 10, i*10 + 10})
			l.Settle(1, []Range{{i*10 + 1, i*10 + 9}})
		}
		l.applied()
		if large == 0 {
			l.until("segments are freed", func() bool { return l.Stats().Segments <= 4 })
		}
		l.has(1, want...)
		l = l.kill()
		l.has(1, want...)
		l.Settle(1, want[:39])
		l.until("segments are freed", func() bool { return l.Stats().Segments <= 4 })
		l.end()
		l = begin(t, l.dir, l.files, nil)
		l.has(1, want[39])
		l.end()
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	defer l.end()
	if _, err := Open(l.dir, crashOptions(newFaultFS(), 0)); !errors.Is(err, ErrLocked) {
		t.Fatalf("opened twice: %v", err)
	}
}

// A write that finds no space is tried again: nothing was promised yet.
func TestWriteWithoutSpaceIsTriedAgain(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	var refused atomic.Int32
	l.files.setFault(func(op, _ string) error {
		if op == "write" && refused.Add(1) <= 3 {
			return syscall.ENOSPC
		}
		return nil
	})
	l.confirmed(l.send(1, 5, 100))
	if refused.Load() <= 3 {
		t.Fatalf("%d writes", refused.Load())
	}
	l.has(1, Range{1, 5})
	l = l.kill()
	l.has(1, Range{1, 5})
	l.end()
}

// A store that waits for space can be closed; what was not confirmed may be lost, and Close says so.
func TestCloseOnAFullDisk(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	l.confirmed(l.send(1, 5, 100))
	l.files.setFault(func(op, _ string) error {
		if op == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	lsn := l.send(1, 5, 100)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := l.Close(ctx); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("closed with %v", err)
	}
	if l.Durable() >= lsn {
		t.Error("confirmed what could not be written")
	}
	l.files.setFault(nil)
	again := begin(t, l.dir, l.files, nil)
	again.has(1, Range{1, 5})
	again.end()
}

// Damage that a read meets costs the messages that stand there, and an error of the disk no more than the sector.
func TestReadErrorCostsOneMessage(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	defer l.end()
	l.confirmed(l.send(1, 20, 500))
	l.applied() // what is durable comes into the index a little later
	l.index.mu.Lock()
	c := l.index.lanes[1].chunks[0]
	var at int64
	unpack(c.entries, c.first, func(e entry) bool { at = e.offset + 100; return e.seq < 7 })
	l.index.mu.Unlock()
	l.files.mu.Lock()
	l.files.badSector = func(name string, from, to int64) bool { return name == segmentName(c.seg.id) && from <= at && at < to }
	l.files.mu.Unlock()
	w, err := l.Read(1, []Range{{1, 20}}, 1<<20)
	if err != nil || len(w.Messages) != 19 || len(w.Lost) != 1 || w.Lost[0] != (Range{7, 7}) {
		t.Fatalf("%d messages, lost %v, %v", len(w.Messages), w.Lost, err)
	}
}
