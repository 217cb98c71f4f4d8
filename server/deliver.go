package server

import (
	"encoding/binary"
	"slices"

	"leveret/amqp"
	"leveret/frame"
	"leveret/queue"
)

// consumer is a queue's consumer together with its channel. It implements queue.Receiver.
type consumer struct {
	queue.Consumer
	channel *channel
	counted *ChannelDeliveries // of the channel and the queue; guarded by the outbox
	timeout int64              // ms that it may take for a delivery, as it said itself; see Server.timeout
	prefix  []byte             // of its basic.deliver frames: up to the delivery tag
	header  [19]byte           // of its header frames: up to the properties, sizes not filled in
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
	c := &consumer{channel: ch, counted: &ch.delivered.past, timeout: noTimeout}
	c.Tag = tag
	c.Outbox, c.Receiver = &ch.conn.out, c
	c.prefix = append(c.prefix, frame.TypeMethod, byte(ch.number>>8), byte(ch.number), 0, 0, 0, 0)
	c.prefix = binary.BigEndian.AppendUint32(c.prefix, uint32(amqp.MethodBasicDeliver))
	c.prefix = append(append(c.prefix, byte(len(tag))), tag...)
	c.header = [19]byte{0: frame.TypeHeader, 1: byte(ch.number >> 8), 2: byte(ch.number), 8: byte(amqp.ClassBasic)}
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
		u := ch.unacked.Place(ch.deliveryTag, false)
		u.queue, u.consumer, u.seq, u.at = c.Queue(), c, seq, o.now
	}
	c.counted.deliver(c.NoAck, redelivered)
	o.deliver(c, ch.deliveryTag, m, redelivered)
	if o.tracing {
		o.traceDelivery(ch, c.Queue(), m, redelivered)
	}
	return true
}

// deliver appends basic.deliver with its content.
func (o *outbox) deliver(c *consumer, tag uint64, m amqp.Message, redelivered bool) {
	o.start()
	address, properties, body := m.Split()
	if len(body) < shareBody && (o.conn.frameMax == 0 || len(body) <= int(o.conn.frameMax)-frame.Overhead) {
		o.deliverSmall(c, tag, redelivered, address, properties, body)
		return
	}
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

// deliverSmall appends a delivery whose body fits into one frame: all three frames in one go, with one look at the buffer's room.
func (o *outbox) deliverSmall(c *consumer, tag uint64, redelivered bool, address, properties, body []byte) {
	method := len(c.prefix) + 8 + 1 + len(address)
	size := method + 1 + frame.Overhead + headerFixed + len(properties)
	if len(body) > 0 {
		size += frame.Overhead + len(body)
	}
	b := slices.Grow(o.out.bytes, size)
	start := len(b)
	b = b[:start+size]
	o.out.bytes = b
	at := b[start:]
	n := copy(at, c.prefix)
	binary.BigEndian.PutUint32(at[3:], uint32(method-frame.HeaderSize))
	binary.BigEndian.PutUint64(at[n:], tag)
	at[n+8] = bit(redelivered)
	copy(at[n+9:], address)
	at[method] = frame.End

	at = at[method+1:]
	n = frame.HeaderSize + headerFixed + len(properties)
	copy(at, c.header[:])
	binary.BigEndian.PutUint32(at[3:], uint32(headerFixed+len(properties)))
	binary.BigEndian.PutUint64(at[frame.HeaderSize+4:], uint64(len(body)))
	copy(at[frame.HeaderSize+headerFixed:], properties)
	at[n] = frame.End

	if len(body) > 0 {
		at = at[n+1:]
		at[0], at[1], at[2] = frame.TypeBody, c.header[1], c.header[2]
		binary.BigEndian.PutUint32(at[3:], uint32(len(body)))
		copy(at[frame.HeaderSize:], body)
		at[frame.HeaderSize+len(body)] = frame.End
	}
	o.out.size += size
	o.out.deliveries += size
	o.deliveries += size
}

// bit is a flag as AMQP packs it.
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
	ch.deliveryTag++
	if !g.noAck {
		ch.unacked.Put(ch.deliveryTag, unacked{queue: g.queue, seq: seq, at: o.now}, false)
		o.watchLocked(g.timeout)
	}
	ch.delivered.of(g.queue).got(g.noAck, redelivered)
	if o.closed {
		return
	}
	if o.tracing {
		o.traceDelivery(ch, g.queue, m, redelivered)
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
	timeout int64 // ms that the client may take for the message
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
	o.forgetLocked(c)
	if ch.conn.client.cancelNotify {
		o.notices = append(o.notices, notice{ch.number, c.Tag})
	}
	if !o.held {
		o.noticesLocked()
	}
	o.mu.Unlock()
	c.tell("consumer.deleted")
	o.Flush(false)
}

// forgetLocked takes a consumer out of all that the outbox knows of it.
func (o *outbox) forgetLocked(c *consumer) {
	if c == nil {
		return
	}
	ch := c.channel
	same := func(other *consumer) bool { return other == c }
	delete(ch.consumers, c.Tag)
	ch.refused = slices.DeleteFunc(ch.refused, same)
	o.waiters = slices.DeleteFunc(o.waiters, same)
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

// noticesLocked sends the basic.cancel that consumers wait for whose queues have gone, behind what was delivered to them.
func (o *outbox) noticesLocked() {
	for _, n := range o.notices {
		o.replyLocked(n.channel, &amqp.BasicCancel{ConsumerTag: n.tag, NoWait: true})
	}
	o.notices = nil
}
