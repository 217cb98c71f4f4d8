package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/vhost"
)

// told is a message of the broker's own as a client received it.
type told struct {
	exchange, key, body string
	properties          amqp.Properties
}

func (m *told) header(name string) any {
	v, _ := m.properties.Headers.Get(name)
	return v
}

// names are the headers in order, each with the tag of its type.
func (m *told) names() (line string) {
	for _, f := range m.properties.Headers {
		line += f.Name + ":" + amqp.TypeName(f.Value) + " "
	}
	return line
}

// told reads the next delivery with its content.
func (c *client) told() *told {
	c.t.Helper()
	d := c.expect(amqp.MethodBasicDeliver).(*amqp.BasicDeliver)
	m := &told{exchange: string(d.Exchange), key: string(d.RoutingKey)}
	f, err := c.next()
	if err != nil || f.Type != frame.TypeHeader {
		c.t.Fatalf("no header: %v %v", f.Type, err)
	}
	if m.properties, err = amqp.DecodeProperties(f.Payload[12:]); err != nil {
		c.t.Fatal(err)
	}
	if f.Payload[11] > 0 { // the length of the body, which is short in these tests
		if f, err = c.next(); err != nil {
			c.t.Fatal(err)
		}
		m.body = string(f.Payload)
	}
	return m
}

// quiet fails the test if anything comes, up to the answer of a method.
func (c *client) quiet() {
	c.t.Helper()
	c.call(1, &amqp.BasicQos{PrefetchCount: 1}, amqp.MethodBasicQosOk)
}

// listen gives a client that consumes all that is announced on an exchange.
func (r *rig) listen(exchange, key string) *client {
	r.t.Helper()
	c := r.open()
	c.call(1, &amqp.QueueDeclare{Queue: "tap", Exclusive: true}, amqp.MethodQueueDeclareOk)
	c.call(1, &amqp.QueueBind{Queue: "tap", Exchange: exchange, RoutingKey: key}, amqp.MethodQueueBindOk)
	c.call(1, &amqp.BasicConsume{Queue: "tap", ConsumerTag: "tap", NoAck: true}, amqp.MethodBasicConsumeOk)
	return c
}

func (r *rig) trace(on bool) {
	r.t.Helper()
	if err := r.UpdateVHost("/", func(m *vhost.Metadata) { m.Tracing = on }); err != nil {
		r.t.Fatal(err)
	}
}

func TestTracePublish(t *testing.T) {
	r := start(t, testOptions())
	tap := r.listen(vhost.TraceExchange, "#")
	c := r.open()
	c.declare("q")
	c.call(1, &amqp.QueueBind{Queue: "q", Exchange: "amq.direct", RoutingKey: "k"}, amqp.MethodQueueBindOk)
	r.trace(true)
	given := &amqp.Properties{
		Flags:       amqp.FlagHeaders | amqp.FlagContentType | amqp.FlagPriority | amqp.FlagTimestamp,
		ContentType: "t", Priority: 3, Timestamp: 1700000000,
		Headers: amqp.Table{{Name: "mine", Value: int32(1)}, {Name: "CC", Value: amqp.Array{"cc"}}, {Name: "BCC", Value: amqp.Array{"secret"}}},
	}
	c.addPublish(1, &amqp.BasicPublish{Exchange: []byte("amq.direct"), RoutingKey: []byte("k")}, given, []byte("body"))
	c.addPublish(1, &amqp.BasicPublish{Exchange: []byte("amq.topic"), RoutingKey: []byte("nowhere")}, nil, nil)
	c.mustFlush()
	m := tap.told()
	if m.exchange != "amq.rabbitmq.trace" || m.key != "publish.amq.direct" || m.body != "body" {
		t.Errorf("exchange %q, key %q, body %q", m.exchange, m.key, m.body)
	}
	const names = "exchange_name:longstr routing_keys:array properties:table node:longstr vhost:longstr connection:longstr channel:signedint " +
		"user:longstr routed_queues:array "
	if m.names() != names {
		t.Errorf("headers %s", m.names())
	}
	for name, want := range map[string]any{
		"exchange_name": "amq.direct", "routing_keys": amqp.Array{"k", "cc"}, "node": "leveret@localhost", "vhost": "/", "channel": int32(1),
		"user": "guest", "routed_queues": amqp.Array{"q"},
		"properties": amqp.Table{
			{Name: "content_type", Value: "t"},
			{Name: "headers", Value: amqp.Table{{Name: "mine", Value: int32(1)}, {Name: "CC", Value: amqp.Array{"cc"}}}},
			{Name: "priority", Value: int32(3)}, {Name: "timestamp", Value: int32(1700000000)},
		},
	} {
		if got := m.header(name); !amqp.EqualValue(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if m = tap.told(); m.key != "publish.amq.topic" || len(m.header("routed_queues").(amqp.Array)) != 0 || m.body != "" {
		t.Errorf("unroutable: key %q, queues %v", m.key, m.header("routed_queues"))
	}
	tap.quiet()
}

func TestTraceDeliveries(t *testing.T) {
	r := start(t, testOptions())
	tap := r.listen(vhost.TraceExchange, "deliver.#")
	c := r.open()
	c.declare("q")
	r.trace(true)
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "c"}, amqp.MethodBasicConsumeOk)
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("body"))
	c.mustFlush()
	first := c.told()
	m := tap.told()
	const names = "exchange_name:longstr routing_keys:array properties:table node:longstr redelivered:signedint vhost:longstr connection:longstr " +
		"channel:signedint user:longstr "
	if m.key != "deliver.q" || m.body != first.body || m.names() != names || m.header("redelivered") != int32(0) || m.header("exchange_name") != "" {
		t.Errorf("%+v", m)
	}
	c.send(1, &amqp.BasicNack{DeliveryTag: 1, Requeue: true})
	c.told()
	if m = tap.told(); m.header("redelivered") != int32(1) {
		t.Errorf("redelivered %v", m.header("redelivered"))
	}
	c.call(1, &amqp.BasicCancel{ConsumerTag: "c"}, amqp.MethodBasicCancelOk)
	c.send(1, &amqp.BasicNack{DeliveryTag: 2, Requeue: true})
	c.call(1, &amqp.BasicGet{Queue: "q", NoAck: true}, amqp.MethodBasicGetOk)
	if _, err := c.content(); err != nil {
		t.Fatal(err)
	}
	c.call(1, &amqp.BasicGet{Queue: "q"}, amqp.MethodBasicGetEmpty)
	if m = tap.told(); m.key != "deliver.q" || m.body != "body" {
		t.Errorf("get: key %q, body %q", m.key, m.body)
	}
	tap.quiet()
}

