package server

import (
	"leveret/amqp"
	"leveret/auth"
)

// admitChannel counts a channel in, or refuses one more where the user or the broker has enough.
//
// [channel.open]: an extension of RabbitMQ
func (c *connection) admitChannel() error {
	user, o := c.user.Name(), &c.server.options
	limit, limited := c.user.Limit(auth.MaxChannels)
	a := &c.server.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if limited && int64(a.userChannels[user]) >= limit {
		return amqp.UserChannelLimit(user, int(limit))
	}
	if o.ChannelMaxPerNode > 0 && a.channels >= o.ChannelMaxPerNode {
		return amqp.NodeChannelLimit(o.NodeName, o.ChannelMaxPerNode)
	}
	if a.userChannels == nil {
		a.userChannels = make(map[string]int)
	}
	a.channels++
	a.userChannels[user]++
	return nil
}

// releaseChannel counts a channel out.
func (c *connection) releaseChannel() {
	a := &c.server.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.channels--
	countDown(a.userChannels, c.user.Name())
}

// admitConsumer refuses a consumer whose tag the channel has already, and one more where it has enough.
func (ch *channel) admitConsumer(tag string) error {
	o := &ch.conn.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if ch.consumers[tag] != nil {
		return amqp.ReuseConsumerTag(tag)
	}
	if most := ch.conn.server.options.ConsumerMaxPerChannel; most > 0 && len(ch.consumers) >= most {
		return amqp.ConsumerLimit(most)
	}
	return nil
}
