package queue_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"leveret/amqp"
	"leveret/queue"
)

// machine drives a queue and its model side by side.
type machine struct {
	*rig
	model    model
	ledger   queue.Ledger
	outboxes []*outbox
	all      []*member // whoever was registered, ever
	got      *member   // holds what was got
	overhead int       // what a message counts beyond its own bytes
	chunk    *queue.Chunk
	retired  map[*queue.Chunk]uint64 // not released yet, with the number of their last message
}

func newMachine(t *rapid.T) *machine {
	m := &machine{retired: map[*queue.Chunk]uint64{}, chunk: queue.NewChunk(), got: &member{receiver: &receiver{consumer: new(queue.Consumer)}}}
	m.model = model{next: 1, opts: queue.Options{
		Name: "q", VHost: "/", Ledger: &m.ledger,
		AutoDelete:           rapid.IntRange(0, 3).Draw(t, "auto-delete") == 0,
		SingleActiveConsumer: rapid.IntRange(0, 3).Draw(t, "single") == 0,
	}}
	m.rig = newRig(t, m.model.opts)
	m.outboxes = []*outbox{m.outbox, m.newOutbox()}
	other := newRig(t, queue.Options{})
	other.publish("m")
	m.overhead = other.Stats().ReadyBytes - 1
	return m
}

// bubbled hides the test's deadline from rapid, which may not be asked for in a bubble.
type bubbled struct{ testing.TB }

// Whatever publishers, consumers and their channels do, in any order: the queue does what the model does. Each message is ready, unacked
// or gone; nobody holds more than its prefetch; what comes back stands where it stood; a closed queue answers that it is.
func TestQueueModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbled{t}, func(t *rapid.T) {
			m := newMachine(t)
			actions := map[string]func(*rapid.T){
				"publish": m.doPublish,
				"consume": m.doConsume,
				"cancel":  m.doCancel,
				"get":     m.doGet,
				"ack":     func(t *rapid.T) { m.doSettle(t, queue.Ack) },
				"requeue": func(t *rapid.T) { m.doSettle(t, queue.Requeue) },
				"reject":  func(t *rapid.T) { m.doSettle(t, queue.Reject) },
				"resume":  m.doResume,
				"detach":  m.doDetach,
				"purge":   m.doPurge,
				"delete":  m.doDelete,
				"tend":    func(*rapid.T) { m.Tend() },
				"":        m.compare,
			}
			for range 4 { // rapid's own sequences are short
				t.Repeat(actions)
			}
		})
	})
}

// doPublish lets some publishers push before the first of them runs the queue.
func (m *machine) doPublish(t *rapid.T) {
	runs := 0
	for p := range rapid.IntRange(1, 3).Draw(t, "publishers") {
		batch, texts := queue.NewBatch(), []string{}
		for i := range rapid.IntRange(1, 4).Draw(t, "messages") {
			texts = append(texts, fmt.Sprintf("%d of publisher %d after %d", i, p, m.model.totals.Published))
			batch.Add(build(m.chunk, texts[i]), m.chunk)
		}
		r := m.Push(batch)
		first, run := r.First, r.Run
		if run {
			runs++
		}
		want := m.model.next
		if m.model.closed {
			want = 0
		} else {
			m.model.publish(texts)
		}
		if first != want {
			t.Fatalf("pushed as %d, want %d", first, want)
		}
	}
	if rapid.Bool().Draw(t, "retire") {
		m.chunk.Retire()
		m.retired[m.chunk] = m.model.next - 1
		m.chunk = queue.NewChunk()
	}
	if want := map[bool]int{false: 1, true: 0}[m.model.closed]; runs != want {
		t.Fatalf("%d publishers were told to run the queue, want %d", runs, want)
	}
	if runs == 1 {
		m.Run()
	}
}

