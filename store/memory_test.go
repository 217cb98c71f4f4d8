package store_test

import (
	"bytes"
	"context"
	"testing"

	"leveret/store"
)

func TestMemoryKeepsWhatIsAppendedAndNotSettled(t *testing.T) {
	s := store.NewMemory()
	defer s.Close(context.Background())
	kicks := 0
	s.OnDurable(func() { kicks++ })
	large := bytes.Repeat([]byte{7}, 100_000)

	var b store.Batch
	b.Publish([]byte("one"), 5)
	b.To(1)
	b.To(2)
	b.Publish(large, 0)
	b.To(1)
	lsn := s.Append(&b, func() {
		p := b.Pairs()
		p[0].Seq, p[1].Seq, p[2].Seq = 1, 0, 2 // queue 2 is closing
	})
	if s.Durable() < lsn || kicks != 1 {
		t.Fatalf("durable %d, kicks %d after batch %d", s.Durable(), kicks, lsn)
	}
	if b.Len() != 0 || len(b.Pairs()) != 0 {
		t.Fatal("Append left something in the batch")
	}

	w, err := s.Read(1, []store.Range{{First: 1, Last: 9}}, 1)
	if err != nil || len(w.Messages) != 1 || string(w.Messages[0].Body) != "one" || w.Messages[0].Tag != 5 || w.Next != 2 {
		t.Fatalf("first window %+v, %v", w, err)
	}
	w, _ = s.Read(1, []store.Range{{First: 2, Last: 9}}, 1)
	if len(w.Messages) != 1 || !bytes.Equal(w.Messages[0].Body, large) || w.Next != 10 {
		t.Fatalf("second window: %d messages, next %d", len(w.Messages), w.Next)
	}
	if w, _ = s.Read(2, []store.Range{{First: 1, Last: 9}}, 1); len(w.Messages) != 0 {
		t.Fatal("a queue that gave no number holds a message")
	}
	s.Settle(1, []store.Range{{First: 1, Last: 1}})
	if w, _ = s.Read(1, []store.Range{{First: 1, Last: 9}}, 1<<20); len(w.Messages) != 1 || w.Messages[0].Seq != 2 {
		t.Fatalf("after settling: %+v", w)
	}
}

func TestMemoryDefinitions(t *testing.T) {
	s := store.NewMemory()
	if err := s.Commit(store.Change{Bucket: "queues", Key: "b", Value: []byte{2}}, store.Change{Bucket: "queues", Key: "a", Value: []byte{}}); err != nil {
		t.Fatal(err)
	}
	got := ""
	load := func() {
		got = ""
		if err := s.Load("queues", func(key string, _ []byte) error { got += key; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if load(); got != "ab" {
		t.Fatalf("keys %q", got)
	}
	if err := s.Commit(store.Change{Bucket: "queues", Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if load(); got != "b" {
		t.Fatalf("keys after a deletion %q", got)
	}
}

var _ store.Store = (*store.Memory)(nil)
