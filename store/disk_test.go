package store_test

import (
	"bytes"
	"context"
	"fmt"
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
	b := []byte(fmt.Sprintf("message %d ", seq))
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