func TestTraceDirectReply(t *testing.T) {
	r := start(t, testOptions())
	tap := r.listen(vhost.TraceExchange, "publish.#")
	c := r.open()
	r.trace(true)
	c.call(1, &amqp.BasicConsume{Queue: "amq.rabbitmq.reply-to", ConsumerTag: "c", NoAck: true}, amqp.MethodBasicConsumeOk)
	c.declare("q")
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, &amqp.Properties{Flags: amqp.FlagReplyTo, ReplyTo: "amq.rabbitmq.reply-to"}, nil)
	c.mustFlush()
	request := tap.told()
	properties := request.header("properties").(amqp.Table)
	address, _ := properties.Get("reply_to")
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(address.(string))}, nil, []byte("answer"))
	c.mustFlush()
	if m := c.told(); m.body != "answer" {
		t.Errorf("reply %q", m.body)
	}
	if m := tap.told(); m.body != "answer" || !amqp.EqualValue(m.header("routing_keys"), amqp.Array{address}) {
		t.Errorf("trace %+v", m)
	}
	tap.quiet()
}

func TestTraceIsForOneVHostAndEnds(t *testing.T) {
	r := start(t, testOptions())
	tap := r.listen(vhost.TraceExchange, "#")
	c := r.open()
	c.declare("q")
	publish := func(body string) {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte(body))
		c.mustFlush()
		c.quiet()
	}
	publish("before")
	tap.quiet()
	r.trace(true)
	publish("while")
	if m := tap.told(); m.body != "while" {
		t.Errorf("traced %q", m.body)
	}
	r.trace(false)
	publish("after")
	tap.quiet()
	if _, err := r.CreateVHost("other", vhost.Metadata{Tracing: true}); err != nil {
		t.Fatal(err)
	}
	publish("not there")
	tap.quiet()
}

// TestTraceOfATrace binds a traced queue to the trace exchange: what comes from there is not traced again.
func TestTraceOfATrace(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("q")
	c.call(1, &amqp.QueueBind{Queue: "q", Exchange: vhost.TraceExchange, RoutingKey: "#"}, amqp.MethodQueueBindOk)
	r.trace(true)
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("body"))
	c.mustFlush()
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "c", NoAck: true}, amqp.MethodBasicConsumeOk)
	var keys strings.Builder
	for range 3 {
		keys.WriteString(fmt.Sprint(c.told().key, " "))
	}
	if keys.String() != "publish. q deliver.q " {
		t.Errorf("got %s", keys.String())
	}
	c.quiet()
}

func TestTraceManyToADurableQueue(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.call(1, &amqp.QueueDeclare{Queue: "tap", Durable: true}, amqp.MethodQueueDeclareOk)
	c.call(1, &amqp.QueueBind{Queue: "tap", Exchange: vhost.TraceExchange, RoutingKey: "publish.#"}, amqp.MethodQueueBindOk)
	r.trace(true)
	const n = 1000
	for range n {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nowhere")}, nil, make([]byte, 100))
	}
	c.mustFlush()
	for end := time.Now().Add(patience); ; {
		ok := c.call(1, &amqp.QueueDeclare{Queue: "tap", Passive: true}, amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk)
		if ok.MessageCount == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d traces of %d", ok.MessageCount, n)
		}
	}
}
