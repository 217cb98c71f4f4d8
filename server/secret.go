package server

import (
	"maps"
	"slices"
	"time"

	"leveret/amqp"
)

// updateSecret takes note of a new secret. Who came with a token has to show another one. Users with a password have shown theirs and are not
// asked again; but whoever renews its secret expects that its rights are looked at anew: if the virtual host is not open to it any more the
// connection ends, and consumers of queues that it may not read from any more are cancelled.
//
// [connection.update-secret]: an extension of RabbitMQ; the rights are looked at from its version 4.3 on.
func (c *connection) updateSecret(m *amqp.ConnectionUpdateSecret) error {
	c.handOver()
	c.leaveSlowLane() // the provider of tokens may have to be asked for its keys
	if err := c.user.Renew(string(m.NewSecret)); err != nil {
		c.log.Warn("new secret refused", "error", err)
		return amqp.SecretRefused().At(m.ID())
	}
	rights, ok := c.user.Rights(c.vhost.Name())
	if !ok {
		return amqp.VHostRefused(c.vhost.Name(), c.user.Name()).At(m.ID())
	}
	c.rights = rights
	c.publisher.routes.forget() // they rest on the old rights
	c.expire()
	c.out.reply(0, &amqp.ConnectionUpdateSecretOk{})
	for _, ch := range c.channels {
		for _, consumer := range ch.allConsumers() {
			if q := consumer.Queue(); q != nil && rights.Read(amqp.QueueResource, q.Name()) != nil {
				ch.cancelConsumer(consumer)
			}
		}
	}
	return nil
}

// expire ends the connection when its user's token ends, unless it is renewed before.
func (c *connection) expire() {
	at, ok := c.user.Expires()
	switch {
	case !ok:
		return
	case c.expiry == nil:
		c.expiry = time.AfterFunc(time.Until(at), func() { c.kill(amqp.CredentialExpired()) })
	default:
		c.expiry.Reset(time.Until(at))
	}
}

// allConsumers are the channel's consumers at this moment.
func (ch *channel) allConsumers() []*consumer {
	ch.conn.out.mu.Lock()
	defer ch.conn.out.mu.Unlock()
	return slices.Collect(maps.Values(ch.consumers))
}

// cancelConsumer ends a consumer without its client's wish, and tells the client if it wants to know. What it holds stays with the channel.
func (ch *channel) cancelConsumer(c *consumer) {
	o := &ch.conn.out
	o.mu.Lock()
	o.forgetLocked(c)
	if ch.conn.client.cancelNotify {
		o.replyLocked(ch.number, &amqp.BasicCancel{ConsumerTag: c.Tag, NoWait: true})
	}
	o.mu.Unlock()
	if c.Queue().Cancel(&c.Consumer, func() {}) {
		ch.conn.retire(c.Queue())
	}
}
