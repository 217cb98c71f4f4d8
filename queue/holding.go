package queue

import (
	"leveret/amqp"
	"leveret/store"
)

// holding is what a queue knows of its unacked messages beyond their number. Owned by whoever runs the queue.
type holding struct {
	bytes  int // of those in memory
	around int // bytes that a message has beside its body, as of the last that was looked at
	again  Set // those that had been delivered before
}

// unackedBodies is how many bytes the bodies of the unacked messages have, about; persistent is those of messages that the log has.
func (q *Queue) unackedBodies() (all, persistent int64) {
	if q.unacked == 0 {
		return 0, 0
	}
	lent := q.lent.Len()
	if lent > 0 {
		persistent = int64(max(0, q.lentBytes-lent*(entryOverhead+q.holding.around)))
	}
	here := int64(max(0, q.holding.bytes-(q.unacked-lent)*q.holding.around))
	return here + persistent, persistent
}

// persistent is how many messages survive a restart, ready and unacked, and the bytes of their bodies, about. Transient ones that were put aside
// count as persistent ones do.
func (q *Queue) persistent() (count int, bodies int64) {
	if !q.logging {
		return 0, 0
	}
	_, bodies = q.unackedBodies()
	return q.ready() - q.loose.count + q.lent.Len(), q.bodies() - q.loose.bodies + bodies
}

// look notes how much of a message is not its body.
func (h *holding) look(m amqp.Message) { h.around = len(m) - len(m.Body()) }

// forget ends that messages are unacked, and returns how many of them had been delivered before.
func (h *holding) forget(ranges []store.Range) (again int) {
	if h.again.Len() == 0 {
		return 0
	}
	for _, r := range ranges {
		for n, ok := h.again.From(r.First); ok && n <= r.Last; n, ok = h.again.From(n + 1) {
			h.again.Remove(n)
			again++
		}
	}
	return again
}
