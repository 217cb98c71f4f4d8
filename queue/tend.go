package queue

import "leveret/amqp"

const (
	// ownChunk is the size of the chunks that a queue copies its long-lived messages into.
	ownChunk = 16 << 10
	// tendMessages and tendBytes bound how much is copied in one turn.
	tendMessages = 4096
	tendBytes    = 1 << 20
)

// keeper copies messages that stay out of the large chunks in which publishers built them, so that one message which nobody takes
// pins no more than 16 KiB. Owned by whoever runs the queue.
type keeper struct {
	done      uint64 // messages below were copied
	due       uint64 // messages below are old enough
	recovered uint64 // messages below were there when the broker started
	chunk     []byte
}

// Tend makes the queue copy what it has held for longer than the time since the last Tend. It is called about once a second, does not
// wait, and costs nothing when there is nothing to copy.
func (q *Queue) Tend() {
	if (q.untended.CompareAndSwap(true, false) || int(q.obeyed.Load()) != q.shift()) && q.post(tend{}) {
		go q.Run()
	}
}

type tend struct{}

func (tend) run(q *Queue) {
	k := &q.keeper
	if q.closed {
		return
	}
	q.broken, q.full = false, false
	if q.leaving != nil {
		q.leaving.blocked = false
	}
	q.scanDeadlines()
	q.stats.mostUnacked.Store(int64(q.mostUnacked()))
	q.tendHead()
	if most := q.unacked; most > 0 {
		q.untended.Store(true) // to go on watching who holds them
	}
	q.shrink()
	q.report(true)
	q.spill()
	copied, bytes := 0, 0
	for copied < tendMessages && bytes < tendBytes {
		n, e, ok := q.window.NextFrom(k.done)
		if !ok || n >= k.due {
			k.finish(q)
			return
		}
		if e.chunk != nil && !e.chunk.Owned() {
			e.message = k.copy(e.message)
			q.releases.add(e.chunk)
			e.chunk = nil
		}
		copied++
		bytes += len(e.message)
		k.done = n + 1
	}
	q.post(tend{}) // goes on in the next turn; the runner is right here
}

// finish ends a round: what came in meanwhile is due in the next.
func (k *keeper) finish(q *Queue) {
	k.done = max(k.done, k.due)
	k.due = q.next
	k.chunk = nil
	if k.due > k.done && q.window.Len() > 0 {
		q.untended.Store(true)
	}
	q.window.Shrink()
}

// copy returns a message in memory of the queue's own.
func (k *keeper) copy(m amqp.Message) amqp.Message {
	if len(m) > ownChunk/4 {
		return append(make(amqp.Message, 0, len(m)), m...)
	}
	if cap(k.chunk)-len(k.chunk) < len(m) {
		k.chunk = make([]byte, 0, ownChunk)
	}
	start := len(k.chunk)
	k.chunk = append(k.chunk, m...)
	return k.chunk[start:len(k.chunk):len(k.chunk)]
}
