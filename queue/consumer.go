package queue

import (
	"math"

	"leveret/amqp"
)

// Outbox is the outgoing side of a connection: what a queue needs of it to deliver. The server implements it.
type Outbox interface {
	// Lock is held around Receiver.Deliver and Receiver.DeliverGot, and by the queue for as many messages in a row as go to one connection.
	Lock()
	Unlock()
	// Touch is called with the lock held, before the first delivery; it returns true if the caller has to Flush later.
	Touch() bool
	// Flush sends what was appended, without waiting for the socket. direct says that the caller has nothing better to do than to
	// write by itself what can be written at once. The lock is not held.
	Flush(direct bool)
}

// Receiver is the channel's side of a consumer. The server implements it; its methods are called by whoever runs the queue.
type Receiver interface {
	// Deliver takes one message, numbered seq in its queue, with the outbox locked. False: it has no room, or the channel's limit is
	// reached; the receiver then calls Consumer.Resume when that has changed.
	Deliver(seq uint64, m amqp.Message, redelivered bool) bool
	// Cancelled tells that the queue is gone. The outbox is not locked.
	Cancelled()
}

// Consumer is one consumer of a queue. The exported fields are set before Consume and not changed after.
type Consumer struct {
	Tag       string
	NoAck     bool
	Exclusive bool
	Priority  int
	Prefetch  int // unacked messages at most, 0: no limit; does not bind consumers without acknowledgement
	Arguments amqp.Table
	Outbox    Outbox
	Receiver  Receiver

	// Owned by whoever runs the queue.
	queue      *Queue
	class      *class
	unacked    int
	flushed    uint64 // turn that flushes its outbox at the end
	tries      tries
	effective  int32     // prefetch that the settings leave of it; read by anyone
	asked      int       // prefetch that the client asked for
	groups     groupList // those with ready messages of which it holds others
	nextHolder *Consumer
	stalled    bool // the receiver refused a message and has not resumed yet
	registered bool
	linked     bool // stands in its priority class's rotation
	next, prev *Consumer
}

// Queue is the queue that the consumer was registered with, nil before.
func (c *Consumer) Queue() *Queue { return c.queue }

// hasRoom reports whether the queue's own limits let another message go to the consumer.
func (c *Consumer) hasRoom() bool {
	return !c.stalled && (c.NoAck || c.Prefetch == 0 || c.unacked < c.Prefetch)
}

// room is how many messages more the queue's own limits let go to the consumer.
func (c *Consumer) room() int {
	switch {
	case c.stalled:
		return 0
	case c.NoAck || c.Prefetch == 0:
		return math.MaxInt
	}
	return max(0, c.Prefetch-c.unacked)
}

// Resume tells the queue that a receiver which refused a message has room again. It may be called from any goroutine and does not wait;
// the queue runs on a goroutine of its own if it was idle.
func (c *Consumer) Resume() {
	if c.queue.post(resume{c}) {
		go c.queue.Run()
	}
}

type resume struct{ consumer *Consumer }

func (r resume) run(q *Queue) {
	r.consumer.stalled = false
	q.consumers.update(r.consumer)
	q.look(r.consumer)
}

// look makes a queue with groups look again for what may go: a consumer has room, or, if it is nil, any have, have come or have gone.
func (q *Queue) look(c *Consumer) {
	switch {
	case q.groups == nil:
	case c != nil:
		q.groups.look(c)
	default:
		q.groups.waiting = false
		q.groups.letGo()
		for _, c := range q.consumers.all {
			q.groups.look(c)
		}
	}
}
