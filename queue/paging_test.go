package queue_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// paged is what the model knows of a message.
type paged struct {
	seq       uint64
	body      []byte
	kept      bool
	unacked   bool
	redeliver bool
}

// pager drives a durable queue with tiny windows on a store in memory, and a plain list beside it.
type pager struct {
	t        *rapid.T
	q        *queue.Queue
	disk     *store.Memory
	budget   *queue.Budget
	messages []*paged // ready or unacked, by number
	next     uint64
	out      outbox
}

const pagerID = 7

func newPager(t *rapid.T) *pager {
	p := &pager{t: t, disk: store.NewMemory(), budget: queue.NewBudget(0), next: 1}
	p.q = queue.New(p.options())
	return p
}

func (p *pager) options() queue.Options {
	return queue.Options{Name: "q", ID: pagerID, Durable: true, Log: p.disk, Budget: p.budget}
}

// publish hands a batch to the log and to the queue, as the server does.
func (p *pager) publish(t *rapid.T) {
	var logged store.Batch
	batch := queue.NewBatch()
	chunk := queue.NewChunk()
	var at []int
	var fresh []*paged
	for i := range rapid.IntRange(1, 40).Draw(t, "messages") {
		m := &paged{seq: p.next + uint64(i), kept: rapid.IntRange(0, 3).Draw(t, "kept") > 0}
		mode := uint8(1)
		if m.kept {
			mode = amqp.Persistent
		}
		start := len(chunk.Bytes)
		b := append(amqp.AppendMessageAddress(chunk.Bytes, nil, []byte("q")), 0, 0)
		amqp.Message(b[start:]).SetProperties(2, &amqp.PropertyIndex{DeliveryMode: mode}, 0)
		b = fmt.Appendf(b, "%d %s", m.seq, bytes.Repeat([]byte{'x'}, rapid.IntRange(0, 300).Draw(t, "size")))
		chunk.Bytes = b
		text := amqp.Message(b[start:len(b):len(b)])
		m.body = bytes.Clone(text)
		chunk.Hold(1)
		if m.kept {
			logged.Publish(text, 0)
			logged.To(pagerID)
			at = append(at, batch.Len())
		}
		batch.Add(text, chunk)
		fresh = append(fresh, m)
	}
	chunk.Retire()
	n, run := len(fresh), false
	push := func() {
		var first uint64
		r := p.q.Push(batch)
		if first, run = r.First, r.Run; first != p.next {
			t.Fatalf("the batch got number %d, want %d", first, p.next)
		}
		for i, position := range at {
			logged.Pairs()[i].Seq = first + uint64(position)
		}
	}
	if logged.Len() > 0 {
		p.disk.Append(&logged, push)
	} else {
		push()
	}
	if run {
		p.q.RunHere()
	}
	p.next += uint64(n)
	p.messages = append(p.messages, fresh...)
}

func (p *pager) ready() []*paged {
	return slices.DeleteFunc(slices.Clone(p.messages), func(m *paged) bool { return m.unacked })
}

func (p *pager) remove(gone func(m *paged) bool) { p.messages = slices.DeleteFunc(p.messages, gone) }

// DeliverGot checks a message that was got against the model's first.
func (p *pager) DeliverGot(seq uint64, m amqp.Message, redelivered bool, remaining int) {
	p.check(seq, m, redelivered, p.ready()[0], remaining, len(p.ready())-1)
}

func (p *pager) check(seq uint64, m amqp.Message, redelivered bool, want *paged, remaining, left int) {
	if seq != want.seq || !bytes.Equal(m, want.body) || redelivered != want.redeliver || remaining != left {
		p.t.Fatalf("got message %d (redelivered %t, %d left): %.50q; want %d (%t, %d): %.50q",
			seq, redelivered, remaining, m, want.seq, want.redeliver, left, want.body)
	}
}

func (p *pager) get(t *rapid.T) {
	ready := p.ready()
	noAck := rapid.Bool().Draw(t, "no ack")
	found, err := p.q.Get(&p.out, p, noAck)
	if err != nil || found != (len(ready) > 0) {
		t.Fatalf("found %t, %v; %d are ready", found, err, len(ready))
	}
	if !found {
		return
	}
	ready[0].unacked = true
	if noAck {
		p.remove(func(m *paged) bool { return m == ready[0] })
	}
}

// taker is a consumer that takes some messages and then no more.
type pagedTaker struct {
	p    *pager
	room int
	took []*paged
}

func (r *pagedTaker) Cancelled() {}

func (r *pagedTaker) Deliver(seq uint64, m amqp.Message, redelivered bool) bool {
	if len(r.took) == r.room {
		return false
	}
	want := r.p.ready()[0]
	r.p.check(seq, m, redelivered, want, 0, 0)
	want.unacked = true
	r.took = append(r.took, want)
	return true
}

