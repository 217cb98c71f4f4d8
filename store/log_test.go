package store

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func payloadOf(size int) *payload {
	var b Batch
	b.Publish(make([]byte, size), 0)
	b.To(1)
	return b.take()
}

func newLog() *log { return &log{wake: make(chan struct{}, 1)} }

// taken describes what the committer gets.
func taken(l *log, limit, room int) string {
	group, need := l.take(nil, limit, room)
	if len(group) == 0 {
		return fmt.Sprintf("nothing, the first needs %d", need)
	}
	var words []string
	for _, p := range group {
		kind := "batch"
		if p.lazy {
			kind = "lazy"
		}
		words = append(words, fmt.Sprintf("%s%d", kind, p.lsn))
	}
	return strings.Join(words, " ")
}

// Settlements that follow each other share a payload; one that follows a batch is behind it.
func TestLogKeepsTheOrderOfCalls(t *testing.T) {
	l := newLog()
	settle := func() {
		l.lazily(recordSettle, func(p *payload) { p.appendSettle(1, []Range{{1, 1}}) })
	}
	settle()
	settle()
	if d := l.demand(); d.urgent || !d.pending || d.lazySince.IsZero() {
		t.Fatalf("demand of settlements alone: %+v", d)
	}
	if lsn := l.append(payloadOf(10), nil); lsn != 2 {
		t.Fatalf("the first batch has number %d", lsn)
	}
	settle()
	l.append(payloadOf(10), nil)
	if d := l.demand(); !d.urgent {
		t.Fatalf("demand: %+v", d)
	}
	if got := taken(l, 1<<20, 1<<20); got != "lazy1 batch2 lazy3 batch4" {
		t.Fatalf("took %s", got)
	}
	if d := l.demand(); d.urgent || d.pending || !d.lazySince.IsZero() {
		t.Fatalf("demand of an empty log: %+v", d)
	}
}

func TestLogGivesWhatFits(t *testing.T) {
	l := newLog()
	for _, size := range []int{1000, 1000, 5000, 10} {
		l.append(payloadOf(size), nil)
	}
	for _, step := range []struct {
		limit, room int
		want        string
	}{
		{1 << 20, 500, fmt.Sprintf("nothing, the first needs %d", payloadOf(1000).length())},
		{1 << 20, 2000, "batch1"},
		{500, 1 << 20, "batch2"}, // over the limit alone
		{500, 4000, fmt.Sprintf("nothing, the first needs %d", payloadOf(5000).length())},
		{1 << 20, 1 << 20, "batch3 batch4"},
	} {
		if got := taken(l, step.limit, step.room); got != step.want {
			t.Fatalf("limit %d, room %d: %s, want %s", step.limit, step.room, got, step.want)
		}
	}
}

// An empty batch is a barrier: its number is that of the last batch that somebody waits for.
func TestEmptyBatchYieldsTheEnd(t *testing.T) {
	l := newLog()
	calls := 0
	if lsn := l.append(nil, func() { calls++ }); lsn != 0 || calls != 1 {
		t.Fatalf("%d after %d calls", lsn, calls)
	}
	last := l.append(payloadOf(1), nil)
	l.lazily(recordDrop, func(p *payload) { p.appendQueue(1) })
	if lsn := l.append(nil, nil); lsn != last {
		t.Fatalf("%d, want %d", lsn, last)
	}
}

func TestBatchIsReused(t *testing.T) {
	var b Batch
	if b.Len() != 0 || b.Size() != 0 || b.Pairs() != nil || b.take() != nil {
		t.Fatal("an empty batch holds something")
	}
	b.Atomic = true
	b.Publish(make([]byte, MostCopied+1), 0)
	b.To(1)
	b.Settle(1, []Range{{1, 2}})
	if b.Len() != 2 || b.Size() < MostCopied {
		t.Fatalf("%d records of %d bytes", b.Len(), b.Size())
	}
	b.Reset()
	if b.Atomic || b.Len() != 0 {
		t.Fatal("Reset left something")
	}
	b.Publish([]byte("x"), 0)
	if p := b.take(); len(p.recs) != 1 || len(p.cuts) != 0 || len(p.pairs) != 0 || p.size != 0 {
		t.Fatalf("a used payload is not clean: %+v", p)
	}
}

// One message moved from a queue to another is three small records: a dead letter costs hardly more than a message.
func TestAtomicBatchOfOneIsSmall(t *testing.T) {
	const body = 100
	plain := payloadOf(body).length()
	b := Batch{Atomic: true}
	b.Publish(make([]byte, body), 0)
	b.To(2)
	b.Settle(1, []Range{{1 << 20, 1 << 20}})
	if over := b.take().length() - plain; over > 2*recordHead+16 {
		t.Errorf("%d bytes beside the message", over)
	}
}

// A body up to MostCopied may change once it is published, as its memory is used again.
func TestPublishedBodiesMayChange(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) { o.SegmentSize, o.BatchSize = 1<<20, 1<<20 })
	defer l.end()
	sizes := []int{1, 64<<10 + 1, MostCopied}
	var b Batch
	for i, size := range sizes {
		body := bytes.Repeat([]byte{byte(i)}, size)
		b.Publish(body, 0)
		clear(body)
		body[0] = 99
		b.To(1)
	}
	l.confirmed(l.Append(&b, func() {
		for i := range b.Pairs() {
			b.Pairs()[i].Seq = uint64(i + 1)
		}
	}))
	for i, size := range sizes {
		w, err := l.Read(1, []Range{{uint64(i + 1), uint64(i + 1)}}, 1)
		if err != nil || len(w.Messages) != 1 || !bytes.Equal(w.Messages[0].Body, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Errorf("%d bytes: %d messages, %v", size, len(w.Messages), err)
		}
	}
}
