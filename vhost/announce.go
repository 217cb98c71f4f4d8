package vhost

import (
	"time"

	"leveret/amqp"
)

// The exchanges on which the broker tells of what it does. Clients bind to them, and can't publish there.
const (
	TraceExchange = "amq.rabbitmq.trace" // of messages, in the virtual host that they are in
	EventExchange = "amq.rabbitmq.event" // of what happens in the broker, in the default virtual host
	LogExchange   = "amq.rabbitmq.log"   // what is in the log, there too
)

// Tracing reports whether messages in this virtual host are to be traced. It costs an atomic load.
func (v *VHost) Tracing() bool { return v.metadata.Load().Tracing }

// Listened reports whether anything is bound to an exchange, so that it is worth while to announce something there.
func (v *VHost) Listened(exchange string) bool {
	x := v.Exchange([]byte(exchange))
	return x != nil && x.Len() > 0
}

// Announce publishes a message of the broker's own to one of its exchanges. It waits for nothing: messages for durable queues are on their
// way to the log when it returns. The key is cut to what a short string holds; the body is copied.
func (v *VHost) Announce(exchange, key string, p *amqp.Properties, body []byte) {
	x := v.Exchange([]byte(exchange))
	if x == nil {
		return
	}
	m := amqp.AppendMessageAddress(nil, []byte(exchange), []byte(key[:min(len(key), maxKey)]))
	properties := p.AppendTo(nil)
	m = append(append(m, properties...), body...)
	var index amqp.PropertyIndex
	if err := amqp.ScanProperties(properties, &index); err != nil {
		v.opts.Log.Error("a message of the broker's own was not published", "exchange", exchange, "key", key, "error", err)
		return
	}
	amqp.Message(m).SetProperties(len(properties), &index, time.Now().UnixMilli())
	h := handovers.Get().(*handover)
	h.vhost, h.index = v, index
	r := &h.routing
	r.Later, r.Forwarded = false, false
	r.Keys, r.Headers = append(r.Keys[:0], amqp.Message(m).RoutingKey()), index.Headers
	v.Route(x, r)
	if len(r.Queues) > 0 {
		h.add(m, nil, 0)
		h.send(func(int) {}) // a queue that has no room for what the broker tells goes without
	}
	r.Headers = nil
	h.vhost, h.index = nil, amqp.PropertyIndex{}
	handovers.Put(h)
}

// maxKey is how long, in bytes, a routing key may be.
const maxKey = 255