func (m *machine) doConsume(t *rapid.T) {
	c := &member{receiver: m.consumer(queue.Consumer{
		Tag:       string(rune('a' + len(m.all))),
		NoAck:     rapid.IntRange(0, 3).Draw(t, "no-ack") == 0,
		Exclusive: rapid.IntRange(0, 7).Draw(t, "exclusive") == 0,
		Priority:  rapid.IntRange(-1, 1).Draw(t, "priority"),
		Prefetch:  rapid.IntRange(0, 3).Draw(t, "prefetch"),
	})}
	c.outbox = rapid.SampledFrom(m.outboxes).Draw(t, "connection")
	c.consumer.Outbox = c.outbox
	c.room = rapid.IntRange(-1, 5).Draw(t, "room")
	c.receiver.room = c.room
	err := m.consume(c.receiver)
	switch {
	case m.model.closed:
		m.isClosed(t, err)
	case m.model.refuses(c):
		if refusal := new(amqp.Error); !errors.As(err, &refusal) {
			t.Fatalf("consume: %v, want a refusal", err)
		}
	case err != nil:
		t.Fatalf("consume: %v", err)
	default:
		m.all = append(m.all, c)
		m.model.consume(c)
	}
}

func (m *machine) isClosed(t *rapid.T, err error) {
	if !errors.Is(err, queue.ErrClosed) {
		t.Fatalf("a closed queue answers %v", err)
	}
}

// draw draws one of the consumers that ever were, nil if there was none.
func (m *machine) draw(t *rapid.T) *member {
	if len(m.all) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.all).Draw(t, "consumer")
}

func (m *machine) doCancel(t *rapid.T) {
	c := m.draw(t)
	if c == nil {
		return
	}
	closed := m.cancel(c.receiver)
	m.model.cancel(c)
	m.wantClosed(t, closed)
}

// wantClosed closes the model's queue if it has lost its last consumer, which the queue has to have said.
func (m *machine) wantClosed(t *rapid.T, closed bool) {
	if closed != m.model.unused() {
		t.Fatalf("closed itself: %v, want %v", closed, !closed)
	}
	if closed {
		m.model.close()
	}
}

func (m *machine) doGet(t *rapid.T) {
	noAck := rapid.Bool().Draw(t, "no-ack")
	found, err := m.get(noAck)
	if m.model.closed {
		m.isClosed(t, err)
		return
	}
	ready := m.model.ready()
	if found != (len(ready) > 0) || err != nil {
		t.Fatalf("got a message: %v, %v; %d are ready", found, err, len(ready))
	}
	switch {
	case !found:
		m.model.totals.GetEmpty++
	case noAck:
		m.model.totals.GotAuto++
		m.model.deliver("get", ready[0], true)
	default:
		m.model.totals.Got++
		m.model.deliver("get", ready[0], false)
		m.got.held = append(m.got.held, ready[0])
	}
}

// doSettle settles some of what a consumer, or the channel that got messages, holds, in any order.
func (m *machine) doSettle(t *rapid.T, o queue.Outcome) {
	c := rapid.SampledFrom(append(m.all, m.got)).Draw(t, "holder")
	if len(c.held) == 0 {
		return
	}
	settled := rapid.Permutation(c.held).Draw(t, "messages")
	settled = settled[:rapid.IntRange(1, len(settled)).Draw(t, "count")]
	s := m.settlement(c, o, settled)
	m.model.settle(c, o, settled)
	if m.Settle(s) {
		m.RunHere()
	}
}

func (m *machine) settlement(c *member, o queue.Outcome, settled []*message) *queue.Settlement {
	s := queue.NewSettlement(c.consumer, o)
	if c == m.got {
		s.Consumer = nil
	}
	for _, x := range settled {
		s.Add(x.seq)
	}
	return s
}

// doResume gives a consumer's connection room. It says so if a message was refused before.
func (m *machine) doResume(t *rapid.T) {
	c := m.draw(t)
	if c == nil {
		return
	}
	c.room = rapid.IntRange(0, 5).Draw(t, "room")
	c.receiver.room = c.room
	if c.stalled {
		c.stalled = false
		m.model.lineUp(c)
		c.consumer.Resume()
	}
}

// doDetach ends a channel with a consumer, what that holds, and what was got.
func (m *machine) doDetach(t *rapid.T) {
	d := &queue.Detachment{Queue: m.Queue}
	holders := []*member{m.got}
	if c := m.draw(t); c != nil {
		d.Consumers = []*queue.Consumer{c.consumer}
		holders = append(holders, c)
		m.model.cancel(c)
	}
	for _, c := range holders {
		if len(c.held) > 0 {
			d.Held = append(d.Held, m.settlement(c, queue.Requeue, c.held))
			m.model.settle(c, queue.Requeue, c.held)
		}
	}
	queue.Detach([]*queue.Detachment{d})
	m.wantClosed(t, d.Closed)
}

