package queue

import "sync"

// turnMessages is how many messages a queue delivers before it looks into its mailbox again.
const turnMessages = 1000

// taken is what one turn took out of the mailbox. Its slice is swapped with the mailbox's, so that neither side allocates.
type taken struct {
	batches  *Batch
	commands []command
	settled  settled
}

// turns hold the slices of queues that do not run: an idle queue keeps none.
var turns = sync.Pool{New: func() any { return new(taken) }}

// turn does one round of work; it reports false when nothing was left to do and the caller no longer runs the queue.
func (q *Queue) turn() bool {
	t := turns.Get().(*taken)
	state := runnerState{busy: q.canDeliver(), delivered: q.delivered, readyBytes: q.readyBytes}
	q.delivered = false
	more := q.mailbox.take(t, state)
	if more {
		q.work(t)
	}
	turns.Put(t)
	return more
}

func (q *Queue) work(t *taken) {
	q.settled = t.settled
	for b := t.batches; b != nil; {
		next := b.next
		q.enqueue(b)
		b.free()
		b = next
	}
	t.batches = nil
	for _, c := range t.commands {
		c.run(q)
	}
	clear(t.commands)
	t.commands = t.commands[:0]
	q.deliver()
	q.tellLog()
	t.settled, q.settled = q.settled[:0], nil
	q.releases.flush()
	q.publishStats()
	q.flush()
}

// enqueue puts messages in their places behind all others. What came in after the queue closed is dropped with it.
func (q *Queue) enqueue(b *Batch) {
	if q.closed {
		return
	}
	logs := q.opts.Log != nil
	for i, m := range b.messages {
		e := entry{message: m.message, chunk: m.chunk, logged: logs && m.message.Persistent()}
		q.window.Put(b.first+uint64(i), e, true)
	}
	q.next = b.first + uint64(len(b.messages))
	q.readyBytes += b.bytes
	if !q.untended.Load() {
		q.untended.Store(true)
	}
	q.counted.Published += uint64(len(b.messages))
}
