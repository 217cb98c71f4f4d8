package queue

import (
	"testing"

	"leveret/amqp"
)

// takeover is a consumer's receiver and outbox. It does what another publisher would that finds the first chunk free.
type takeover struct {
	first *Chunk
	takes int // times that it did
}

func (*takeover) Lock()       {}
func (*takeover) Touch() bool { return false }
func (*takeover) Flush(bool)  {}
func (*takeover) Cancelled()  {}

func (r *takeover) Unlock() { r.take() }

func (r *takeover) Deliver(uint64, amqp.Message, bool) bool {
	r.take()
	return true
}

func (r *takeover) take() {
	if r.first.refs.Load() != 0 {
		return
	}
	r.takes++
	all := r.first.Bytes[:cap(r.first.Bytes)]
	for i := range all {
		all[i] = 1
	}
}

// published is when the messages of inChunk were.
const published = 123_456

// inChunk is a message in a chunk of its own.
func inChunk() (amqp.Message, *Chunk) {
	k := &Chunk{Bytes: make([]byte, 0, ChunkSize)}
	k.refs.Store(bias)
	m := amqp.Message(append(amqp.AppendMessageAddress(k.Bytes, nil, nil), 0, 0))
	m.SetProperties(2, &amqp.PropertyIndex{}, published)
	k.Bytes = m
	k.Hold(1)
	k.Retire()
	return m, k
}

// A batch stands in many chunks, and each is somebody else's as soon as its messages have gone: nothing looks at them after that.
func TestMessagesThatWentAreNotLookedAt(t *testing.T) {
	q, b, r := New(Options{}), NewBatch(), &takeover{}
	for range 3 {
		m, k := inChunk()
		if b.Add(m, k); r.first == nil {
			r.first = k
		}
	}
	q.consumers.add(&Consumer{queue: q, NoAck: true, Receiver: r, Outbox: r})
	q.Push(b)
	q.Run()
	if r.takes == 0 || q.counted.DeliveredAuto != 3 {
		t.Fatalf("the first chunk was free %d times in %d deliveries", r.takes, q.counted.DeliveredAuto)
	}
	if got := q.service.meter.first; got != published {
		t.Errorf("the first message was published at %d, it says, want %d", got, published)
	}
}

// The same holds when the message behind the last one that went is dropped, as its time is up.
func TestLastMessageIsNotLookedAtBehindADeadOne(t *testing.T) {
	q, b, r := New(Options{}), NewBatch(), &takeover{}
	m, k := inChunk()
	b.Add(m, k)
	r.first = k
	m, k = inChunk()
	m.SetExpiration(1)
	b.Add(m, k)
	q.Push(b)
	q.Run()
	q.consumers.add(&Consumer{queue: q, NoAck: true, Receiver: r, Outbox: r})
	q.budget = turnMessages
	q.deliver()
	if r.takes == 0 || q.counted.DeliveredAuto != 1 || q.counted.Dropped[Expired] != 1 {
		t.Fatalf("the first chunk was free %d times, %d went, %d died", r.takes, q.counted.DeliveredAuto, q.counted.Dropped[Expired])
	}
	if got := q.service.meter.last; got != published {
		t.Errorf("the last message was published at %d, it says, want %d", got, published)
	}
}

// promise is a consumer's outbox that counts how often it is asked whether somebody flushes it.
type promise struct {
	takeover
	others  bool // somebody else does, or did until now
	touches int
	flushes int
}

func (p *promise) Unlock()    {}
func (p *promise) Flush(bool) { p.flushes++ }
func (p *promise) Touch() bool {
	p.touches++
	return !p.others
}

func (p *promise) Deliver(uint64, amqp.Message, bool) bool { return true }

// A queue that flushes an outbox at the end of its turn asks no more. If somebody else does it asks before each delivery: that one may do it at any time, and
// what is delivered after would stay where it is.
func TestOutboxIsAskedUntilTheQueueFlushesIt(t *testing.T) {
	q, own, others := New(Options{}), new(promise), &promise{others: true}
	for _, p := range []*promise{own, others} {
		if err := q.Consume(&Consumer{NoAck: true, Outbox: p, Receiver: p}, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	for turn := 1; turn <= 2; turn++ {
		b := NewBatch()
		for range 10 {
			b.Add(small(), nil)
		}
		if q.Push(b).Run {
			q.Run()
		}
		if own.touches != turn || own.flushes != turn || others.touches != 5*turn || others.flushes != 0 {
			t.Errorf("turn %d: asked %d and %d times, flushed %d and %d times", turn, own.touches, others.touches, own.flushes, others.flushes)
		}
	}
}

func small() amqp.Message {
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, nil), 0, 0))
	m.SetProperties(2, &amqp.PropertyIndex{}, published)
	return m
}
