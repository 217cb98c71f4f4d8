package server

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"sync"
	"sync/atomic"

	"leveret/amqp"
)

// replyQueue is the queue that a client consumes from to get replies without a queue of its own, and names as reply-to.
//
// [direct reply-to]: an extension of RabbitMQ. Requests carry an address that only the requester's channel has; what is published to it on
// the default exchange goes straight to that channel.
const replyQueue = "amq.rabbitmq.reply-to"

// replyPrefix is how reply addresses begin.
const replyPrefix = replyQueue + "."

// replyConsumer is a channel's consumer of direct replies.
type replyConsumer struct {
	consumer *consumer
	address  string
	registry *replies
	gone     atomic.Bool
}

// replies finds the consumers of direct replies by their addresses.
type replies struct {
	by sync.Map // string -> *replyConsumer
}

// replyTo is a direct reply that was not handed over.
type replyTo struct {
	to      *replyConsumer
	message amqp.Message
}

// register gives a consumer an address that nobody can guess.
func (r *replies) register(c *consumer) *replyConsumer {
	var secret [16]byte
	rand.Read(secret[:])
	rc := &replyConsumer{
		consumer: c, registry: r,
		address: replyPrefix + base64.RawURLEncoding.EncodeToString(secret[:]),
	}
	r.by.Store(rc.address, rc)
	return rc
}

// end makes the address invalid.
func (rc *replyConsumer) end() {
	rc.gone.Store(true)
	rc.registry.by.Delete(rc.address)
}

// isReplyAddress reports whether a name is, or was, an address of direct replies.
func isReplyAddress(name string) bool { return strings.HasPrefix(name, replyPrefix) }

// lookup returns the consumer of an address, nil if it is gone.
func (r *replies) lookup(address string) *replyConsumer {
	v, ok := r.by.Load(address)
	if !ok {
		return nil
	}
	return v.(*replyConsumer)
}

// find returns the consumer that a message is a direct reply to, nil if it is none. A message to one that is gone goes to lost.
func (r *replies) find(m amqp.Message) *replyConsumer {
	if len(m.Exchange()) > 0 || !isReplyAddress(string(m.RoutingKey())) {
		return nil
	}
	if rc := r.lookup(string(m.RoutingKey())); rc != nil {
		return rc
	}
	return lost
}

// lost stands for every requester that is gone: replies to it are dropped.
var lost = func() *replyConsumer {
	rc := new(replyConsumer)
	rc.gone.Store(true)
	return rc
}()

// deliverReplies hands direct replies to their requesters' connections.
func (c *connection) deliverReplies() {
	p := &c.publisher
	if len(p.replies) == 0 {
		return
	}
	for i, r := range p.replies {
		p.replies[i] = replyTo{}
		if o := r.to.deliver(r.message); o == nil {
			c.counted.ReplyLost++
			c.server.drops.note(c, dropReplyLost, r.message)
		} else {
			c.counted.Replied++
			p.touched = append(p.touched, o)
		}
	}
	p.replies = p.replies[:0]
	direct := len(p.touched) == 1
	for i, o := range p.touched {
		o.Flush(direct)
		p.touched[i] = nil
	}
	p.touched = p.touched[:0]
}

// deliver delivers a reply and returns the outbox to flush. It returns nil if the requester is gone, or reads so little that replies pile
// up without end.
func (rc *replyConsumer) deliver(m amqp.Message) *outbox {
	if rc.gone.Load() {
		return nil
	}
	ch := rc.consumer.channel
	o := &ch.conn.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if rc.gone.Load() || ch.ended || o.closed || o.out.size > 2*int(ch.conn.server.replyRoom.Load()) {
		return nil
	}
	ch.deliveryTag++
	before := o.deliveries
	o.deliver(rc.consumer, ch.deliveryTag, m, false)
	o.out.deliveries -= o.deliveries - before
	o.deliveries = before
	return o
}
