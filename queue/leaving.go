package queue

import (
	"leveret/amqp"
	"leveret/store"
)

const (
	// forwardMost is how many messages are forwarded at once.
	forwardMost = 256
	// leavingMost and leavingBytes are how many messages, and bytes of them, are read for that at once.
	leavingMost  = 1024
	leavingBytes = 2 << 20
)

// leaving is what is on its way out of the queue: neither ready nor unacked any more. Owned by whoever runs the queue.
type leaving struct {
	list    []Departure     // in memory
	sets    [reasons]Set    // those whose messages only the store has
	read    [reasons]uint64 // those of a set below were read last
	turn    int             // set that is read next
	reading bool
	blocked bool // some had to stay: nothing is tried before wait returns
	shed    int  // of the list, how many from the front were made to stay
	bytes   int  // of these
}

// len is how many messages are on their way out.
func (l *leaving) len() int {
	if l == nil {
		return 0
	}
	n := len(l.list)
	for i := range l.sets {
		n += l.sets[i].Len()
	}
	return n
}

func (q *Queue) leavers() *leaving {
	if q.leaving == nil {
		q.leaving = new(leaving)
	}
	return q.leaving
}

// forwards reports whether a message of this queue goes anywhere when it dies.
func (q *Queue) forwards(m amqp.Message, r Reason) bool {
	return q.opts.Forwarder != nil && (q.set.DeadLetter || r == Due || m.OwnDeadLetter())
}

// die ends the life of a ready message in memory.
func (q *Queue) die(n uint64, e *entry, r Reason) {
	d := Departure{Seq: n, Message: e.message, Reason: r, chunk: e.chunk, logged: e.logged, stored: e.stored()}
	q.depart(n, e.tag)
	q.weigh(e, -e.size())
	q.window.Remove(n)
	q.part(d)
}

// part lets a message go that is not ready and not unacked any more.
func (q *Queue) part(d Departure) {
	if q.forwards(d.Message, d.Reason) {
		l := q.leavers()
		l.list = append(l.list, d)
		return
	}
	q.countDropped(d.Reason)
	q.gone(&d)
}

// gone ends what the queue and the store keep for a message.
func (q *Queue) gone(d *Departure) {
	if d.stored && (!d.told || q.spilled) {
		q.tell(d.Seq)
	} else {
		q.forgetAttempts(store.Range{First: d.Seq, Last: d.Seq})
	}
	q.releases.add(d.chunk)
}

// dieUnread ends the life of a ready message that is not in memory.
func (q *Queue) dieUnread(n uint64, r Reason) {
	if !q.away.Remove(n) {
		return
	}
	q.unweighAway(n, q.wasReturned(n))
	if q.order != nil {
		q.order.forget(n)
	}
	q.partUnread(n, r)
}

// partUnread is part for a message that only the store has.
func (q *Queue) partUnread(n uint64, r Reason) {
	if q.opts.Forwarder != nil && (q.set.DeadLetter || r == Due || q.ownDeadLetters.Load()) {
		q.leavers().sets[r].Add(n)
		return
	}
	q.countDropped(r)
	q.tell(n)
}

// leaveLater has a message go on its way out again, which a start found on disk.
func (q *Queue) leaveLater(n uint64, r Reason) {
	if q.away.Remove(n) {
		q.unweighAway(n, q.wasReturned(n))
		q.leavers().sets[r].Add(n)
		q.untended.Store(true)
	}
}

// forward hands over what is on its way out.
func (q *Queue) forward() {
	l := q.leaving
	if l == nil || q.closed || q.stopped {
		return
	}
	if !l.blocked {
		q.forwardList(l)
	}
	if l.blocked {
		q.shed(l)
		return
	}
	q.readLeaving(l)
	if q.delays != nil && l.len() == 0 {
		q.unfinished = q.unfinished || q.nextIsDue()
	}
}

// forwardList hands over the list, and keeps those that have to stay.
func (q *Queue) forwardList(l *leaving) {
	var retry func()
	kept := 0
	for at := 0; at < len(l.list); at += forwardMost {
		before := kept
		wait := q.opts.Forwarder.Forward(q, l.list[at:min(len(l.list), at+forwardMost)])
		for i := at; i < min(len(l.list), at+forwardMost); i++ {
			if q.forwarded(&l.list[i]) {
				l.list[kept] = l.list[i]
				kept++
			}
		}
		if kept > before && retry == nil {
			retry = wait
		}
	}
	clear(l.list[kept:])
	l.list, l.shed, l.bytes = l.list[:kept], 0, 0
	if l.blocked = kept > 0; !l.blocked {
		return
	}
	q.untended.Store(true) // the next Tend tries again
	if retry != nil {
		q.reads.Go(func() {
			retry()
			if q.post(unblock{}) {
				q.Run()
			}
		})
	}
}

// forwarded ends a message that was handed over, or reports true for one that has to stay on its way out.
func (q *Queue) forwarded(d *Departure) (stays bool) {
	switch {
	case d.Stays && d.To != nil:
		q.putBack(d)
		return false
	case d.Stays:
		d.Stays, d.Unsure = false, false
		return true
	case d.Lost:
		q.countDropped(d.Reason)
	default:
		q.countDeadLettered(d.Reason)
	}
	q.gone(d)
	return false
}

// unblock makes the queue try again to forward what had to stay.
type unblock struct{}

func (unblock) run(q *Queue) {
	if q.leaving != nil {
		q.leaving.blocked = false
	}
}

// shed takes messages that have to stay out of memory: the store has them. The others are copied out of their chunks, as far as there is room for
// them; what is more is dropped. Those that are due are few, wait for a moment as a rule, and are late already: they stay in memory.
func (q *Queue) shed(l *leaving) {
	kept, dropped := l.list[:l.shed], 0
	for _, d := range l.list[l.shed:] {
		switch {
		case d.stored && d.Reason == Due:
			kept = append(kept, d)
		case d.stored && d.To == nil:
			l.sets[d.Reason].Add(d.Seq)
			q.releases.add(d.chunk)
		case l.bytes > looseWindow>>q.shifted && d.To != nil: // nobody gave it up
			q.putBack(&d)
		case l.bytes > looseWindow>>q.shifted:
			dropped++
			q.countDropped(d.Reason)
			q.gone(&d)
		default:
			if d.chunk != nil {
				d.Message = append(make(amqp.Message, 0, len(d.Message)), d.Message...)
				q.releases.add(d.chunk)
				d.chunk = nil
			}
			l.bytes += len(d.Message) + entryOverhead
			kept = append(kept, d)
		}
	}
	clear(l.list[len(kept):])
	l.list, l.shed = kept, len(kept)
	if dropped > 0 && q.opts.Overrun != nil {
		q.opts.Overrun(q, dropped)
	}
}

// dropLeaving drops what is on its way out, and returns how many messages that were.
func (q *Queue) dropLeaving() (count int) {
	l := q.leaving
	if l == nil {
		return 0
	}
	count = l.len()
	for i := range l.list {
		q.gone(&l.list[i])
	}
	for i := range l.sets {
		l.sets[i].Each(0, func(r store.Range) bool {
			q.tellRange(r)
			return true
		})
	}
	q.leaving = &leaving{reading: l.reading}
	return count
}
