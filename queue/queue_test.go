package queue_test

import (
	"errors"
	"testing"

	"leveret/amqp"
	"leveret/queue"
)

func TestPushNumbersMessages(t *testing.T) {
	g := newRig(t, queue.Options{})
	if first := g.publish("x", "y", "z"); first != 1 {
		t.Errorf("first number %d, want 1: 0 means not taken", first)
	}
	if first := g.publish("x"); first != 4 {
		t.Errorf("first number of the next batch %d, want 4", first)
	}
	g.holds(queue.Counts{Ready: 4})
	g.start(queue.Consumer{Tag: "a", NoAck: true})
	g.took("a1 a2 a3 a4")
	g.holds(queue.Counts{Consumers: 1})
}

func TestBatchIsFullAtItsLimit(t *testing.T) {
	b := queue.NewBatch()
	for i := range queue.BatchMessages {
		if full := b.Add(newMessage("m"), nil); full != (b.Len() == queue.BatchMessages) || b.Len() != i+1 {
			t.Fatalf("with %d messages: %d, full %v", i+1, b.Len(), full)
		}
	}
}

func TestPrefetch(t *testing.T) {
	g := newRig(t, queue.Options{})
	a := g.start(queue.Consumer{Tag: "a", Prefetch: 2})
	b := g.start(queue.Consumer{Tag: "b", Prefetch: 1})
	g.publish("1", "2", "3", "4", "5", "6")
	g.took("a1 b2 a3")
	g.holds(queue.Counts{Ready: 3, Unacked: 3, Consumers: 2})
	g.settle(a, queue.Ack, 1)
	g.settle(b, queue.Reject, 2)
	g.took("a4 b5")
	g.settle(a, queue.Ack, 3, 4)
	g.took("a6")
	g.holds(queue.Counts{Unacked: 2, Consumers: 2})
}

func TestRequeueReturnsToItsPlace(t *testing.T) {
	g := newRig(t, queue.Options{})
	a := g.start(queue.Consumer{Tag: "a", Prefetch: 3})
	g.publish("1", "2", "3", "4", "5")
	g.took("a1 a2 a3")
	g.cancel(a)
	g.settle(a, queue.Requeue, 3)
	g.settle(a, queue.Return, 1)
	g.holds(queue.Counts{Ready: 4, Unacked: 1})
	g.start(queue.Consumer{Tag: "b"})
	g.took("b1! b3! b4 b5")
	g.settle(a, queue.Requeue, 2) // of a consumer that is gone
	g.took("b2!")
	if s := g.Stats(); s.Redelivered != 3 || s.Requeued != 3 {
		t.Errorf("counted %d redelivered, %d requeued; want 3 of each", s.Redelivered, s.Requeued)
	}
}

// A receiver without room is asked again when it says so, and not before.
func TestRefusedMessageStaysAtTheHead(t *testing.T) {
	g := newRig(t, queue.Options{})
	a := g.consumer(queue.Consumer{Tag: "a"})
	a.room = 1
	if err := g.consume(a); err != nil {
		t.Fatal(err)
	}
	g.publish("1", "2", "3")
	g.publish("4")
	g.settle(a, queue.Ack, 1) // gives prefetch back, not room
	g.took("a1")
	if a.refused != 1 {
		t.Errorf("asked %d times while it had no room, want once", a.refused)
	}
	g.start(queue.Consumer{Tag: "b", Prefetch: 1})
	g.took("b2")
	g.holds(queue.Counts{Ready: 2, Unacked: 1, Consumers: 2})
}

func TestGet(t *testing.T) {
	g := newRig(t, queue.Options{})
	if found, err := g.get(false); found || err != nil {
		t.Errorf("get from an empty queue: %v, %v", found, err)
	}
	g.publish("1", "2", "3")
	got := &getter{outbox: g.outbox, journal: &g.journal}
	for _, remaining := range []int{2, 1} {
		found, err := g.Get(g.outbox, got, remaining == 1)
		if !found || err != nil || got.remaining != remaining {
			t.Errorf("get: %v, %v, %d remaining; want %d", found, err, got.remaining, remaining)
		}
	}
	g.holds(queue.Counts{Ready: 1, Unacked: 1})
	g.settle(nil, queue.Requeue, 1)
	g.get(false)
	g.took("get1 get2 get1!")
	g.settle(nil, queue.Ack, 1)
	g.holds(queue.Counts{Ready: 1})
	want := queue.Totals{Published: 3, Got: 2, GotAuto: 1, GetEmpty: 1, Requeued: 1, Redelivered: 1, Acked: 1}
	if got := g.Stats().Totals; got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func TestExclusiveConsumer(t *testing.T) {
	for name, c := range map[string]struct {
		opts          queue.Options
		first, second bool // exclusive
		first403      bool
		second403     bool
	}{
		"both shared":                {},
		"exclusive first":            {first: true, second403: true},
		"exclusive second":           {second: true, second403: true},
		"both exclusive":             {first: true, second: true, second403: true},
		"single active":              {opts: queue.Options{SingleActiveConsumer: true}},
		"exclusive on single active": {opts: queue.Options{SingleActiveConsumer: true}, first: true, first403: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, c.opts)
			first := g.consumer(queue.Consumer{Tag: "a", Exclusive: c.first})
			check403(t, g.consume(first), c.first403)
			second := g.consumer(queue.Consumer{Tag: "b", Exclusive: c.second})
			check403(t, g.consume(second), c.second403)
			if g.cancel(first); c.second403 {
				check403(t, g.consume(second), false)
			}
		})
	}
}

