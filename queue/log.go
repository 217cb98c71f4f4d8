package queue

import (
	"leveret/amqp"
	"leveret/store"
)

// Log is what a durable queue needs of the store. Queues are known to it by Options.ID.
type Log interface {
	// Settle records that messages are done with. It is called by whoever runs the queue and must not wait.
	Settle(queue uint64, ranges []store.Range)
	// Read returns live messages of the ranges, up to about limit bytes of them. It waits for the disk.
	Read(queue uint64, ranges []store.Range, limit int) (store.Window, error)
}

// settledRanges is how many ranges are told to the log at once: a record of it stays small however scattered a queue's messages are.
const settledRanges = 4096

// settled are logged messages that a turn is done with and that the log has not been told of. Owned by whoever runs the queue.
type settled []store.Range

// logs reports whether the log holds a message of this queue.
func (q *Queue) logs(m amqp.Message) bool { return q.opts.Log != nil && m.Persistent() }

// tell notes that a logged message is done with. What the log never saw it need not forget.
func (q *Queue) tell(n uint64) {
	if last := len(q.settled) - 1; last >= 0 && q.settled[last].Last+1 == n {
		q.settled[last].Last = n
		return
	}
	if len(q.settled) == settledRanges {
		q.tellLog()
	}
	q.settled = append(q.settled, store.Range{First: n, Last: n})
}

// tellLog hands over what was noted, once a turn as a rule.
func (q *Queue) tellLog() {
	if len(q.settled) > 0 {
		q.opts.Log.Settle(q.opts.ID, q.settled)
		q.settled = q.settled[:0]
	}
}
