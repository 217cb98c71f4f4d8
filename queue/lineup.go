package queue

import "leveret/amqp"

// lineUp puts the messages of a batch, from one on, in their places behind all others, in memory. It looks into none of them if it need not: they may be in
// another processor's cache, or in none any more.
func (q *Queue) lineUp(b *Batch, from int) {
	summed := from == 0 && !q.logs(b.traits)
	if summed {
		q.hereBodies += int64(b.bodies)
		q.loose.bodies += int64(b.bodies)
	}
	for i := from; i < len(b.messages); i++ {
		m, logged, body := &b.messages[i], false, 0
		if !summed {
			logged, body = q.Logs(m.message), len(m.message.Body())
		}
		q.add(b.first+uint64(i), m, b.tag(i), logged, body)
	}
	q.trim()
	q.spill()
}

// add puts a ready message in its place behind all others, in memory. body is 0 if it has been counted.
func (q *Queue) add(n uint64, m *item, tag uint32, logged bool, body int) {
	e := q.window.Place(n, true)
	e.message, e.chunk, e.tag, e.logged = m.message, m.chunk, tag, logged
	if logged {
		q.counted.DiskWrites++
		e.tail = q.tail > 0 || q.away.Len() > 0 || q.head >= headWindow>>q.shifted
		if e.tail && q.tail == 0 {
			q.tailFrom = n
		}
	} else {
		q.loose.place(n, e, q.away.Len() > 0, looseWindow>>q.shifted/2)
	}
	q.weighBody(e, e.size(), body)
	if e.tail && q.groups != nil {
		q.groups.addTail(n, tag)
	} else {
		q.enter(n, tag, true)
	}
	q.noteDeadline(n, m.message)
}

// mark notes what the queue has to know if it holds messages like these, or a consumer does. It is called before anybody gets them.
func (q *Queue) mark(t amqp.Traits) {
	q.lifetimes.expiring = q.lifetimes.expiring || t.Expires()
	if t.OwnDeadLetter() && !q.ownDeadLetters.Load() {
		q.ownDeadLetters.Store(true)
	}
}
