package queue

import (
	"errors"
	"sync"

	"leveret/amqp"
)

// ErrClosed is returned by commands that found the queue closed.
var ErrClosed = errors.New("queue is closed")

type subscribe struct {
	consumer *Consumer
	accepted func()
	err      error
	done     sync.WaitGroup
}

// Consume registers a consumer, or refuses it because of an exclusive one. accepted is called when the queue took it and before the
// first delivery; it must not wait. Consume blocks until the queue has answered.
//
// [basic.consume in-use]: an exclusive consumer wants the queue for itself alone, and keeps it.
func (q *Queue) Consume(c *Consumer, accepted func()) error {
	s := &subscribe{consumer: c, accepted: accepted}
	q.call(s, &s.done)
	return s.err
}

func (s *subscribe) run(q *Queue) {
	defer s.done.Done()
	c := s.consumer
	switch {
	case q.closed:
		s.err = ErrClosed
	case q.consumers.exclusive(), c.Exclusive && (len(q.consumers.all) > 0 || q.opts.SingleActiveConsumer):
		s.err = amqp.ExclusiveUse(q.opts.Name, q.opts.VHost)
	default:
		c.queue, c.asked = q, c.Prefetch
		q.limitPrefetch(c)
		s.accepted()
		q.consumers.single, q.consumers.yields = q.opts.SingleActiveConsumer, q.opts.Quorum
		q.consumers.add(c)
		q.look(nil)
	}
}

type cancel struct {
	consumer *Consumer
	gone     func()
	closed   bool
	done     sync.WaitGroup
}

// Cancel takes a consumer out; its unacked messages stay with its channel. gone is called when nothing more is delivered to it, and
// before the queue delivers to others what it might have got; it must not wait. True means that this was the last consumer of an auto-delete
// queue, which closed itself: gone was not called, and the caller has to retire the queue. Cancel blocks until the queue has answered.
func (q *Queue) Cancel(c *Consumer, gone func()) (closed bool) {
	s := &cancel{consumer: c, gone: gone}
	q.call(s, &s.done)
	return s.closed
}

func (s *cancel) run(q *Queue) {
	defer s.done.Done()
	q.consumers.remove(s.consumer)
	q.look(nil)
	q.used()
	if s.closed = q.closeUnused(); !s.closed {
		s.gone()
	}
}

// Detachment is what a channel that ends has at one queue: its consumers, and the messages it holds, as requeues.
type Detachment struct {
	Queue     *Queue
	Consumers []*Consumer
	Held      []*Settlement
	Keep      bool // the broker stops: an auto-delete queue is no less wanted afterwards
	Closed    bool // set by Detach: the queue closed itself, the caller has to retire it

	done *sync.WaitGroup
}

// Detach ends a channel at all queues where it has consumers or messages: in one step a queue, consumers go and messages come back, so
// that nothing is delivered to the channel again. It blocks until all queues have answered.
func Detach(detachments []*Detachment) {
	var done sync.WaitGroup
	done.Add(len(detachments))
	for _, d := range detachments {
		d.done = &done
		if d.Queue.post(d) {
			d.Queue.RunHere()
		}
	}
	done.Wait()
}

func (d *Detachment) run(q *Queue) {
	defer d.done.Done()
	q.consumers.remove(d.Consumers...)
	q.look(nil)
	q.used()
	for _, s := range d.Held {
		s.run(q)
	}
	d.Closed = !d.Keep && q.closeUnused()
}

// closeUnused closes an auto-delete queue that has lost its last consumer; true if this call did.
//
// [queue.declare auto-delete]: never before it had a consumer.
func (q *Queue) closeUnused() bool {
	if q.closed || !q.opts.AutoDelete || !q.consumers.had || len(q.consumers.all) > 0 {
		return false
	}
	q.close()
	return true
}
