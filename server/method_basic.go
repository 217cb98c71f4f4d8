package server

import (
	"crypto/rand"
	"encoding/base64"

	"leveret/amqp"
	"leveret/queue"
)

// basicAck, basicNack and basicReject note a settle; see applySettles.
func (c *connection) basicAck(ch *channel, arguments []byte) error {
	var m amqp.BasicAck
	if err := m.Decode(arguments); err != nil {
		return err
	}
	c.publisher.settleLater(settle{ch, m.DeliveryTag, amqp.MethodBasicAck, queue.Ack, m.Multiple})
	return nil
}

// basicNack and basicReject only note what they are told: deliveries are settled in batches.
func (c *connection) basicNack(ch *channel, arguments []byte) error {
	var m amqp.BasicNack
	if err := m.Decode(arguments); err != nil {
		return err
	}
	c.publisher.settleLater(settle{ch, m.DeliveryTag, amqp.MethodBasicNack, unprocessed(m.Requeue, queue.Return), m.Multiple})
	return nil
}

// basicReject counts a requeue as a failure of the consumer, unlike basic.nack, as RabbitMQ's quorum queues do.
func (c *connection) basicReject(ch *channel, arguments []byte) error {
	var m amqp.BasicReject
	if err := m.Decode(arguments); err != nil {
		return err
	}
	c.publisher.settleLater(settle{ch, m.DeliveryTag, amqp.MethodBasicReject, unprocessed(m.Requeue, queue.Requeue), false})
	return nil
}

// unprocessed is what becomes of a message that the client did not process. Which way it goes back says whether it counts as a failure.
//
// [basic.nack, basic.reject]: in RabbitMQ, from 4.3 on, a reject blames the message and a nack does not.
func unprocessed(requeue bool, back queue.Outcome) queue.Outcome {
	if requeue {
		return back
	}
	return queue.Reject
}

// basicQos sets the prefetch of later consumers, or with global that of the whole channel, at once. qos-ok goes out before what there is room for now.
//
// [basic.qos global]: in RabbitMQ's meaning: false is for each consumer, true for the channel; both may hold.
func (ch *channel) basicQos(m *amqp.BasicQos) error {
	if m.PrefetchSize != 0 {
		return amqp.PrefetchSizeNotImplemented(m.PrefetchSize)
	}
	o := &ch.conn.out
	var wake []*consumer
	o.mu.Lock()
	if m.Global {
		ch.shared = int(m.PrefetchCount)
		wake = ch.roomLocked()
	} else {
		ch.prefetch = int(m.PrefetchCount)
	}
	o.replyLocked(ch.number, &amqp.BasicQosOk{})
	o.mu.Unlock()
	resume(wake)
	return nil
}

// basicConsume registers a consumer. consume-ok goes out when the queue has taken it, before the first delivery.
func (ch *channel) basicConsume(m *amqp.BasicConsume) error {
	if m.ConsumerTag == "" {
		m.ConsumerTag = generatedTag()
	}
	if err := ch.admitConsumer(m.ConsumerTag); err != nil {
		return err
	}
	if m.Queue == replyQueue {
		return ch.consumeReplies(m)
	}
	q, err := ch.queueFor(m.Queue)
	if err != nil {
		return err
	}
	c := newConsumer(ch, m.ConsumerTag)
	if err := c.takeArguments(m.Arguments, q); err != nil {
		return err
	}
	quorum := q.Options().Quorum
	prefetch, shared := ch.prefetches()
	if quorum && shared > 0 {
		return amqp.GlobalQosNotImplemented(q.Name(), ch.conn.vhost.Name())
	}
	c.NoAck, c.Prefetch = m.NoAck, prefetch
	c.Exclusive = m.Exclusive && !quorum // quorum queues ignore it
	return q.Consume(&c.Consumer, func() { ch.addConsumer(c, m.NoWait) })
}

// prefetches are that of a consumer that comes, and that of the channel as a whole.
func (ch *channel) prefetches() (consumer, shared int) {
	ch.conn.out.mu.Lock()
	defer ch.conn.out.mu.Unlock()
	return ch.prefetch, ch.shared
}

