package queue

import (
	"sync"

	"leveret/store"
)

// turnMessages is how many messages a queue delivers before it looks into its mailbox again.
const turnMessages = 1000

// taken is what one turn took out of the mailbox.
type taken struct {
	batches *Batch
	scratch *scratch // with the commands, nil if there are none
}

// scratch is slices that a turn fills if it has something to put there, so that it need not allocate.
type scratch struct {
	commands []command
	settled  []store.Range // messages that the store has, that the turn is done with, and that the store has not been told of
}

// scratches are those of queues that do not run, and of turns that need none.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// borrow returns this turn's scratch.
func (q *Queue) borrow() *scratch {
	if q.scratch == nil {
		q.scratch = scratches.Get().(*scratch)
	}
	return q.scratch
}

// turn does one round of work; it reports false when nothing was left to do and the caller no longer runs the queue.
func (q *Queue) turn() bool {
	var state runnerState
	state.busy, state.delivered = q.unfinished || q.canDeliver(), q.delivered
	state.readyBytes, state.crowded = q.flowing(), q.crowded()
	state.ready, state.bodies = q.ready(), q.bodies()
	q.delivered, q.unfinished = false, false
	t, ok := q.mailbox.take(&state)
	if !ok {
		return false
	}
	q.work(t)
	if s := q.scratch; s != nil {
		q.scratch = nil
		scratches.Put(s)
	}
	return true
}

func (q *Queue) work(t taken) {
	q.scratch = t.scratch
	q.turns++
	q.budget, q.clock.at = turnMessages, 0
	for b := t.batches; b != nil; {
		next := b.next
		q.enqueue(b)
		b.free()
		b = next
	}
	if t.scratch != nil {
		q.runCommands()
	}
	q.duties()
	if len(q.gets) > 0 {
		q.serveGets()
	}
	if q.ready() > 0 {
		q.deliver()
	}
	if q.leaving != nil {
		q.forward()
	}
	if q.delivered && q.service != nil {
		q.measureWaits()
	}
	// The log hears of all that was settled in this turn at once, and the figures are made visible before the connections are told: whoever has seen a
	// delivery finds it counted.
	q.readAhead()
	q.tellLog()
	q.releases.flush()
	q.report(false)
	q.publishStats()
	q.flush()
}

// runCommands runs the commands that this turn took.
func (q *Queue) runCommands() {
	s := q.scratch
	for _, c := range s.commands {
		c.run(q)
	}
	clear(s.commands)
	s.commands = s.commands[:0]
}

// duties are what a queue has to do in each turn for features that it uses: here, so that one without them asks no more than whether it has them.
// They come before deliveries: a message whose time is up, or that makes way for another, must not go to a consumer that has room.
func (q *Queue) duties() {
	if q.retries.heap.Len() > 0 {
		q.retryDue()
	}
	if q.delays != nil {
		q.delaysDue()
	}
	if len(q.anywhere.order) > 0 {
		q.expireAnywhere()
	}
	if q.lifetimes.mortal() {
		q.expire()
	}
	if q.dropsHead() {
		q.dropHead()
	}
}

// enqueue takes messages in, behind all others: straight to consumers while no message waits before them, into the window else. What
// came in after the queue closed is dropped with it.
func (q *Queue) enqueue(b *Batch) {
	if q.closed {
		return
	}
	if len(b.refused) > 0 {
		q.refuse(b)
	}
	if q.delays != nil {
		q.delay(b)
		q.next = b.first + uint64(len(b.messages))
		q.counted.Published += uint64(len(b.messages))
		q.untended.Store(true)
		q.spill()
		return
	}
	q.mark(b.traits)
	if passed := q.pass(b); passed < len(b.messages) {
		q.lineUp(b, passed)
	}
	q.next = b.first + uint64(len(b.messages))
	if !q.untended.Load() {
		q.untended.Store(true)
	}
	q.counted.Published += uint64(len(b.messages))
}

// refuse lets the messages go that the queue had no room for, and that are to be dead-lettered for that.
func (q *Queue) refuse(b *Batch) {
	for _, m := range b.refused {
		q.part(Departure{Message: m.message, Reason: MaxLength, chunk: m.chunk})
	}
}