func check403(t *testing.T, err error, want bool) {
	t.Helper()
	var refusal *amqp.Error
	if got := errors.As(err, &refusal); got != want || got && refusal.Code != amqp.CodeAccessRefused || !got && err != nil {
		t.Errorf("consume answered %v, want a refusal: %v", err, want)
	}
}

// The others of a single active consumer's queue are counted and wait; its messages stay its own when it goes.
func TestSingleActiveConsumerSucceeds(t *testing.T) {
	g := newRig(t, queue.Options{SingleActiveConsumer: true})
	a := g.start(queue.Consumer{Tag: "a", Prefetch: 1})
	g.start(queue.Consumer{Tag: "b"})
	g.start(queue.Consumer{Tag: "p", Priority: 1})
	g.publish("1", "2")
	g.took("a1")
	g.holds(queue.Counts{Ready: 1, Unacked: 1, Consumers: 3})
	g.Cancel(a.consumer, func() { g.took("") }) // it hears of its end before others get what is theirs now
	g.took("p2")
	g.settle(a, queue.Ack, 1)
	g.holds(queue.Counts{Unacked: 1, Consumers: 2})
}

func TestPurgeLeavesUnacked(t *testing.T) {
	g := newRig(t, queue.Options{})
	a := g.start(queue.Consumer{Tag: "a", Prefetch: 2})
	g.publish("1", "2", "3", "4")
	if n, err := g.Purge(); n != 2 || err != nil {
		t.Errorf("purged %d, %v; want 2", n, err)
	}
	g.settle(a, queue.Requeue, 1, 2)
	g.took("a1 a2 a1! a2!")
	g.holds(queue.Counts{Unacked: 2, Consumers: 1})
	if s := g.Stats(); s.Purged != 2 || s.ReadyBytes != 0 {
		t.Errorf("counted %d purged, %d bytes ready; want 2, 0", s.Purged, s.ReadyBytes)
	}
}

func TestDeleteConditions(t *testing.T) {
	g := newRig(t, queue.Options{})
	a := g.start(queue.Consumer{Tag: "a", Prefetch: 1})
	g.publish("1", "2", "3")
	for _, c := range []struct {
		ifUnused, ifEmpty bool
		text              string
	}{
		{true, true, amqp.QueueNotEmpty("q", "/").Text}, // looked at first
		{false, true, amqp.QueueNotEmpty("q", "/").Text},
		{true, false, amqp.QueueInUse("q", "/").Text},
	} {
		var refusal *amqp.Error
		if _, err := g.Delete(c.ifUnused, c.ifEmpty); !errors.As(err, &refusal) || refusal.Text != c.text {
			t.Errorf("delete: %v, want %s", err, c.text)
		}
	}
	if g.Closed() || a.cancelled != 0 {
		t.Error("a refused deletion closed the queue")
	}
	if n, err := g.Delete(false, false); n != 2 || err != nil {
		t.Errorf("deleted with %d ready, %v; want 2", n, err)
	}
	if !g.Closed() || a.cancelled != 1 {
		t.Errorf("closed %v, consumer told %d times", g.Closed(), a.cancelled)
	}
}

// Unacked messages are no reason against a deletion, and neither are consumers that are gone.
func TestDeleteEmptyAndUnused(t *testing.T) {
	g := newRig(t, queue.Options{})
	a := g.start(queue.Consumer{Tag: "a"})
	g.publish("1")
	g.cancel(a)
	if n, err := g.Delete(true, true); n != 0 || err != nil {
		t.Errorf("deleted with %d ready, %v", n, err)
	}
	if a.cancelled != 0 {
		t.Error("a consumer was told that had cancelled before")
	}
}

func TestClosedQueueTakesNothing(t *testing.T) {
	ledger := new(queue.Ledger)
	g := newRig(t, queue.Options{Ledger: ledger})
	a := g.start(queue.Consumer{Tag: "a", Prefetch: 1})
	lifetime := g.Lifetime().Load()
	g.publish("1", "2")
	g.Delete(false, false)
	if first := g.publish("3"); first != 0 {
		t.Errorf("a closed queue gave number %d", first)
	}
	g.settle(a, queue.Requeue, 1)
	_, getErr := g.get(true)
	_, countErr := g.Counts()
	_, purgeErr := g.Purge()
	_, deleteErr := g.Delete(true, true)
	for i, err := range []error{g.consume(g.consumer(queue.Consumer{})), getErr, countErr, purgeErr, deleteErr} {
		if !errors.Is(err, queue.ErrClosed) {
			t.Errorf("answer %d of a closed queue: %v", i, err)
		}
	}
	if g.cancel(a) {
		t.Error("cancel says that it closed a queue that was closed")
	}
	a.consumer.Resume()
	g.Tend()
	g.took("a1")
	if s := g.Stats(); s != (queue.Stats{}) {
		t.Errorf("a closed queue tells %+v", s)
	}
	if want := (queue.Totals{Published: 2, Delivered: 1}); ledger.Totals() != want {
		t.Errorf("the ledger holds %+v, want %+v", ledger.Totals(), want)
	}
	if g.Lifetime().Load() == lifetime {
		t.Error("routes to the queue stay valid")
	}
}

