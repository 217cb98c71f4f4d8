package server

import (
	"slices"

	"leveret/amqp"
	"leveret/frame"
	"leveret/queue"
	"leveret/vhost"
)

// unackedLimit is how many deliveries a channel may have outstanding; more are not delivered until some are settled.
const unackedLimit = 1_000_000

// channel is one channel of a connection. It belongs to the connection's reader, but for what stands under the outbox.
type channel struct {
	conn     *connection
	number   uint16
	closing  bool // channel.close was sent; close-ok is awaited, and all else is dropped
	content  content
	lastName string // name of the queue declared last
	tx       *transaction
	reply    *replyConsumer

	confirming  bool
	published   uint64   // publishes since confirm.select, so the last one's tag
	refusedTags []uint64 // those that a queue refused and the client was not told of
	toConfirm   bool     // stands in the publisher's list of channels with new publishes
	toSettle    bool     // has settles that were not looked at yet

	counted  ChannelPublishes // since the channel was opened
	counting bool             // stands in the publisher's list of channels that have counted something
	shown    shownPublishes   // as of the last batch, for anyone
	sources  sources          // by exchange

	// Guarded by the outbox.
	ended       bool // nothing is delivered any more
	deliveryTag uint64
	unacked     queue.Window[unacked]
	delivered   deliveries
	prefetch    int         // of consumers that come later
	shared      int         // prefetch for the whole channel, 0: none
	refused     []*consumer // consumers refused because of it
	consumers   map[string]*consumer
	confirms    confirms
	late        queue.Set // tags of deliveries that were taken back: to settle them is no error
	warned      int64     // when it was last warned of a delivery's timeout, by the server's clock
}

// unacked is one delivery that the client has not settled.
type unacked struct {
	queue    *queue.Queue
	consumer *consumer // nil: got
	seq      uint64
	at       int64 // when, by the server's clock in ms; later, if it was given more time
}

// channelFrame handles what comes on any channel but 0.
func (c *connection) channelFrame(f frame.Frame) error {
	ch := c.channel(f.Channel)
	if ch == nil {
		return c.unopenedFrame(f)
	}
	if f.Type == frame.TypeMethod && ch.content.state.Done() {
		return c.channelMethod(ch, f.MethodID(), f.Arguments())
	}
	return c.contentFrame(ch, f)
}

// channel returns the open channel of that number; mostly it is the one of the frame before.
func (c *connection) channel(number uint16) *channel {
	if c.last != nil && c.last.number == number {
		return c.last
	}
	ch := c.channels[number]
	if ch != nil {
		c.last = ch
	}
	return ch
}

// unopenedFrame handles a frame on a channel that is not open.
//
// [channel.open]: nothing but channel.open may come first. A late close-ok is no harm.
func (c *connection) unopenedFrame(f frame.Frame) error {
	if slices.Contains(c.closed, f.Channel) && !(f.Type == frame.TypeMethod && f.MethodID() == amqp.MethodChannelOpen) {
		return nil
	}
	if f.Type != frame.TypeMethod {
		return amqp.ExpectedMethod()
	}
	id := f.MethodID()
	switch id {
	case amqp.MethodChannelOpen:
		c.closed = slices.DeleteFunc(c.closed, func(number uint16) bool { return number == f.Channel })
		if c.limit > 0 && len(c.channels) >= int(c.limit) {
			return amqp.ChannelLimit(len(c.channels), int(c.limit))
		}
		m := new(amqp.ChannelOpen)
		if err := m.Decode(f.Arguments()); err != nil {
			return err
		}
		if err := c.admitChannel(); err != nil {
			return err
		}
		c.channels[f.Channel] = c.out.addChannel(&channel{conn: c, number: f.Channel, unacked: queue.Window[unacked]{Few: true}})
		c.counted.ChannelsOpened++
		c.tellChannel("channel.created", c.channels[f.Channel])
		c.out.reply(f.Channel, &amqp.ChannelOpenOk{})
		return nil
	case amqp.MethodChannelCloseOk:
		return nil
	}
	if id.Class() == amqp.ClassConnection {
		return amqp.UnimplementedMethod().At(id)
	}
	return amqp.ExpectedChannelOpen().At(id)
}

// addChannel makes a new channel visible.
func (o *outbox) addChannel(ch *channel) *channel {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.channels = append(o.channels, ch)
	return ch
}