func (m *machine) doPurge(t *rapid.T) {
	n, err := m.Purge()
	if m.model.closed {
		m.isClosed(t, err)
	} else if want := m.model.purge(); n != want || err != nil {
		t.Fatalf("purged %d, %v; want %d", n, err, want)
	}
}

// doDelete is rare: it ends the queue's life, and most of the others should find it alive.
func (m *machine) doDelete(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "delete") > 0 {
		return
	}
	ifUnused, ifEmpty := rapid.Bool().Draw(t, "if-unused"), rapid.Bool().Draw(t, "if-empty")
	counts := m.model.counts()
	n, err := m.Delete(ifUnused, ifEmpty)
	switch {
	case m.model.closed:
		m.isClosed(t, err)
	case ifEmpty && counts.Ready > 0 || ifUnused && counts.Consumers > 0:
		if refusal := new(amqp.Error); !errors.As(err, &refusal) || refusal.Code != amqp.CodePreconditionFailed {
			t.Fatalf("delete: %v, want a refusal", err)
		}
	case n != counts.Ready || err != nil:
		t.Fatalf("deleted %d, %v; want %d", n, err, counts.Ready)
	default:
		for _, c := range m.model.members {
			if c.cancelled != 1 {
				t.Fatalf("%s was told %d times that the queue is gone", c.consumer.Tag, c.cancelled)
			}
		}
		m.model.close()
	}
}

// compare waits until nobody runs the queue and compares all that can be seen of it.
func (m *machine) compare(t *rapid.T) {
	m.model.dispatch()
	synctest.Wait()
	if got, want := m.journal.String(), m.model.expected.String(); got != want {
		t.Fatalf("delivered\n%s, want\n%s", got, want)
	}
	for i, d := range m.journal.deliveries {
		if d != m.model.expected.deliveries[i] {
			t.Fatalf("delivered %v, want %v", d, m.model.expected.deliveries[i])
		}
	}
	m.journal.deliveries, m.model.expected.deliveries = nil, nil
	m.checkChunks(t)
	for _, o := range m.outboxes {
		if o.touched {
			t.Fatal("an outbox was not flushed")
		}
	}
	counts, err := m.Counts()
	if m.model.closed != m.Closed() || m.model.closed != errors.Is(err, queue.ErrClosed) {
		t.Fatalf("closed: %v, %v; want %v", m.Closed(), err, m.model.closed)
	}
	for _, c := range m.all {
		if acked, failed := c.consumer.FirstTries(); acked != c.acked || failed != c.failed {
			t.Fatalf("a consumer acked %d messages at the first try and failed with %d, want %d and %d", acked, failed, c.acked, c.failed)
		}
	}
	want := queue.Stats{Counts: m.model.counts(), Totals: m.model.totals, UnackedBodies: m.model.unackedBodies()}
	for _, x := range m.model.ready() {
		want.ReadyBytes += len(x.text) + m.overhead
		want.Bodies += int64(len(x.text))
		want.InMemory++
	}
	got := m.Stats()
	got.MostUnacked = 0
	if got.Ready == 0 && got.Head != 0 {
		t.Fatalf("nothing is ready, but the head is of %d", got.Head)
	}
	want.Head = got.Head
	want.UnackedInMemory, want.InMemoryBodies = want.Unacked, want.Bodies+want.UnackedBodies
	got.Totals.Add(new(m.ledger.Totals()))
	if got != want || counts != want.Counts {
		t.Fatalf("counts %+v, stats %+v; want %+v", counts, got, want)
	}
}

// checkChunks overwrites chunks that were released, as their next publishers do: that must not be seen in any message. Chunks
// whose messages are gone have to be released.
func (m *machine) checkChunks(t *rapid.T) {
	for k, last := range m.retired {
		if isReleased(k) {
			clear(k.Bytes[:cap(k.Bytes)])
			delete(m.retired, k)
			continue
		}
		if !m.model.closed && (len(m.model.messages) == 0 || m.model.messages[0].seq > last) {
			t.Fatalf("a chunk with messages up to %d is still held; the oldest message is another", last)
		}
	}
}