// addConsumer notes a consumer that its queue took and tells the client.
func (ch *channel) addConsumer(c *consumer, noWait bool) {
	o := &ch.conn.out
	o.mu.Lock()
	if ch.consumers == nil {
		ch.consumers = make(map[string]*consumer)
	}
	ch.consumers[c.Tag] = c
	if q := c.Queue(); q != nil {
		c.counted = ch.delivered.of(q)
	}
	if !c.NoAck {
		o.watchLocked(ch.conn.server.timeout(c.Queue(), c.timeout))
	}
	if !noWait {
		o.replyLocked(ch.number, &amqp.BasicConsumeOk{ConsumerTag: c.Tag})
	}
	o.mu.Unlock()
	c.tell("consumer.created")
}

// generatedTag is a consumer tag for clients that leave the choice to the server.
func generatedTag() string {
	var b [16]byte
	rand.Read(b[:])
	return "amq.ctag-" + base64.RawURLEncoding.EncodeToString(b[:])
}

// consumeReplies makes the channel one that gets direct replies.
func (ch *channel) consumeReplies(m *amqp.BasicConsume) error {
	if ch.reply != nil {
		return amqp.ReplyConsumerSet()
	}
	if !m.NoAck {
		return amqp.ReplyConsumerAcks()
	}
	c := newConsumer(ch, m.ConsumerTag)
	c.NoAck = true
	ch.reply = ch.conn.server.replies.register(c)
	ch.addConsumer(c, m.NoWait)
	return nil
}

// basicCancel ends a consumer; what it holds stays with the channel. An unknown tag is no error. cancel-ok comes before what the queue
// delivers to others instead, and after an auto-delete queue is gone.
func (ch *channel) basicCancel(m *amqp.BasicCancel) error {
	o := &ch.conn.out
	ok := func() {
		if !m.NoWait {
			o.reply(ch.number, &amqp.BasicCancelOk{ConsumerTag: m.ConsumerTag})
		}
	}
	o.mu.Lock()
	c := ch.consumers[m.ConsumerTag]
	o.forgetLocked(c)
	o.mu.Unlock()
	if c != nil {
		c.tell("consumer.deleted")
	}
	switch {
	case c == nil:
		ok()
	case ch.reply != nil && ch.reply.consumer == c:
		ch.reply.end()
		ch.reply = nil
		ok()
	case c.Queue().Cancel(&c.Consumer, ok):
		ch.conn.retire(c.Queue())
		ok()
	}
	return nil
}

// basicGet takes one message, or says that there is none.
func (ch *channel) basicGet(m *amqp.BasicGet) (amqp.Method, error) {
	q, err := ch.queueFor(m.Queue)
	if err != nil {
		return nil, err
	}
	if o := q.Options(); o.Quorum && o.SingleActiveConsumer {
		return nil, amqp.GetOfSingleActive(o.Name, o.VHost)
	}
	ch.conn.out.waitReplies()
	found, err := q.Get(&ch.conn.out, &getter{channel: ch, queue: q, noAck: m.NoAck, timeout: ch.conn.server.timeout(q, noTimeout)}, m.NoAck)
	if found || err != nil {
		return nil, err
	}
	ch.conn.out.mu.Lock()
	ch.delivered.of(q).GetEmpty++
	ch.conn.out.mu.Unlock()
	return &amqp.BasicGetEmpty{}, nil
}

// basicRecover puts back all that the channel holds. The answer comes before the redeliveries.
func (ch *channel) basicRecover(requeue bool, reply amqp.Method) error {
	if !requeue {
		return amqp.RecoverNotImplemented()
	}
	c := ch.conn
	o := &c.out
	o.mu.Lock()
	held := ch.unacked
	ch.unacked = queue.Window[unacked]{Few: true}
	wake := ch.roomLocked()
	if reply != nil {
		o.replyLocked(ch.number, reply)
	}
	o.mu.Unlock()
	c.settleNow(giveBack(&held, queue.Return))
	resume(wake)
	return nil
}

// settleNow hands settlements to their queues.
func (c *connection) settleNow(list []addressed) {
	for _, s := range list {
		if s.queue.Settle(s.settlement) {
			go s.queue.Run()
		}
	}
}