// failChannel closes a channel because of an error: what it holds comes back first.
//
// [channel.close]: after it nothing on the channel counts until close-ok, and the number is not free before.
func (c *connection) failChannel(ch *channel, e *amqp.Error) {
	c.endChannel(ch)
	ch.closing = true
	c.out.reply(ch.number, &amqp.ChannelClose{ReplyCode: e.Code, ReplyText: e.Text, ClassID: e.Class, MethodID: e.Method})
}

// endChannel takes a channel out of service: nothing is delivered to it any more, its consumers go and its messages come back.
func (c *connection) endChannel(ch *channel) {
	if ch.closing {
		return
	}
	c.releaseChannel()
	c.publisher.forget(ch)
	if ch.tx != nil {
		ch.tx.publishes = nil
	}
	list := c.out.detach(ch)
	stopping := c.server.stopping.Load()
	for _, d := range list {
		d.Keep = stopping
	}
	c.detach(list)
	c.counted.ChannelsClosed++
	c.tellChannel("channel.closed", ch)
}

// detach takes consumers and deliveries from their queues, and finishes the deletion of queues that closed themselves because of it.
func (c *connection) detach(list []*queue.Detachment) {
	queue.Detach(list)
	for _, d := range list {
		if d.Closed {
			c.retire(d.Queue)
		}
	}
}

// retire finishes the deletion of a queue that closed itself.
func (c *connection) retire(q *queue.Queue) {
	if err := c.vhost.Retire(q); err != nil {
		c.log.Error("a queue that is gone could not be removed from the store", "queue", q.Name(), "error", err)
	}
}

// detach marks a channel as ended and gathers what it has at which queue.
func (o *outbox) detach(ch *channel) []*queue.Detachment {
	consumers, held := o.takeAll(ch)
	var d detachments
	for _, c := range consumers {
		c.tell("consumer.deleted")
		d.consumer(c)
	}
	d.deliveries(giveBack(&held, queue.Requeue))
	return d.list
}

// detachments gather consumers and deliveries by their queues.
type detachments struct {
	list []*queue.Detachment
	at   map[*queue.Queue]*queue.Detachment
}

// of is the detachment from one queue: a queue hears once of all that a channel leaves behind.
func (d *detachments) of(q *queue.Queue) *queue.Detachment {
	one := d.at[q]
	if one == nil {
		one = &queue.Detachment{Queue: q}
		if d.at == nil {
			d.at = make(map[*queue.Queue]*queue.Detachment)
		}
		d.at[q] = one
		d.list = append(d.list, one)
	}
	return one
}

// consumer adds a consumer that ends.
func (d *detachments) consumer(c *consumer) {
	if q := c.Queue(); q != nil { // consumers of direct replies have none
		of := d.of(q)
		of.Consumers = append(of.Consumers, &c.Consumer)
	}
}

// deliveries adds what was delivered and not settled, and goes back.
func (d *detachments) deliveries(list []addressed) {
	for _, s := range list {
		of := d.of(s.queue)
		of.Held = append(of.Held, s.settlement)
	}
}

// giveBack turns deliveries into settlements that put them back, by one outcome or the other.
func giveBack(held *queue.Window[unacked], o queue.Outcome) []addressed {
	g := gather{outcome: o}
	for n, u, ok := held.NextFrom(0); ok; n, u, ok = held.NextFrom(n + 1) {
		g.add(u)
	}
	return g.take()
}

// takeAll takes everything that the outbox has of a channel that ends, so that it can be looked at without the lock.
func (o *outbox) takeAll(ch *channel) (map[string]*consumer, queue.Window[unacked]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	ch.ended = true
	ch.restoreLocked()
	if ch.reply != nil {
		ch.reply.end()
	}
	o.channels = slices.DeleteFunc(o.channels, func(other *channel) bool { return other == ch })
	consumers, held := ch.consumers, ch.unacked
	ch.unacked = queue.Window[unacked]{Few: true}
	ch.consumers, ch.refused = nil, nil
	o.waiters = slices.DeleteFunc(o.waiters, func(c *consumer) bool { return c.channel == ch })
	ch.confirms = confirms{}
	o.confirming = slices.DeleteFunc(o.confirming, func(other *channel) bool { return other == ch })
	return consumers, held
}

// owner is the connection as the owner of exclusive queues.
func (c *connection) owner() vhost.Owner { return vhost.Owner(c.id) }
