package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/store"
)

// open opens a store and closes it at the end of the test; the folder must check then.
func open(t *testing.T, dir string, change func(*store.Options)) *store.Disk {
	t.Helper()
	o := store.DefaultOptions()
	o.SegmentSize, o.MinFree = 1<<20, 0
	if change != nil {
		change(&o)
	}
	s, err := store.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

func shut(t *testing.T, s store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// publish appends bodies to a queue, numbered from first on, and waits until they are durable.
func publish(t *testing.T, s store.Store, queue, first uint64, bodies ...[]byte) {
	t.Helper()
	var b store.Batch
	for _, body := range bodies {
		b.Publish(body, 0)
		b.To(queue)
	}
	await(t, s, s.Append(&b, func() {
		for i := range b.Pairs() {
			b.Pairs()[i].Seq = first + uint64(i)
		}
	}))
}

func await(t testing.TB, s store.Store, lsn store.LSN) {
	t.Helper()
	moved := make(chan struct{}, 1)
	s.OnDurable(func() {
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	for s.Durable() < lsn {
		select {
		case <-moved:
		case <-s.Failed():
			t.Fatal(s.Err())
		case <-time.After(20 * time.Second):
			t.Fatal("not durable")
		}
	}
}

// body is a message that tells its place.
func body(seq uint64, size int) []byte {
	b := fmt.Appendf(nil, "message %d ", seq)
	return append(b, bytes.Repeat([]byte{byte(seq)}, max(0, size-len(b)))...)
}

func bodies(first, last uint64, size int) (list [][]byte) {
	for seq := first; seq <= last; seq++ {
		list = append(list, body(seq, size))
	}
	return list
}

// all reads a queue to its end and compares with the sequences expected.
func wantQueue(t *testing.T, s store.Store, queue uint64, size int, want ...store.Range) {
	t.Helper()
	got := readAll(t, s, queue)
	i := 0
	for _, r := range want {
		for seq := r.First; seq <= r.Last; seq++ {
			if i == len(got) || got[i].Seq != seq {
				t.Fatalf("queue %d: %d messages, the one at %d is not %d", queue, len(got), i, seq)
			}
			if !bytes.Equal(got[i].Body, body(seq, size)) {
				t.Fatalf("queue %d: message %d has the body %.40q", queue, seq, got[i].Body)
			}
			i++
		}
	}
	if i != len(got) {
		t.Fatalf("queue %d: %d messages, want %d", queue, len(got), i)
	}
}

func readAll(t *testing.T, s store.Store, queue uint64) (messages []store.Message) {
	t.Helper()
	ranges := []store.Range{{First: 1, Last: 1 << 40}}
	for {
		w, err := s.Read(queue, ranges, 64<<10)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Lost) > 0 {
			t.Fatalf("queue %d lost %v", queue, w.Lost)
		}
		messages = append(messages, w.Messages...)
		if w.Next > 1<<40 {
			return messages
		}
		ranges[0].First = w.Next
	}
}

func TestDiskKeepsMessagesOverARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	publish(t, s, 1, 1, bodies(1, 5000, 500)...)
	publish(t, s, 2, 1, bodies(1, 3, 300_000)...)
	wantQueue(t, s, 1, 500, store.Range{First: 1, Last: 5000})
	s.Settle(1, []store.Range{{First: 1, Last: 1000}, {First: 2000, Last: 2000}})
	shut(t, s)

	s = open(t, dir, nil)
	if r := s.Report(); !r.Clean || r.Replayed != 0 || len(r.Damage) > 0 || r.Messages != 4002 {
		t.Fatalf("report %+v", r)
	}
	wantQueue(t, s, 1, 500, store.Range{First: 1001, Last: 1999}, store.Range{First: 2001, Last: 5000})
	wantQueue(t, s, 2, 300_000, store.Range{First: 1, Last: 3})
	var queues []store.QueueState
	s.Queues(func(q store.QueueState) { queues = append(queues, q) })
	if len(queues) != 2 || queues[0].Next != 5001 || queues[0].Messages != 3999 || queues[0].Bytes != 3999*500 || queues[0].Delivered != 0 {
		t.Fatalf("queues %+v", queues)
	}
}

var _ store.Store = (*store.Disk)(nil)

func TestOptionsAreChecked(t *testing.T) {
	if _, err := store.Open(t.TempDir(), store.Options{}); err == nil {
		t.Error("opened with segments of no size")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(file, store.DefaultOptions()); err == nil {
		t.Error("opened a file for a folder")
	}
}

// The size of segments, and the threshold, may change from one start to the next.
func TestOptionsMayChange(t *testing.T) {
	dir := t.TempDir()
	last := uint64(0)
	for i, size := range []int64{1 << 20, 64 << 10, 4 << 20, 256 << 10} {
		s := open(t, dir, func(o *store.Options) {
			o.SegmentSize, o.RelocateThreshold = size, float64(i)/3
		})
		wantQueue(t, s, 1, 700, upTo(last)...)
		publish(t, s, 1, last+1, bodies(last+1, last+1000, 700)...)
		last += 1000
		wantQueue(t, s, 1, 700, upTo(last)...)
		shut(t, s)
	}
	var out strings.Builder
	if err := store.Check(dir, &out); err != nil || out.String() != "4000 messages of 1 queues read\n" {
		t.Errorf("check: %v, %s", err, &out)
	}
}

func upTo(last uint64) []store.Range {
	if last == 0 {
		return nil
	}
	return []store.Range{{First: 1, Last: last}}
}

// Recovery hands each queue what it needs to go on: after an unclean stop, all that may have been delivered.
func TestRecoveredQueues(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir, store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, 5, 1, bodies(1, 10, 100)...)
	publish(t, s, 5, 20, bodies(20, 24, 100)...) // transient ones took the numbers between
	publish(t, s, 6, 1, body(1, 0))
	s.Settle(5, []store.Range{{First: 4, Last: 6}, {First: 21, Last: 30}})
	publish(t, s, 7, 1, body(1, 50))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Close(ctx); err == nil {
		t.Error("a stop without a checkpoint passes for a clean one")
	}
	s = open(t, dir, nil)
	var got []string
	s.Queues(func(q store.QueueState) { got = append(got, fmt.Sprint(q)) })
	want := []string{
		"{5 31 31 [{1 3} {7 10} {20 20}] 8 800 []}",
		"{6 2 2 [{1 1}] 1 10 []}",
		"{7 2 2 [{1 1}] 1 50 []}",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("recovered\n%v, want\n%v", got, want)
	}
	if r := s.Report(); r.Clean || r.Replayed == 0 || r.Records == 0 || r.Messages != 10 {
		t.Errorf("report %+v", r)
	}
	if id := s.NextQueueID(); id != 8 {
		t.Errorf("the next queue id is %d", id)
	}
}
