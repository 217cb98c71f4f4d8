package queue

import (
	"math"

	"leveret/amqp"
)

// never is a time that does not come.
const never = math.MaxInt64

// lifetimes says how long messages may wait. Owned by whoever runs the queue.
type lifetimes struct {
	limits   []ttlFrom // ascending: a message keeps the limit under which it came in
	expiring bool      // messages with an expiration of their own may be ready
	unknown  bool      // what a start found on disk may be such
}

// ttlFrom is the queue's limit in milliseconds for messages from a number on; -1: none.
type ttlFrom struct {
	from uint64
	ttl  int64
}

// mortal reports whether messages may have to be removed because their time is up.
func (l *lifetimes) mortal() bool { return l.expiring || len(l.limits) > 0 }

// limit sets the limit for messages from a number on.
func (l *lifetimes) limit(from uint64, ttl int64) {
	last := len(l.limits) - 1
	switch {
	case last < 0 && ttl < 0, last >= 0 && l.limits[last].ttl == ttl:
	case last >= 0 && l.limits[last].from == from:
		l.limits[last].ttl = ttl
	default:
		l.limits = append(l.limits, ttlFrom{from, ttl})
	}
}

// of is the limit for a message, -1 if there is none.
func (l *lifetimes) of(n uint64) int64 {
	for i := len(l.limits) - 1; i >= 0; i-- {
		if l.limits[i].from <= n {
			return l.limits[i].ttl
		}
	}
	return -1
}

// deadline is when a message's time is up, in Unix milliseconds: its age is counted from when this queue got it.
//
// [queue.declare x-message-ttl, expiration property]: the smaller of both counts.
func (q *Queue) deadline(n uint64, m amqp.Message) int64 {
	ttl := q.lifetimes.of(n)
	if own, ok := m.Expiration(); ok && (ttl < 0 || int64(own) < ttl) {
		ttl = int64(own)
	}
	if ttl < 0 {
		return never
	}
	return m.Published() + ttl
}

// overdue reports whether a message's time is up.
func (q *Queue) overdue(n uint64, m amqp.Message) bool {
	return q.lifetimes.mortal() && q.deadline(n, m) <= q.now()
}

// expire removes the messages at the head whose time is up. Those behind one that may still wait stay until they get there.
//
// [TTL, head of the queue]: with lanes, the head of the queue is the one to be served next; in a quorum queue each lane has a head. Of a queue with groups
// it is the oldest message of all; others whose time is up are left out when it is their turn.
func (q *Queue) expire() {
	if !q.lifetimes.mortal() {
		return
	}
	if q.manyHeads() {
		q.expireHeads()
		return
	}
	for {
		n, e, ok := q.first()
		if !ok {
			return
		}
		if at := q.deadline(n, e.message); at > q.now() {
			q.wakeBefore(at)
			return
		}
		if q.spend(); q.budget < 0 {
			return
		}
		q.die(n, e, Expired)
	}
}

// manyHeads reports whether each lane has a head. The lanes of groups are no more than memory saved: they have none.
func (q *Queue) manyHeads() bool { return q.opts.Quorum && q.groups == nil }

// expireHeads is expire for a queue whose lanes have heads of their own.
func (q *Queue) expireHeads() {
	for found := true; found && q.budget >= 0; {
		found = false
		next := int64(never)
		q.order.heads(func(n uint64) bool {
			e := q.window.At(n)
			if e == nil {
				return true
			}
			if at := q.deadline(n, e.message); at > q.now() {
				next = min(next, at)
				return true
			}
			q.die(n, e, Expired)
			q.spend()
			found = true
			return false // the lanes have changed
		})
		if !found {
			q.wakeBefore(next)
		}
	}
}

// wakeBefore is wakeAt, unless that is never.
func (q *Queue) wakeBefore(at int64) {
	if at != never {
		q.wakeAt(at)
	}
}

// spend uses up a part of the turn; when the budget is below zero, the rest is left to the next one.
func (q *Queue) spend() {
	if q.budget--; q.budget < 0 {
		q.unfinished = true
	}
}
