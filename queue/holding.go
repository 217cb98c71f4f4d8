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

// tendHead notes what the next message says of its time. Its properties have to be scanned for that: once a second at most, and once a message. If it is
// on disk alone it is read, though nobody asks for it: how long it has waited tells whether anybody looks after the queue.
func (q *Queue) tendHead() {
	n, at := uint64(0), int64(0)
	first, e, ok := q.first()
	q.headWanted = !ok && q.away.Len() > 0
	if ok && q.ready() > 0 {
		n = first
		var index amqp.PropertyIndex
		if amqp.ScanProperties(e.message.Properties(), &index) == nil {
			at = int64(index.Timestamp)
		}
	}
	q.tended = n
	setInt(&q.stats.headTimestamp, at)
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
