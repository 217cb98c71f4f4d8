package queue

import (
	"leveret/amqp"
	"leveret/store"
)

// Reason is why a message leaves its queue for another one, or for good.
type Reason uint8

// The reasons. All but Due and Sent are deaths.
const (
	Rejected      Reason = iota // a consumer did not want it, nor back into the queue
	Expired                     // its time was up
	MaxLength                   // the queue was too long
	DeliveryLimit               // it came back too often
	Due                         // it was delayed, and its time has come
	Sent                        // somebody sent it to another place, by Queue.Send
	reasons
)

// Reasons is how many reasons there are.
const Reasons = reasons

// String is the reason as clients read it in the header x-death.
func (r Reason) String() string {
	return [...]string{"rejected", "expired", "maxlen", "delivery_limit", "due", "sent"}[r]
}

// Departure is a message that leaves its queue.
type Departure struct {
	Seq     uint64
	Message amqp.Message // valid during Forward only
	Reason  Reason
	To      *Destination // of a message that was Sent, else nil
	// Stays is set by the Forwarder for a message that can't go yet.
	Stays bool
	// Lost is set by the Forwarder for a message that no queue took, for none is bound or all refused it: it counts as dropped.
	Lost bool
	// Unsure is set by the Forwarder for a message that may turn out to stay after the log was told of the others.
	Unsure bool

	pull        *pull // that Sent it
	chunk       *Chunk
	tag         uint32
	redelivered bool
	logged      bool // the log has it
	stored      bool // the store has it, in the log or put aside
	told        bool // the log knows already that it is gone
}

// Forwarder is where messages go that leave a queue for others: those that die, and those that are due.
type Forwarder interface {
	// Forward hands messages over to the queues that they go to. It must not wait. Those that can't go yet are marked as staying, and
	// tried again when wait, which is called on a goroutine and may block, returns; at the latest after a second. The queue is the
	// caller's, which runs it.
	Forward(q *Queue, list []Departure) (wait func())
}

// Leave adds to a batch of the log, which holds the messages that departures have become, that they are gone from here, so that a crash leaves the
// one or the other. The Forwarder calls it, once a batch, when it knows which of them stay.
func (q *Queue) Leave(b *store.Batch, list []Departure) {
	if !q.logging {
		return
	}
	var ranges []store.Range
	for i := range list {
		d := &list[i]
		if d.Stays || d.Unsure || !d.logged {
			continue
		}
		d.told = true
		if last := len(ranges) - 1; last >= 0 && ranges[last].Last+1 == d.Seq {
			ranges[last].Last = d.Seq
		} else {
			ranges = append(ranges, store.Range{First: d.Seq, Last: d.Seq})
		}
	}
	if len(ranges) > 0 {
		b.Settle(q.opts.ID, ranges)
	}
}
