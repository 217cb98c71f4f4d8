package queue

import (
	"sync"

	"leveret/store"
)

// Outcome is what becomes of a delivered message.
type Outcome uint8

const (
	// Ack removes it: it was processed.
	Ack Outcome = iota
	// Requeue puts it back to its own place, marked as redelivered: its consumer failed with it.
	Requeue
	// Reject removes it unprocessed.
	Reject
	// Return is Requeue without blame: the consumer gave the message back, or was too slow with it.
	Return
)

// back reports whether the message stays in the queue.
func (o Outcome) back() bool { return o == Requeue || o == Return }

// Settlement settles deliveries of one consumer, or of gets, on one queue. Get one from NewSettlement, fill it, and hand it to
// Queue.Settle, which owns it from then on.
type Settlement struct {
	Consumer *Consumer // nil: messages that were got
	Outcome  Outcome
	ranges   []store.Range
	count    int
	at       int64 // when it was made, and when its first and its last message was delivered; see Timed
	first    int64
	last     int64
	logged   bool // the log knows already
}

var settlements = sync.Pool{New: func() any { return new(Settlement) }}

// NewSettlement returns an empty settlement.
func NewSettlement(c *Consumer, o Outcome) *Settlement {
	s := settlements.Get().(*Settlement)
	s.Consumer, s.Outcome = c, o
	return s
}

// Timed says when the settlement is made, by the clock that AddTimed goes by: any in ms that does not jump and is not 0.
func (s *Settlement) Timed(at int64) { s.at = at }

// AddTimed is Add for a message of which it is known when it was delivered.
func (s *Settlement) AddTimed(n uint64, delivered int64) {
	if s.count == 0 {
		s.first = delivered
	}
	s.last = delivered
	s.Add(n)
}

// Add adds a message by its number in the queue. Neighbours in ascending order cost one range.
func (s *Settlement) Add(n uint64) {
	s.count++
	if last := len(s.ranges) - 1; last >= 0 && s.ranges[last].Last+1 == n {
		s.ranges[last].Last = n
		return
	}
	s.ranges = append(s.ranges, store.Range{First: n, Last: n})
}

// Log puts the settlement, which is for this queue, into a batch of the log, so that it shares the fate of what else is there; the queue does not
// tell the log again then.
func (s *Settlement) Log(q *Queue, b *store.Batch) {
	if s.Outcome == Reject && (q.settings.Load().DeadLetter || q.ownDeadLetters.Load()) {
		return // it leaves the queue when it has got where it goes
	}
	if q.logging && !s.Outcome.back() && !q.Closed() {
		b.Settle(q.opts.ID, s.ranges)
		s.logged = true
	}
}

// Settle leaves a settlement to the queue, without waiting. It returns true when the caller has to run the queue.
func (q *Queue) Settle(s *Settlement) (run bool) { return q.post(s) }

func (s *Settlement) run(q *Queue) {
	if !q.closed && q.service != nil { // or nothing was delivered
		if q.groups != nil {
			q.groups.run.glanceAt(q, s)
		}
		for _, r := range s.ranges {
			q.settle(r, s.Outcome, s.logged)
		}
		q.tally(s)
	}
	*s = Settlement{ranges: s.ranges[:0]}
	settlements.Put(s)
}

func (q *Queue) settle(r store.Range, o Outcome, logged bool) {
	for n := r.First; n <= r.Last; n++ {
		if size, ok := q.takeBack(n); ok {
			q.unacked--
			q.settleLent(n, size, o, logged)
			continue
		}
		e := q.window.At(n)
		if e == nil {
			continue
		}
		q.unacked--
		q.service.holding.bytes -= len(e.message)
		if q.groups != nil {
			q.groups.release(e.tag)
		}
		reason := Rejected
		if o.back() {
			if q.keepHere(n, e, o) {
				continue
			}
			reason = DeliveryLimit
		}
		if o == Ack {
			q.forgetAttempts(store.Range{First: n, Last: n})
			q.releases.add(e.chunk)
			q.window.Remove(n)
			continue
		}
		d := Departure{Seq: n, Message: e.message, Reason: reason, chunk: e.chunk}
		q.window.Remove(n)
		q.part(d)
	}
}

// keepHere takes a message in memory back, at once or after a wait; it reports false if the message came back once too often.
func (q *Queue) keepHere(n uint64, e *entry, o Outcome) bool {
	spent, due := q.cameBack(n, o, false)
	switch {
	case spent:
		return false
	case due != 0:
		e.redelivered = true
		q.retries.wait(retry{due: due, n: n, tag: e.tag})
	default:
		q.wakeHere(n, e)
	}
	return true
}

// cameBack counts that a message came back, if the queue has a use for that. It may have been once too often, or the message may have to wait until a
// time in Unix milliseconds, 0 for no wait. stored says that the store has it.
func (q *Queue) cameBack(n uint64, o Outcome, stored bool) (spent bool, due int64) {
	if !q.counts() {
		return false, 0
	}
	if q.attempt(n, o == Requeue) {
		return true, 0
	}
	if wait := q.retryDelay(n, o == Requeue); wait > 0 {
		due = q.now() + wait
		q.wakeAt(due)
	}
	if stored && q.logging {
		q.noteAttempts(n, due)
	}
	return false, due
}

// settleLent settles a message that is not in memory.
func (q *Queue) settleLent(n uint64, size int, o Outcome, logged bool) {
	tag := q.lentTag(n)
	if q.groups != nil {
		q.groups.release(tag)
	}
	switch {
	case o.back():
		spent, due := q.cameBack(n, o, true)
		switch {
		case spent:
			q.noteDeath(n, DeliveryLimit)
			q.partUnread(n, DeliveryLimit)
		case due != 0:
			q.retries.wait(retry{due: due, n: n, size: size, tag: tag})
		default:
			q.giveBack(n, size, tag)
		}
	case o == Reject && !logged:
		q.noteDeath(n, Rejected)
		q.partUnread(n, Rejected)
	default:
		if o == Reject {
			q.countDropped(Rejected)
		}
		if logged && !q.spilled {
			q.forgetAttempts(store.Range{First: n, Last: n})
		} else {
			q.tell(n)
		}
	}
}

// tally counts a settlement and gives the consumer its room back.
func (q *Queue) tally(s *Settlement) {
	again := q.service.holding.forget(s.ranges)
	switch s.Outcome {
	case Ack:
		q.counted.Acked += uint64(s.count)
		q.measureProcessing(s)
	case Requeue, Return:
		q.counted.Requeued += uint64(s.count)
	case Reject:
		q.counted.Rejected += uint64(s.count)
	}
	if c := s.Consumer; c != nil {
		c.unacked -= s.count
		c.tries.count(s.Outcome, uint64(s.count-again))
		had := c.linked
		q.consumers.update(c)
		if q.consumers.succeed() {
			q.look(nil)
		} else if !had {
			q.look(c)
		}
	}
}
