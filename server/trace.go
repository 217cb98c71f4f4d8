package server

import (
	"math"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

// The firehose: while a virtual host is traced, a copy of each message that comes in and of each delivery goes to its trace exchange, with
// headers that tell all about it. Readers and queues ask once a batch whether that is so. A copy of a delivery is made under the outbox's
// lock, where the delivery is, and published after it.

// trace is a copy on its way to the trace exchange.
type trace struct {
	key     string
	headers amqp.Table
	body    []byte
}

// traced reports whether messages of this connection are to be traced.
func (c *connection) traced() bool { return c.vhost != nil && c.vhost.Tracing() }

// tracePublish traces a message that a client published and that goes where r says.
func (c *connection) tracePublish(ch *channel, m amqp.Message, r *route) {
	queues := make(amqp.Array, 0, len(r.targets))
	for _, t := range r.targets {
		queues = append(queues, t.queue.Name())
	}
	if r.reply != nil {
		queues = append(queues, string(m.RoutingKey()))
	}
	t := c.trace("publish."+string(m.Exchange()), ch, m, nil)
	t.headers = append(t.headers, amqp.Field{Name: "routed_queues", Value: queues})
	t.body = m.Body() // it is copied before the message can change
	c.vhost.Announce(vhost.TraceExchange, t.key, t.properties(), t.body)
}

// traceDelivery traces a message that was just appended for a client. The outbox is locked.
func (o *outbox) traceDelivery(ch *channel, q *queue.Queue, m amqp.Message, redelivered bool) {
	if string(m.Exchange()) == vhost.TraceExchange {
		return // or each trace would cause the next
	}
	t := ch.conn.trace("deliver."+q.Name(), ch, m, amqp.Table{{Name: "redelivered", Value: int32(bit(redelivered))}})
	t.body = append([]byte(nil), m.Body()...)
	o.traces = append(o.traces, t)
}

// publishTraces publishes what was traced of deliveries; no lock is held.
func (c *connection) publishTraces(traces []trace) {
	for i := range traces {
		c.vhost.Announce(vhost.TraceExchange, traces[i].key, traces[i].properties(), traces[i].body)
	}
}

// trace begins a copy of a message: its headers, without what only a publish has. more goes in the midst of them.
func (c *connection) trace(key string, ch *channel, m amqp.Message, more amqp.Table) trace {
	keys := amqp.Array{string(m.RoutingKey())}
	given, err := amqp.DecodeProperties(m.Properties())
	if err != nil { // it was checked when it came
		given = amqp.Properties{}
	}
	if copies, ok := given.Headers.Get("CC"); ok {
		if list, ok := copies.(amqp.Array); ok {
			keys = append(keys, list...)
		}
	}
	headers := amqp.Table{
		{Name: "exchange_name", Value: string(m.Exchange())},
		{Name: "routing_keys", Value: keys},
		{Name: "properties", Value: tracedProperties(&given)},
		{Name: "node", Value: c.server.options.NodeName},
	}
	headers = append(headers, more...)
	return trace{key: key, headers: append(headers,
		amqp.Field{Name: "vhost", Value: c.vhost.Name()},
		amqp.Field{Name: "connection", Value: c.name},
		amqp.Field{Name: "channel", Value: int32(ch.number)},
		amqp.Field{Name: "user", Value: c.user.Name()},
	)}
}

// properties of a trace are its headers alone: what it is about stands in these.
func (t *trace) properties() *amqp.Properties {
	return &amqp.Properties{Flags: amqp.FlagHeaders, Headers: t.headers}
}

// tracedProperties are the properties of a message as a table, each under its name.
func tracedProperties(p *amqp.Properties) amqp.Table {
	t := amqp.Table{}
	for _, property := range []struct {
		flag  uint16
		name  string
		value any
	}{
		{amqp.FlagContentType, "content_type", p.ContentType},
		{amqp.FlagContentEncoding, "content_encoding", p.ContentEncoding},
		{amqp.FlagHeaders, "headers", p.Headers},
		{amqp.FlagDeliveryMode, "delivery_mode", int32(p.DeliveryMode)},
		{amqp.FlagPriority, "priority", int32(p.Priority)},
		{amqp.FlagCorrelationID, "correlation_id", p.CorrelationID},
		{amqp.FlagReplyTo, "reply_to", p.ReplyTo},
		{amqp.FlagExpiration, "expiration", p.Expiration},
		{amqp.FlagMessageID, "message_id", p.MessageID},
		{amqp.FlagTimestamp, "timestamp", tracedTime(p.Timestamp)},
		{amqp.FlagType, "type", p.Type},
		{amqp.FlagUserID, "user_id", p.UserID},
		{amqp.FlagAppID, "app_id", p.AppID},
		{amqp.FlagClusterID, "cluster_id", p.ClusterID},
	} {
		if p.Flags&property.flag != 0 {
			t = append(t, amqp.Field{Name: property.name, Value: property.value})
		}
	}
	return t
}

// tracedTime is a time as the integer that tools expect, and a wider one if that is too small.
func tracedTime(t amqp.Timestamp) any {
	if t <= math.MaxInt32 {
		return int32(t)
	}
	return int64(t)
}
