package server

import (
	"slices"
	"time"

	"leveret/queue"
)

// What an operator does to a client's channels and consumers, beside the client. Whoever takes a consumer or a delivery out of the outbox is the one
// to tell its queue; the reader, which may be at the same, finds it gone.

// consumerAt finds a consumer by where it is, nil if it is not there.
func (s *Server) consumerAt(connection string, number uint16, tag string) *consumer {
	c := s.connectionNamed(connection)
	if c == nil {
		return nil
	}
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if ch := o.channelLocked(number); ch != nil {
		if found := ch.consumers[tag]; found != nil && found.Queue() != nil {
			return found
		}
	}
	return nil
}

// channelLocked finds an open channel by its number.
func (o *outbox) channelLocked(number uint16) *channel {
	i := slices.IndexFunc(o.channels, func(ch *channel) bool { return ch.number == number })
	if i < 0 {
		return nil
	}
	return o.channels[i]
}

// CancelConsumer ends a consumer as if its queue had gone: the client is told, if it understands that, and what it holds stays with it. It reports
// whether the consumer was there.
func (s *Server) CancelConsumer(connection string, number uint16, tag string) bool {
	c := s.consumerAt(connection, number, tag)
	if c == nil {
		return false
	}
	at := c.channel.conn
	if c.Queue().Cancel(&c.Consumer, c.Cancelled) { // it was the last one of an auto-delete queue
		at.retire(c.Queue())
		c.Cancelled()
	}
	return true
}

// SetConsumerPrefetch changes the prefetch of a running consumer, 0: no limit. It reports whether the consumer was there.
func (s *Server) SetConsumerPrefetch(connection string, number uint16, tag string, prefetch int) bool {
	c := s.consumerAt(connection, number, tag)
	if c == nil {
		return false
	}
	c.SetPrefetch(prefetch)
	return true
}

// SetChannelPrefetch changes the prefetch of a channel's consumers, those that come and those that run. It reports whether the channel was there.
func (s *Server) SetChannelPrefetch(name string, prefetch int) bool {
	for _, c := range s.snapshot() {
		if !c.visible.open.Load() {
			continue
		}
		if consumers, found := c.out.prefetch(name, prefetch); found {
			for _, consumer := range consumers {
				consumer.SetPrefetch(prefetch)
			}
			return true
		}
	}
	return false
}

// prefetch changes that of the consumers that come to a channel, and returns those that are there.
func (o *outbox) prefetch(name string, prefetch int) (running []*consumer, found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ch := range o.channels {
		if ch.name() != name {
			continue
		}
		ch.prefetch = prefetch
		for _, c := range ch.consumers {
			if c.Queue() != nil {
				running = append(running, c)
			}
		}
		return running, true
	}
	return nil, false
}

// RequeueConsumer puts back all that a consumer holds, as if its client had gone, and returns how much that was. The client does not know: when it
// settles one of these deliveries after all, that has no effect. It reports whether the consumer was there.
func (s *Server) RequeueConsumer(connection string, number uint16, tag string) (n int, found bool) {
	c := s.consumerAt(connection, number, tag)
	if c == nil {
		return 0, false
	}
	return c.channel.giveBack(func(u *unacked) bool { return u.consumer == c }), true
}

// RequeueMessage puts back one message that a client holds, by its number in the queue. It reports whether anybody held it.
func (s *Server) RequeueMessage(q *queue.Queue, seq uint64) bool {
	held := func(u *unacked) bool { return u.queue == q && u.seq == seq }
	for _, c := range s.snapshot() {
		if !c.visible.open.Load() {
			continue
		}
		for _, ch := range c.out.openChannels() {
			if ch.giveBack(held) > 0 {
				return true
			}
		}
	}
	return false
}

// openChannels returns a copy of the list of channels.
func (o *outbox) openChannels() []*channel {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.channels)
}

// giveBack puts back the deliveries that are wanted, without blame, and returns how many these were. To settle them later is no error.
func (ch *channel) giveBack(wanted func(*unacked) bool) (n int) {
	o := &ch.conn.out
	g := gather{outcome: queue.Return}
	o.mu.Lock()
	for tag, u, ok := ch.unacked.NextFrom(0); ok; tag, u, ok = ch.unacked.NextFrom(tag + 1) {
		if wanted(u) {
			g.add(u)
			ch.unacked.Remove(tag)
			ch.late.Add(tag)
			n++
		}
	}
	wake := ch.roomLocked()
	o.mu.Unlock()
	ch.conn.settleNow(g.take())
	resume(wake)
	return n
}

// UnackedStatus is a message that a client holds.
type UnackedStatus struct {
	Seq         uint64 // its number in the queue
	DeliveryTag uint64
	Consumer    string // its tag, empty for a message that was got
	Connection  string
	Channel     uint16
	User        string
	Age         time.Duration // since it was delivered, or its consumer asked for more time
}

// Unacked lists who holds a queue's messages, at most limit of them. Any goroutine may call it.
func (s *Server) Unacked(q *queue.Queue, limit int) []UnackedStatus {
	var list []UnackedStatus
	for _, c := range s.snapshot() {
		if c.visible.open.Load() && len(list) < limit {
			list = c.unackedOf(q, list, limit)
		}
	}
	return list
}

// unackedOf appends the deliveries of a queue that the connection's channels hold, oldest first for each, up to limit in all.
func (c *connection) unackedOf(q *queue.Queue, list []UnackedStatus, limit int) []UnackedStatus {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ch := range o.channels {
		for tag, u, ok := ch.unacked.NextFrom(0); ok && len(list) < limit; tag, u, ok = ch.unacked.NextFrom(tag + 1) {
			if u.queue != q {
				continue
			}
			st := UnackedStatus{Seq: u.seq, DeliveryTag: tag, Connection: c.name, Channel: ch.number, User: c.user.Name(), Age: c.server.age(u.at)}
			if u.consumer != nil {
				st.Consumer = u.consumer.Tag
			}
			list = append(list, st)
		}
	}
	return list
}

// age is how long ago a moment of the deliveries' clock was; a delivery that was given more time counts from then on.
func (s *Server) age(at int64) time.Duration {
	return time.Duration(max(0, s.now()-at)) * time.Millisecond
}
