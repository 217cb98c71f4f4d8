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

// unackedBodies is how many bytes the bodies of the unacked messages have, about; lent is those of messages that the store has.
func (q *Queue) unackedBodies() (all, lent int64) {
	if q.unacked == 0 {
		return 0, 0
	}
	out := q.lent.Len()
	if out > 0 {
		lent = int64(max(0, q.lentBytes-out*(entryOverhead+q.service.holding.around)))
	}
	here := int64(max(0, q.service.holding.bytes-(q.unacked-out)*q.service.holding.around))
	return here + lent, lent
}

// tendHead notes what the next message says of its time, once a second: it has to be decoded for that.
func (q *Queue) tendHead() {
	at := int64(0)
	if _, e, ok := q.first(); ok && q.ready() > 0 {
		var index amqp.PropertyIndex
		if properties := e.message.Properties(); amqp.ScanProperties(properties, &index) == nil && index.Flags&amqp.FlagTimestamp != 0 {
			p, err := amqp.DecodeProperties(properties)
			if err == nil {
				at = int64(p.Timestamp)
			}
		}
	}
	setInt(&q.stats.headTimestamp, at)
	if at != 0 {
		q.untended.Store(true) // to go on looking who is next
	}
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