// consume lets a consumer take messages, perhaps settles some of them, and ends it; what it still holds then comes back.
func (p *pager) consume(t *rapid.T) {
	r := &pagedTaker{p: p, room: rapid.IntRange(1, 100).Draw(t, "room")}
	c := &queue.Consumer{Tag: "c", Receiver: r, Outbox: &p.out, NoAck: rapid.IntRange(0, 2).Draw(t, "no ack") == 0}
	want := min(r.room, len(p.ready()))
	if err := p.q.Consume(c, func() {}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if len(r.took) != want {
		t.Fatalf("the consumer took %d messages, want %d", len(r.took), want)
	}
	d := &queue.Detachment{Queue: p.q, Consumers: []*queue.Consumer{c}}
	if c.NoAck {
		p.remove(func(m *paged) bool { return slices.Contains(r.took, m) })
		r.took = nil
	}
	if len(r.took) > 0 {
		n := rapid.IntRange(0, len(r.took)).Draw(t, "settled")
		p.settle(c, rapid.SampledFrom([]queue.Outcome{queue.Ack, queue.Reject}).Draw(t, "outcome"), r.took[:n])
		back := queue.NewSettlement(c, queue.Requeue)
		for _, m := range r.took[n:] {
			back.Add(m.seq)
			m.unacked, m.redeliver = false, true
		}
		d.Held = append(d.Held, back)
	}
	queue.Detach([]*queue.Detachment{d})
}

func (p *pager) settle(c *queue.Consumer, o queue.Outcome, messages []*paged) {
	s := queue.NewSettlement(c, o)
	for _, m := range messages {
		s.Add(m.seq)
		m.unacked, m.redeliver = false, true
	}
	if p.q.Settle(s) {
		p.q.RunHere()
	}
	if o != queue.Requeue {
		p.remove(func(m *paged) bool { return slices.Contains(messages, m) })
	}
}

// settleSome settles some of what was got.
func (p *pager) settleSome(t *rapid.T) {
	var some []*paged
	for _, m := range p.messages {
		if m.unacked && rapid.Bool().Draw(t, "settled") {
			some = append(some, m)
		}
	}
	p.settle(nil, rapid.SampledFrom([]queue.Outcome{queue.Ack, queue.Requeue, queue.Reject}).Draw(t, "outcome"), some)
}

func (p *pager) purge(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "purge") > 0 {
		return
	}
	want := len(p.ready())
	if n, err := p.q.Purge(); err != nil || n != want {
		t.Fatalf("purged %d, %v; want %d", n, err, want)
	}
	p.remove(func(m *paged) bool { return !m.unacked })
}

// restart makes the queue anew, after a clean stop or a crash.
func (p *pager) restart(t *rapid.T) {
	clean := rapid.Bool().Draw(t, "clean")
	var held []*paged
	for _, m := range p.messages {
		if m.unacked {
			held = append(held, m)
		}
	}
	p.settle(nil, queue.Requeue, held)
	returned := p.q.Returned()
	p.remove(func(m *paged) bool { return !m.kept })
	state := store.QueueState{ID: pagerID, Next: p.next}
	if !clean {
		state.Delivered, returned = p.next, nil
	}
	for _, seq := range p.stored(t) {
		state.Live = append(state.Live, store.Range{First: seq, Last: seq})
	}
	for _, m := range p.messages {
		m.redeliver = m.redeliver || !clean
	}
	if id := p.q.Options().ID; id == pagerID { // spilled messages end with the process
		p.disk.Discard(pagerID, []store.Range{{First: 1, Last: p.next}})
	}
	p.q = recoverQueue(p.options(), state, returned)
}

// stored are the logged messages of the queue that the store has.
func (p *pager) stored(t *rapid.T) (seqs []uint64) {
	err := p.disk.Scan(pagerID, []store.Range{{First: 1, Last: p.next}}, func(i store.Info) bool {
		if !i.Transient {
			seqs = append(seqs, i.Seq)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return seqs
}

// invariant compares counts, and what the store has, with the model.
func (p *pager) invariant(t *rapid.T) {
	synctest.Wait()
	ready := len(p.ready())
	if c, err := p.q.Counts(); err != nil || c != (queue.Counts{Ready: ready, Unacked: len(p.messages) - ready}) {
		t.Fatalf("the queue has %+v, %v; the model %d ready of %d", c, err, ready, len(p.messages))
	}
	var want []uint64
	for _, m := range p.messages {
		if m.kept {
			want = append(want, m.seq)
		}
	}
	if got := p.stored(t); !slices.Equal(got, want) {
		t.Fatalf("the store has %v, want %v", got, want)
	}
	if ready == 0 && p.q.Stats().ReadyBytes != 0 {
		t.Fatalf("an empty queue has %d bytes", p.q.Stats().ReadyBytes)
	}
}

// Whatever is done to a queue that keeps hardly anything in memory, it is a queue: messages come in their order, as they were, and the store
// has those that it should have and no other.
func TestPagingModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbled{t}, func(t *rapid.T) {
			p := newPager(t)
			p.out = outbox{t: t, locks: new(atomic.Int32)}
			p.t = t
			t.Repeat(map[string]func(*rapid.T){
				"publish": p.publish,
				"get":     p.get,
				"consume": p.consume,
				"settle":  p.settleSome,
				"purge":   p.purge,
				"restart": p.restart,
				"squeeze": func(t *rapid.T) {
					p.budget.Squeeze(int32(rapid.SampledFrom([]int{10, 10, 12, 14, 16}).Draw(t, "times")))
					p.q.Tend()
				},
				"tend": func(*rapid.T) { p.q.Tend() },
				"":     p.invariant,
			})
			p.q.Returned() // ends its reads
		})
	})
}
