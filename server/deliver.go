package server

import (
	"encoding/binary"

	"leveret/amqp"
	"leveret/frame"
	"leveret/queue"
)

// consumer is a queue's consumer together with its channel. It implements queue.Receiver.
type consumer struct {
	queue.Consumer
	channel *channel
	prefix  []byte // of its basic.deliver frames: up to the delivery tag
}

// base is the queue's side of the consumer; that of no consumer is nil.
func (c *consumer) base() *queue.Consumer {
	if c == nil {
		return nil
	}
	return &c.Consumer
}

// newConsumer prepares a consumer of a channel.
func newConsumer(ch *channel, tag string) *consumer {
	c := &consumer{channel: ch}
	c.Tag = tag
	c.Outbox, c.Receiver = &ch.conn.out, c
	c.prefix = append(c.prefix, frame.TypeMethod, byte(ch.number>>8), byte(ch.number), 0, 0, 0, 0)
	c.prefix = binary.BigEndian.AppendUint32(c.prefix, uint32(amqp.MethodBasicDeliver))
	c.prefix = append(append(c.prefix, byte(len(tag))), tag...)
	return c
}

// Deliver appends one delivery, with the outbox locked. It refuses when there is no room; the outbox, or the channel when its prefetch
// has room again, then resumes the consumer. A channel that has ended refuses for good.
func (c *consumer) Deliver(seq uint64, m amqp.Message, redelivered bool) bool {
	ch := c.channel
	o := &ch.conn.out
	if ch.ended || o.closed {
		return false
	}
	if !o.roomLocked() {
		o.waiters = append(o.waiters, c)
		return false
	}
	if !c.NoAck && !ch.hasRoomLocked() {
		ch.refused = append(ch.refused, c)
		return false
	}
	ch.deliveryTag++
	if !c.NoAck {
		ch.unacked.Put(ch.deliveryTag, unacked{queue: c.Queue(), consumer: c, seq: seq}, false)
	}
	o.deliver(c, ch.deliveryTag, m, redelivered)
	return true
}

// deliver appends basic.deliver with its content.
func (o *outbox) deliver(c *consumer, tag uint64, m amqp.Message, redelivered bool) {
	o.start()
	address, properties, body := m.Split()
	b := o.out.bytes
	start := len(b)
	b = append(b, c.prefix...)
	b = binary.BigEndian.AppendUint64(b, tag)
	b = append(b, bit(redelivered))
	b = append(b, address...)
	binary.BigEndian.PutUint32(b[start+3:], uint32(len(b)-start-frame.HeaderSize))
	o.out.bytes = append(b, frame.End)
	size := o.out.content(c.channel.number, o.conn.frameMax, properties, body, start)
	o.out.deliveries += size
	o.deliveries += size
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// DeliverGot appends basic.get-ok with its content; see queue.Getter.
func (g *getter) DeliverGot(seq uint64, m amqp.Message, redelivered bool, remaining int) {
	ch := g.channel
	o := &ch.conn.out
	if o.closed {
		return
	}
	ch.deliveryTag++
	if !g.noAck {
		ch.unacked.Put(ch.deliveryTag, unacked{queue: g.queue, seq: seq}, false)
	}
	_, properties, body := m.Split()
	o.withContent(ch, &amqp.BasicGetOk{
		DeliveryTag: ch.deliveryTag, Redelivered: redelivered, Exchange: m.Exchange(), RoutingKey: m.RoutingKey(),
		MessageCount: uint32(remaining),
	}, properties, body)
}

// getter is a basic.get under way.
type getter struct {
	channel *channel
	queue   *queue.Queue
	noAck   bool
}

// returned appends basic.return with the message that found no queue.
func (o *outbox) returned(ch *channel, m *amqp.BasicReturn, properties, body []byte) {
	o.mu.Lock()
	if !o.closed {
		o.withContent(ch, m, properties, body)
	}
	o.mu.Unlock()
}

// withContent appends a method with content that is no delivery to a consumer: it is not held back. The outbox is locked.
func (o *outbox) withContent(ch *channel, m amqp.Method, properties, body []byte) {
	o.start()
	start := len(o.out.bytes)
	o.out.bytes = frame.AppendMethod(o.out.bytes, ch.number, m)
	o.out.content(ch.number, o.conn.frameMax, properties, body, start)
}

// Cancelled tells a client that its consumer is gone because the queue is; see queue.Receiver.
//
// [basic.cancel from the server]: an extension of RabbitMQ, for clients that announced consumer_cancel_notify.
func (c *consumer) Cancelled() {
	ch := c.channel
	o := &ch.conn.out
	o.mu.Lock()
	if ch.consumers[c.Tag] != c {
		o.mu.Unlock()
		return
	}
	delete(ch.consumers, c.Tag)
	if ch.conn.client.cancelNotify {
		o.notices = append(o.notices, notice{ch.number, c.Tag})
	}
	if !o.held {
		o.noticesLocked()
	}
	o.mu.Unlock()
	o.Flush(false)
}

// notice is a basic.cancel to be sent to the client.
type notice struct {
	channel uint16
	tag     string
}

// holdNotices keeps the notices back until the reader has answered the method that causes them: a client that deletes a queue which it
// consumes from hears delete-ok first.
func (o *outbox) holdNotices() {
	o.mu.Lock()
	o.held = true
	o.mu.Unlock()
}

// sendNotices sends what was kept back.
func (o *outbox) sendNotices() {
	o.mu.Lock()
	o.held = false
	o.noticesLocked()
	o.mu.Unlock()
}

func (o *outbox) noticesLocked() {
	for _, n := range o.notices {
		o.replyLocked(n.channel, &amqp.BasicCancel{ConsumerTag: n.tag, NoWait: true})
	}
	o.notices = nil
}
