package server

import (
	"errors"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

// queueDeclare makes a queue, or checks that the one that is there is equivalent. The counts include what this channel published before.
func (ch *channel) queueDeclare(m *amqp.QueueDeclare) (amqp.Method, error) {
	m.Queue = clean(m.Queue)
	if m.Queue == replyQueue || isReplyAddress(m.Queue) {
		return ch.declareReply(m)
	}
	for {
		q, err := ch.declared(m)
		if err != nil {
			return nil, err
		}
		n, err := q.Counts()
		if errors.Is(err, queue.ErrClosed) {
			continue // it was deleted at this moment: declare it anew, or find that it is not there
		}
		if err != nil {
			return nil, err
		}
		ch.lastName = q.Name()
		ok := &amqp.QueueDeclareOk{Queue: q.Name(), MessageCount: uint32(n.Ready), ConsumerCount: uint32(n.Consumers)}
		return unless(m.NoWait, ok, nil)
	}
}

// declared finds or makes the queue of a declare.
func (ch *channel) declared(m *amqp.QueueDeclare) (*queue.Queue, error) {
	c := ch.conn
	if m.Passive {
		return c.vhost.CheckQueue(m.Queue, c.owner(), c.rights)
	}
	return c.vhost.DeclareQueue(vhost.QueueDeclare{
		Name: m.Queue, Durable: m.Durable, Exclusive: m.Exclusive, AutoDelete: m.AutoDelete, Arguments: m.Arguments,
	}, c.owner(), c.rights)
}

// declareReply answers for the queues of direct replies, which are none: the name itself is always there, an address while
// its consumer is.
func (ch *channel) declareReply(m *amqp.QueueDeclare) (amqp.Method, error) {
	if m.Queue != replyQueue && ch.conn.server.replies.lookup(m.Queue) == nil {
		return nil, amqp.NoQueue(m.Queue, ch.conn.vhost.Name())
	}
	ok := &amqp.QueueDeclareOk{Queue: m.Queue, ConsumerCount: 1}
	return unless(m.NoWait, ok, nil)
}

// named returns the queue's name, or for an empty one that of the queue declared last on the channel.
func (ch *channel) named(name string) (string, error) {
	if name = clean(name); name != "" {
		return name, nil
	}
	if ch.lastName == "" {
		return "", amqp.NoPreviousQueue()
	}
	return ch.lastName, nil
}

// bindingNames resolves empty names: the queue declared last, and, where the key is empty as well, its name as the key.
func (ch *channel) bindingNames(given, key string) (string, string, error) {
	name, err := ch.named(given)
	if err != nil {
		return "", "", err
	}
	if given == "" && key == "" {
		key = name
	}
	if isReplyAddress(name) && ch.conn.server.replies.lookup(name) != nil {
		return "", "", amqp.VolatileBinding()
	}
	return name, key, nil
}

// queueBind binds a queue; an empty name is the one that the channel declared last.
func (ch *channel) queueBind(m *amqp.QueueBind) error {
	c := ch.conn
	name, key, err := ch.bindingNames(m.Queue, m.RoutingKey)
	if err != nil {
		return err
	}
	return c.vhost.BindQueue(name, clean(m.Exchange), key, m.Arguments, c.owner(), c.rights)
}

// queueUnbind takes a binding away, by the same rules for names.
func (ch *channel) queueUnbind(m *amqp.QueueUnbind) error {
	c := ch.conn
	name, key, err := ch.bindingNames(m.Queue, m.RoutingKey)
	if err != nil {
		return err
	}
	return c.vhost.UnbindQueue(name, clean(m.Exchange), key, m.Arguments, c.owner(), c.rights)
}

// queueFor finds a queue that the client reads from: to consume, get or purge.
func (ch *channel) queueFor(name string) (*queue.Queue, error) {
	c := ch.conn
	name, err := ch.named(name)
	if err != nil {
		return nil, err
	}
	if err := c.rights.Read(amqp.QueueResource, name); err != nil {
		return nil, err
	}
	return c.vhost.Queue(name, c.owner())
}

// queuePurge drops what is ready; what is unacked stays with who has it.
func (ch *channel) queuePurge(m *amqp.QueuePurge) (amqp.Method, error) {
	q, err := ch.queueFor(m.Queue)
	if err != nil {
		return nil, err
	}
	n, err := q.Purge()
	if err == nil && n > 0 && lastingQueue(q) {
		ch.conn.audit("queue.purged", q.Name(), "messages", n)
	}
	return unless(m.NoWait, &amqp.QueuePurgeOk{MessageCount: uint32(n)}, err)
}

// queueDelete answers when the queue is gone, with how many ready messages went with it; 0 if there was none.
func (ch *channel) queueDelete(m *amqp.QueueDelete) (amqp.Method, error) {
	c := ch.conn
	name, err := ch.named(m.Queue)
	if err != nil {
		return nil, err
	}
	lasting := lastingQueue(c.vhost.AnyQueue(name))
	n, err := c.vhost.DeleteQueue(name, m.IfUnused, m.IfEmpty, c.owner(), c.rights)
	if err == nil && lasting {
		c.audit("queue.deleted", name, "messages", n)
	}
	return unless(m.NoWait, &amqp.QueueDeleteOk{MessageCount: uint32(n)}, err)
}