func TestAutoDelete(t *testing.T) {
	g := newRig(t, queue.Options{AutoDelete: true})
	g.publish("1", "2")
	g.get(false)
	queue.Detach([]*queue.Detachment{{Queue: g.Queue, Held: []*queue.Settlement{settlement(nil, queue.Requeue, 1)}}})
	g.holds(queue.Counts{Ready: 2}) // gets do not count
	a, b := g.start(queue.Consumer{Tag: "a"}), g.start(queue.Consumer{Tag: "b"})
	if g.cancel(a) || g.Closed() {
		t.Error("closed with a consumer left")
	}
	if !g.cancel(b) || !g.Closed() {
		t.Error("not closed without consumers")
	}
	if a.cancelled+b.cancelled != 0 {
		t.Error("consumers were told that had cancelled before")
	}
}

// A channel's end is one step at each of its queues: what it held goes to others, never to itself.
func TestDetach(t *testing.T) {
	g, other := newRig(t, queue.Options{}), newRig(t, queue.Options{AutoDelete: true})
	a, b := g.start(queue.Consumer{Tag: "a", Prefetch: 2}), g.start(queue.Consumer{Tag: "b", Prefetch: 1, Priority: -1})
	c := other.start(queue.Consumer{Tag: "c"})
	g.publish("1", "2", "3", "4")
	g.took("a1 a2 b3")
	detachments := []*queue.Detachment{
		{Queue: g.Queue, Consumers: []*queue.Consumer{a.consumer}, Held: []*queue.Settlement{settlement(a, queue.Requeue, 1, 2)}},
		{Queue: other.Queue, Consumers: []*queue.Consumer{c.consumer}},
	}
	queue.Detach(detachments)
	if detachments[0].Closed || !detachments[1].Closed || !other.Closed() {
		t.Errorf("closed: %v, %v; want only the auto-delete queue", detachments[0].Closed, detachments[1].Closed)
	}
	g.holds(queue.Counts{Ready: 3, Unacked: 1, Consumers: 1})
	for _, n := range []uint64{3, 1, 2} {
		g.settle(b, queue.Ack, n)
	}
	g.took("b1! b2! b4")
}

// A turn that reached one connection lets it write at once; where there are more their writers do it.
func TestFlush(t *testing.T) {
	g := newRig(t, queue.Options{})
	far := g.newOutbox()
	a := g.start(queue.Consumer{Tag: "a", NoAck: true})
	g.publish("1", "2", "3")
	b := g.consumer(queue.Consumer{Tag: "b", NoAck: true})
	b.outbox, b.consumer.Outbox = far, far
	if err := g.consume(b); err != nil {
		t.Fatal(err)
	}
	g.publish("4", "5", "6", "7")
	g.cancel(a)
	g.publish("8")
	g.took("a1 a2 a3 a4 b5 a6 b7 b8")
	if len(g.outbox.flushed) != 2 || !g.outbox.flushed[0] || g.outbox.flushed[1] {
		t.Errorf("flushed directly: %v, want true, false", g.outbox.flushed)
	}
	if len(far.flushed) != 2 || far.flushed[0] || !far.flushed[1] {
		t.Errorf("the second connection flushed directly: %v, want false, true", far.flushed)
	}
}

func TestOptions(t *testing.T) {
	g := newRig(t, queue.Options{Name: "jobs", Durable: true, ID: 7})
	if g.Name() != "jobs" || !g.Durable() || g.Options().ID != 7 {
		t.Errorf("%s, durable %v, %+v", g.Name(), g.Durable(), g.Options())
	}
}

func TestTotalsAndStatsAdd(t *testing.T) {
	g, sum := newRig(t, queue.Options{}), queue.Stats{}
	g.start(queue.Consumer{Prefetch: 1})
	g.publish("1", "2")
	for range 3 {
		sum.Add(g.Stats())
	}
	want := queue.Stats{Counts: queue.Counts{Ready: 3, Unacked: 3, Consumers: 3}, Totals: queue.Totals{Published: 6, Delivered: 3}}
	one := g.Stats()
	want.ReadyBytes, want.Bodies, want.Head = 3*one.ReadyBytes, 3, one.Head // a byte each, and the head of the oldest
	want.UnackedBodies, want.UnackedInMemory, want.InMemoryBodies = 3, 3, 6
	if sum != want || sum.ReadyBytes == 0 || sum.Head == 0 {
		t.Errorf("sum %+v, want %+v", sum, want)
	}
}
