package queue_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failer is what a fake needs of the test that it serves, a property test's too.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// delivery is one message as a consumer or a get received it.
type delivery struct {
	to          string // consumer tag, "get" for a get
	seq         uint64
	text        string
	redelivered bool
}

// journal is what a queue delivered, in order, to all its consumers.
type journal struct{ deliveries []delivery }

// String is one word a delivery: consumer tag, number, and "!" if it is redelivered.
func (j *journal) String() string {
	var words []string
	for _, d := range j.deliveries {
		word := fmt.Sprint(d.to, d.seq)
		if d.redelivered {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// outbox is a connection's outgoing side. It checks the queue's manners: no delivery without the lock, never two locks at once, every
// outbox flushed that was touched.
type outbox struct {
	t       failer
	locks   *atomic.Int32 // held on any outbox
	held    atomic.Bool
	touched bool
	flushed []bool // how it was flushed: direct or not
}

func (o *outbox) Lock() {
	if o.held.Swap(true) || o.locks.Add(1) != 1 {
		o.t.Errorf("an outbox is locked while one is locked already")
	}
}

func (o *outbox) Unlock() {
	if !o.held.Swap(false) || o.locks.Add(-1) != 0 {
		o.t.Errorf("an outbox is unlocked that was not locked")
	}
}

func (o *outbox) Touch() bool {
	first := !o.touched
	o.touched = true
	return first && o.isHeld("touched")
}

func (o *outbox) Flush(direct bool) {
	if o.held.Load() || !o.touched {
		o.t.Errorf("flushed: locked %v, touched %v", o.held.Load(), o.touched)
	}
	o.touched = false
	o.flushed = append(o.flushed, direct)
}

func (o *outbox) isHeld(what string) bool {
	if !o.held.Load() {
		o.t.Errorf("%s without the lock", what)
	}
	return true
}

// receiver is a channel's side of a consumer, with room for a limited number of messages.
type receiver struct {
	outbox    *outbox
	journal   *journal
	consumer  *queue.Consumer
	room      int
	refused   int
	accepted  int
	cancelled int
	gone      bool         // cancelled by its own wish
	last      amqp.Message // as it came, in the memory it came in
}

func (r *receiver) Deliver(seq uint64, m amqp.Message, redelivered bool) bool {
	r.outbox.isHeld("delivered")
	if r.accepted != 1 || r.cancelled != 0 || r.gone {
		r.outbox.t.Errorf("delivered to %s: accepted %d times, cancelled %d times, gone %v", r.consumer.Tag, r.accepted, r.cancelled, r.gone)
	}
	if r.room == 0 {
		r.refused++
		return false
	}
	r.room--
	r.last = m
	r.journal.deliveries = append(r.journal.deliveries, delivery{r.consumer.Tag, seq, string(m.Body()), redelivered})
	return true
}

func (r *receiver) Cancelled() {
	if r.outbox.held.Load() {
		r.outbox.t.Errorf("cancelled with the outbox locked")
	}
	r.cancelled++
}

// getter is a channel that gets messages.
type getter struct {
	outbox    *outbox
	journal   *journal
	remaining int
}

func (g *getter) DeliverGot(seq uint64, m amqp.Message, redelivered bool, remaining int) {
	g.outbox.isHeld("delivered")
	g.remaining = remaining
	g.journal.deliveries = append(g.journal.deliveries, delivery{"get", seq, string(m.Body()), redelivered})
}

// newMessage is one with that body; it is persistent if that begins with a "1".
func newMessage(text string) amqp.Message {
	index := amqp.PropertyIndex{DeliveryMode: 1}
	if strings.HasPrefix(text, kept) {
		index.DeliveryMode = amqp.Persistent
	}
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, nil), 0, 0))
	m.SetProperties(2, &index, time.Now().UnixMilli())
	return append(m, text...)
}

// messageSize is how much longer a message is than its body.
const messageSize = amqp.MessageHeadSize + 4

// rig is a queue with what it takes to drive it.
type rig struct {
	t failer
	*queue.Queue
	journal journal
	locks   atomic.Int32
	outbox  *outbox // the one of all consumers that ask for no other
}

func newRig(t failer, opts queue.Options) *rig {
	if opts.Name == "" {
		opts.Name, opts.VHost = "q", "/"
	}
	g := &rig{t: t, Queue: queue.New(opts)}
	g.outbox = g.newOutbox()
	return g
}

// recoverQueue is queue.Recover for a log that can be read.
func recoverQueue(opts queue.Options, state store.QueueState, returned []store.Range) *queue.Queue {
	q, err := queue.Recover(opts, state, returned)
	if err != nil {
		panic(err)
	}
	return q
}

func (g *rig) newOutbox() *outbox { return &outbox{t: g.t, locks: &g.locks} }

// publish pushes messages as one batch and runs the queue.
func (g *rig) publish(texts ...string) (first uint64) {
	batch := queue.NewBatch()
	for _, text := range texts {
		batch.Add(newMessage(text), nil)
	}
	r := g.Push(batch)
	first, run := r.First, r.Run
	if run {
		g.RunHere()
	}
	return first
}

// consumer makes a consumer, with room for ever, that was not registered yet.
func (g *rig) consumer(c queue.Consumer) *receiver {
	r := &receiver{outbox: g.outbox, journal: &g.journal, consumer: &c, room: -1}
	c.Outbox, c.Receiver = r.outbox, r
	return r
}

func (g *rig) consume(r *receiver) error { return g.Consume(r.consumer, func() { r.accepted++ }) }

// start makes and registers a consumer.
func (g *rig) start(c queue.Consumer) *receiver {
	g.t.Helper()
	r := g.consumer(c)
	if err := g.consume(r); err != nil {
		g.t.Errorf("consume: %v", err)
	}
	return r
}

// cancel takes a consumer out; true if this closed the queue.
func (g *rig) cancel(r *receiver) (closed bool) {
	g.t.Helper()
	gone := 0
	closed = g.Cancel(r.consumer, func() { gone++; r.gone = true })
	if want := map[bool]int{false: 1, true: 0}[closed]; gone != want {
		g.t.Errorf("cancelled, closing the queue: %v; told %d times", closed, gone)
	}
	return closed
}

func (g *rig) get(noAck bool) (found bool, err error) {
	return g.Get(g.outbox, &getter{outbox: g.outbox, journal: &g.journal}, noAck)
}

// settle settles messages by their numbers; those of a nil receiver were got.
func (g *rig) settle(r *receiver, o queue.Outcome, seqs ...uint64) {
	if g.Settle(settlement(r, o, seqs...)) {
		g.RunHere()
	}
}

func settlement(r *receiver, o queue.Outcome, seqs ...uint64) *queue.Settlement {
	var c *queue.Consumer
	if r != nil {
		c = r.consumer
	}
	s := queue.NewSettlement(c, o)
	for _, n := range seqs {
		s.Add(n)
	}
	return s
}

// took compares what was delivered since the last call, as journal.String writes it.
func (g *rig) took(want string) {
	g.t.Helper()
	got := g.journal.String()
	if got != want {
		g.t.Errorf("delivered %q, want %q", got, want)
	}
	g.journal.deliveries = nil
}

// holds compares what the queue counts with the wish, and with what it tells without being asked.
func (g *rig) holds(want queue.Counts) {
	g.t.Helper()
	got, err := g.Counts()
	if err != nil || got != want || g.Stats().Counts != want {
		g.t.Errorf("the queue holds %+v, %v, and tells %+v; want %+v", got, err, g.Stats().Counts, want)
	}
}
