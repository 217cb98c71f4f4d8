package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"leveret/store"
)

func spilled(first, last uint64, size int) (list []store.Message) {
	for seq := first; seq <= last; seq++ {
		list = append(list, store.Message{Seq: seq, Body: body(seq, size), Tag: uint32(seq % 2)})
	}
	return list
}

func spillFiles(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "log", "*.spill"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// allocated is the space on disk that the files take.
func allocated(t *testing.T, dir string) (n int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "log", "*.spill"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var st syscall.Stat_t
		if err := syscall.Stat(name, &st); err == nil { // else it went meanwhile
			n += st.Blocks * 512
		}
	}
	return n
}

// soon waits for something that the store's goroutines do within a second or two.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Six megabytes in files of one: what is full gets its index at its end, and is read back from there.
func TestSpillOverSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	for first := uint64(1); first <= 6000; first += 500 {
		if err := s.Spill(1, spilled(first, first+499, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Stats().SpillSegments; n < 6 || n != spillFiles(t, dir) {
		t.Fatalf("%d spill files in use, %d there", n, spillFiles(t, dir))
	}
	if b := s.Stats().IndexBytes; b > 10_000 {
		t.Errorf("%d bytes of index in memory", b)
	}
	wantQueue(t, s, 1, 1000, store.Range{First: 1, Last: 6000})

	s.Discard(1, []store.Range{{First: 1, Last: 3000}, {First: 3002, Last: 4000}})
	wantQueue(t, s, 1, 1000, store.Range{First: 3001, Last: 3001}, store.Range{First: 4001, Last: 6000})
	soon(t, "the files of what was discarded go", func() bool { return spillFiles(t, dir) <= 4 })
	soon(t, "the one that stays takes little space", func() bool {
		return allocated(t, dir) < int64(spillFiles(t, dir))<<20-800_000
	})
	wantQueue(t, s, 1, 1000, store.Range{First: 3001, Last: 3001}, store.Range{First: 4001, Last: 6000})
	s.DropQueue(1)
	soon(t, "all full files go", func() bool { return spillFiles(t, dir) <= 1 })
	wantQueue(t, s, 1, 1000)
}

// A queue's spilled and logged messages are read as one, in order; each is settled by its own call.
func TestSpilledAndLoggedMessagesInterleave(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	for seq := uint64(1); seq <= 40; seq += 2 {
		publish(t, s, 1, seq, body(seq, 200))
	}
	for seq := uint64(2); seq <= 40; seq += 2 {
		if err := s.Spill(1, spilled(seq, seq, 200)); err != nil {
			t.Fatal(err)
		}
	}
	wantQueue(t, s, 1, 200, store.Range{First: 1, Last: 40})
	w, err := s.Read(1, []store.Range{{First: 4, Last: 7}, {First: 30, Last: 31}}, 1<<20)
	if err != nil || len(w.Messages) != 6 || !w.Messages[0].Transient || w.Messages[1].Transient || w.Next != 32 {
		t.Fatalf("window %+v, %v", w, err)
	}
	all := []store.Range{{First: 1, Last: 40}}
	s.Discard(1, all)
	if got := readAll(t, s, 1); len(got) != 20 || got[0].Seq != 1 {
		t.Fatalf("%d messages after discarding", len(got))
	}
}

func TestRestartDropsWhatWasSpilled(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	publish(t, s, 1, 1, body(1, 10))
	if err := s.Spill(1, spilled(2, 5, 10)); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	leftover := filepath.Join(dir, "log", "00000000000000ff.spill")
	if err := os.WriteFile(leftover, []byte("of a killed broker"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	wantQueue(t, s, 1, 10, store.Range{First: 1, Last: 1})
	if n := spillFiles(t, dir); n != 0 {
		t.Fatalf("%d spill files", n)
	}
}

func TestDefinitions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	var changes []store.Change
	for i := range 2500 { // more than Load takes at a time
		key := strings.Repeat("k", i%3+1) + string(rune('a'+i%26)) + time.Duration(i).String()
		changes = append(changes, store.Change{Bucket: "queues", Key: key, Value: []byte(key)})
	}
	if err := s.Commit(changes...); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(store.Change{Bucket: "queues", Key: changes[0].Key}, store.Change{Bucket: "empty", Key: "x", Value: []byte{}}); err != nil {
		t.Fatal(err)
	}
	id := s.NextQueueID()
	if err := s.Commit(store.Change{Bucket: "q", Key: "id", Value: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	shut(t, s)

	s = open(t, dir, nil)
	last, found := "", 0
	err := s.Load("queues", func(key string, value []byte) error {
		if key <= last || key != string(value) {
			t.Errorf("key %q with %q after %q", key, value, last)
		}
		last = key
		found++
		return nil
	})
	if err != nil || found != 2499 {
		t.Fatalf("%d definitions, %v", found, err)
	}
	if err := s.Load("empty", func(_ string, v []byte) error { found += len(v) + 1; return nil }); err != nil || found != 2500 {
		t.Fatalf("the empty value: %d, %v", found, err)
	}
	stop := errors.New("enough")
	if err := s.Load("queues", func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Load went on after an error: %v", err)
	}
	if err := s.Load("never", func(string, []byte) error { return stop }); err != nil {
		t.Errorf("a bucket that is not there: %v", err)
	}
	if again := s.NextQueueID(); again <= id {
		t.Errorf("queue id %d was given again", again)
	}
}

// Of changes that share a transaction, one that can't be made fails alone.
func TestBadChangeFailsAlone(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	errs := make(chan error, 20)
	for i := range 20 {
		go func() {
			key := ""
			if i != 7 {
				key = string(rune('a' + i))
			}
			errs <- s.Commit(store.Change{Bucket: "b", Key: key, Value: []byte{1}})
		}()
	}
	failed := 0
	for range 20 {
		if <-errs != nil {
			failed++
		}
	}
	keys := 0
	if err := s.Load("b", func(string, []byte) error { keys++; return nil }); err != nil || failed != 1 || keys != 19 {
		t.Fatalf("%d failed, %d keys, %v", failed, keys, err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	publish(t, s, 1, 1, body(1, 10))
	shut(t, s)
	if err := s.Commit(store.Change{Bucket: "b", Key: "k", Value: []byte{1}}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Commit: %v", err)
	}
	if _, err := s.Read(1, []store.Range{{First: 1, Last: 1}}, 1); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Read: %v", err)
	}
	var b store.Batch
	b.Publish([]byte("late"), 0)
	b.To(1)
	if lsn := s.Append(&b, nil); s.Durable() >= lsn {
		t.Error("a closed store confirms")
	}
	s.Settle(1, []store.Range{{First: 1, Last: 1}})
}
