package server

import (
	"leveret/queue"
	"leveret/vhost"
)

// deliveries count what was delivered on a channel, by queue. Guarded by the outbox, but for the pointers that consumers have into it.
type deliveries struct {
	past  ChannelDeliveries // of queues that are gone, and what is of no queue
	by    map[*queue.Queue]*ChannelDeliveries
	crowd vhost.Crowd // a channel may outlive very many queues
}

// of returns the counters of a queue; whoever delivers from it keeps them, so that counting needs no look-up.
func (d *deliveries) of(q *queue.Queue) *ChannelDeliveries {
	if c := d.by[q]; c != nil {
		return c
	}
	if d.by == nil {
		d.by = make(map[*queue.Queue]*ChannelDeliveries)
	}
	if d.crowd.Full(len(d.by)) {
		d.forgetClosed()
		d.crowd.Looked(len(d.by))
	}
	c := new(ChannelDeliveries)
	d.by[q] = c
	return c
}

// forgetClosed adds up what was delivered from queues that have gone, with the outbox locked. A consumer that counts on is
// told by forgotten.
func (d *deliveries) forgetClosed() {
	for q, c := range d.by {
		if q.Closed() {
			d.past.add(c)
			c.forgotten = true
			delete(d.by, q)
		}
	}
}

// total is the sum of all.
func (d *deliveries) total() ChannelDeliveries {
	sum := d.past
	for _, c := range d.by {
		sum.add(c)
	}
	return sum
}

// add adds other counters to these.
func (d *ChannelDeliveries) add(other *ChannelDeliveries) {
	d.Delivered += other.Delivered
	d.DeliveredAuto += other.DeliveredAuto
	d.Got += other.Got
	d.GotAuto += other.GotAuto
	d.GetEmpty += other.GetEmpty
	d.Redelivered += other.Redelivered
	d.Acked += other.Acked
}

// counters are those that a delivery counts in. A consumer keeps those of a queue that has gone meanwhile.
func (u *unacked) counters(ch *channel) *ChannelDeliveries {
	switch {
	case u.consumer == nil:
		return ch.delivered.of(u.queue)
	case u.consumer.counted.forgotten:
		return &ch.delivered.past
	}
	return u.consumer.counted
}

// ChannelQueue is what a channel got of one queue.
type ChannelQueue struct {
	Connection uint64
	Number     uint16 // of the channel
	Queue      *queue.Queue
	Deliveries ChannelDeliveries
}

// ChannelQueues returns what open channels got of queues that are there, in no order. Any goroutine may call it.
func (s *Server) ChannelQueues() []ChannelQueue {
	var list []ChannelQueue
	for _, c := range s.snapshot() {
		if c.visible.open.Load() {
			list = c.channelQueues(list)
		}
	}
	return list
}

// channelQueues appends what each channel got of each queue that is there.
func (c *connection) channelQueues(list []ChannelQueue) []ChannelQueue {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ch := range o.channels {
		for q, counted := range ch.delivered.by {
			if !q.Closed() {
				list = append(list, ChannelQueue{c.id, ch.number, q, *counted})
			}
		}
	}
	return list
}
