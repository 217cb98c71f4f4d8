package queue

import (
	"sync"

	"leveret/amqp"
)

// Getter is the channel's side of a basic.get. The server implements it.
type Getter interface {
	// DeliverGot takes the message, numbered seq; remaining is the number of ready messages left. The outbox is locked.
	DeliverGot(seq uint64, m amqp.Message, redelivered bool, remaining int)
}

type get struct {
	outbox Outbox
	getter Getter
	noAck  bool
	found  bool
	err    error
	done   sync.WaitGroup
}

// Get hands the first ready message to the getter, whatever its prefetch. It reports false when there is none, and blocks until the
// queue has answered.
func (q *Queue) Get(o Outbox, g Getter, noAck bool) (found bool, err error) {
	s := &get{outbox: o, getter: g, noAck: noAck}
	q.call(s, &s.done)
	return s.found, s.err
}

func (s *get) run(q *Queue) {
	if len(q.gets) > 0 || !q.canGet() { // behind those that wait already, or a later get would have the earlier message
		q.gets = append(q.gets, s) // answered when the head was read
		return
	}
	s.answer(q)
}

func (s *get) answer(q *Queue) {
	defer s.done.Done()
	if q.closed {
		s.err = ErrClosed
		return
	}
	q.used()
	q.expire()
	n, e, ok := q.firstToGet()
	for ok && q.overdue(n, e.message) { // it is no head, where the other groups' are
		q.die(n, e, Expired)
		n, e, ok = q.firstToGet()
	}
	if !ok {
		q.counted.GetEmpty++
		return
	}
	s.found = true
	q.serving()
	q.service.meter.noteFirst(e.message.Published(), e.redelivered)
	q.service.holding.look(e.message)
	s.outbox.Lock()
	q.touch(s.outbox)
	m := e.message
	if e.redelivered && !q.attempts.acquired.empty() {
		m = q.withAttempts(n, m)
	}
	s.getter.DeliverGot(n, m, e.redelivered, q.ready()-1)
	s.outbox.Unlock()
	if e.redelivered {
		q.counted.Redelivered++
	}
	if s.noAck {
		q.counted.GotAuto++
	} else {
		q.counted.Got++
	}
	q.measureWait(q.now())
	q.serve(n, e, nil, s.noAck)
	q.leave(n, e, s.noAck)
}

// canGet reports whether a get can be answered without a read from the disk.
func (q *Queue) canGet() bool {
	if q.groups == nil {
		return q.ready() == 0 || q.firstIsHere()
	}
	if _, _, _, ok := q.groups.choose(q, true); ok || !q.groups.unread {
		return true
	}
	return !q.reading && q.groupsFull() // all that may be in memory is held by others
}

// firstToGet is the first message that may be got.
func (q *Queue) firstToGet() (n uint64, e *entry, ok bool) {
	if q.groups == nil {
		return q.first()
	}
	n, e, _, ok = q.groups.choose(q, true)
	return n, e, ok
}
