package store

import (
	"errors"
	"sync"
	"testing"

	"go.etcd.io/bbolt"
)

// bodiesIn counts survivors in the root file.
func bodiesIn(t *testing.T, s *Disk) (n int) {
	t.Helper()
	err := s.root.view(func(tx *bbolt.Tx) error {
		n = tx.Bucket(bucketBodies).Stats().KeyN
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLowSpaceRaisesTheAlarm(t *testing.T) {
	files := newFaultFS()
	l := begin(t, t.TempDir(), files, func(o *Options) { o.MinFree = 1 << 20 })
	defer l.end()
	var mu sync.Mutex
	var told []bool
	l.OnAlarm(func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, on)
	})
	if l.Alarm() {
		t.Fatal("the alarm is on with an empty disk")
	}
	l.until("segments are ready", func() bool { return l.Stats().Free == preparedSegments })
	files.setSpace(900_000)
	l.until("the alarm is on", l.Alarm)
	l.confirmed(l.send(1, 1, 100)) // what is appended is still taken
	files.setSpace(-1)
	l.until("the alarm is off", func() bool { return !l.Alarm() })
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 2 || !told[0] || told[1] {
		t.Fatalf("told %v", told)
	}
}

// At a threshold of 1 all that outlives its checkpoint is in the root file, and leaves it when it is settled.
func TestEverythingMovesAtThresholdOne(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) { o.RelocateThreshold = 1 })
	for range 30 {
		l.confirmed(l.send(1, 20, 500))
	}
	l.until("sealed segments are empty", func() bool { return l.Stats().Segments <= 1 })
	if n := bodiesIn(t, l.Disk); n < 400 {
		t.Fatalf("%d bodies in the root file", n)
	}
	l.has(1, Range{1, 600})
	l.Settle(1, []Range{{1, 100}, {200, 600}})
	l.until("their bodies go", func() bool { return bodiesIn(t, l.Disk) <= 99 })
	l.has(1, Range{101, 199})
	l = l.kill()
	l.has(1, Range{101, 199})
	l.end()
}

// One body that several queues hold is moved once and stays until the last of them let go.
func TestSharedBodyMovesOnce(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) { o.RelocateThreshold = 1 })
	defer l.end()
	var b Batch
	b.Publish(make([]byte, 1000), 0)
	for queue := uint64(1); queue <= 5; queue++ {
		b.To(queue)
	}
	l.confirmed(l.Append(&b, func() {
		for i := range b.Pairs() {
			b.Pairs()[i].Seq = 1
		}
	}))
	for range 30 {
		l.confirmed(l.send(9, 10, 1000))
	}
	l.Settle(9, []Range{{1, 1000}})
	for queue := uint64(1); queue <= 4; queue++ {
		l.Settle(queue, []Range{{1, 1}})
	}
	l.applied()
	l.until("one body is left", func() bool { return bodiesIn(t, l.Disk) == 1 })
	l.has(4)
	l.has(5, Range{1, 1})
	l.Settle(5, []Range{{1, 1}})
	l.until("none is left", func() bool { return bodiesIn(t, l.Disk) == 0 })
}

func TestSpillOnAFullDisk(t *testing.T) {
	files := newFaultFS()
	l := begin(t, t.TempDir(), files, nil)
	defer l.end()
	files.setSpace(0)
	message := []Message{{Seq: 1, Body: []byte("x")}}
	if err := l.Spill(1, message); !errors.Is(err, ErrFull) {
		t.Fatalf("spilled on a full disk: %v", err)
	}
	l.has(1)
	files.setSpace(-1)
	if err := l.Spill(1, message); err != nil {
		t.Fatal(err)
	}
	l.has(1, Range{1, 1})
}

// Neighbours in the log are read with one call; a queue's messages far apart are not.
func TestReadsAreCoalesced(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) { o.SegmentSize = 4 << 20 })
	defer l.end()
	for range 4 {
		l.confirmed(l.send(1, 50, 1000))
		l.confirmed(l.send(2, 50, 1000))
	}
	reads := func(limit int) uint64 {
		before := l.Stats().Reads
		w, err := l.Read(1, []Range{{1, 1000}}, limit)
		if err != nil || len(w.Messages) == 0 {
			t.Fatal(len(w.Messages), err)
		}
		return l.Stats().Reads - before
	}
	if n := reads(45_000); n != 1 {
		t.Errorf("%d reads for neighbours", n)
	}
	if n := reads(1 << 20); n != 4 {
		t.Errorf("%d reads for four groups with 50 KB between them", n)
	}
}

func TestScanStopsWhenTold(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	defer l.end()
	l.confirmed(l.send(1, 100, 10))
	l.Settle(1, []Range{{3, 3}})
	l.applied()
	var seen []uint64
	err := l.Scan(1, []Range{{2, 4}, {90, 95}}, func(i Info) bool {
		seen = append(seen, i.Seq)
		return i.Seq < 91
	})
	if err != nil || len(seen) != 4 || seen[1] != 4 || seen[3] != 91 {
		t.Fatalf("scanned %v, %v", seen, err)
	}
	if err := l.Scan(7, []Range{{1, 9}}, func(Info) bool { t.Error("a queue that is not there"); return true }); err != nil {
		t.Fatal(err)
	}
	if err := l.Scan(1, nil, func(Info) bool { t.Error("no range"); return true }); err != nil {
		t.Fatal(err)
	}
}
