package queue

import (
	"sync"

	"leveret/amqp"
)

type remove struct {
	ifUnused, ifEmpty bool
	ready             int
	err               error
	done              sync.WaitGroup
}

// Delete closes the queue and drops what it holds; its consumers are told. The caller then retires the queue's name. It returns the number
// of ready messages, a 406 when a condition forbids it, and ErrClosed when the queue had closed before.
//
// [queue.delete if-empty, if-unused]: ready messages count, unacked ones do not; emptiness is looked at first.
func (q *Queue) Delete(ifUnused, ifEmpty bool) (ready int, err error) {
	r := &remove{ifUnused: ifUnused, ifEmpty: ifEmpty}
	q.call(r, &r.done)
	return r.ready, r.err
}

func (r *remove) run(q *Queue) {
	defer r.done.Done()
	switch {
	case q.closed:
		r.err = ErrClosed
	case r.ifEmpty && q.ready() > 0:
		r.err = amqp.QueueNotEmpty(q.opts.Name, q.opts.VHost)
	case r.ifUnused && len(q.consumers.all) > 0:
		r.err = amqp.QueueInUse(q.opts.Name, q.opts.VHost)
	default:
		r.ready = q.ready()
		q.close()
	}
}

// close ends the queue's life: no message gets in any more, consumers are told, all messages go. Unacked ones may still be settled, to no effect.
func (q *Queue) close() {
	q.closed = true
	q.mailbox.shut()
	q.lifetime.Add(1)
	for _, c := range q.consumers.all {
		c.registered, c.linked = false, false
		c.Receiver.Cancelled()
	}
	q.consumers = consumers{}
	q.unacked, q.service = 0, nil
	q.clock.stop()
	q.forget()
	if q.scratch != nil {
		q.scratch.settled = q.scratch.settled[:0] // the store drops the queue as a whole
	}
	totals := q.counted
	q.counted, q.departed = Totals{}, true
	q.publishStats()
	q.opts.Ledger.add(&totals)
}
