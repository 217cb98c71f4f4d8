package server_test

import (
	"testing"

	"leveret/amqp"
)

// values is a table of that many values, each under the same name.
func values(n int) amqp.Table {
	t := make(amqp.Table, n)
	for i := range t {
		t[i] = amqp.Field{Name: "v"}
	}
	return t
}

// Tables with more values than are worth reading end the connection, wherever they stand.
func TestTablesOfTooManyValues(t *testing.T) {
	r := start(t, testOptions())
	const want = "FRAME_ERROR - a field table holds more than 16384 values"
	for name, send := range map[string]func(c *client, n int){
		"declare": func(c *client, n int) {
			c.add(1, &amqp.QueueDeclare{Queue: "q", Exclusive: true, Arguments: values(n)})
		},
		"bind": func(c *client, n int) {
			c.add(1, &amqp.QueueBind{Queue: "shared", Exchange: "amq.headers", Arguments: values(n)})
		},
		"publish": func(c *client, n int) {
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, &amqp.Properties{Flags: amqp.FlagHeaders, Headers: values(n)}, nil)
		},
	} {
		c := r.open()
		c.declare("shared")
		send(c, amqp.MaxTableValues)
		c.add(1, &amqp.BasicQos{PrefetchCount: 1}) // after which it is known that the table was taken
		c.mustFlush()
		for m := amqp.Method(nil); m == nil || m.ID() != amqp.MethodBasicQosOk; {
			f, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			m = amqp.NewMethod(f.MethodID())
			if m.ID() == amqp.MethodConnectionClose || m.ID() == amqp.MethodChannelClose {
				t.Fatalf("%s: a table at the limit is refused", name)
			}
		}
		send(c, amqp.MaxTableValues+1)
		c.mustFlush()
		c.ends(501, want)
	}
}

// A message whose headers are at the limit outgrows it by its deaths, and comes through all the same.
func TestHeadersMayOutgrowTheLimit(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	queues := []string{"first", "second", "third"}
	for i, name := range queues {
		arguments := amqp.Table{}
		if i+1 < len(queues) {
			arguments = amqp.Table{{Name: "x-message-ttl", Value: int32(1)}, {Name: "x-dead-letter-exchange", Value: ""}, {Name: "x-dead-letter-routing-key", Value: queues[i+1]}}
		}
		c.call(1, &amqp.QueueDeclare{Queue: name, Exclusive: true, Arguments: arguments}, amqp.MethodQueueDeclareOk)
	}
	c.call(1, &amqp.BasicConsume{Queue: "third", NoAck: true}, amqp.MethodBasicConsumeOk)
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("first")}, &amqp.Properties{Flags: amqp.FlagHeaders, Headers: values(amqp.MaxTableValues)}, []byte("m"))
	c.mustFlush()
	c.expect(amqp.MethodBasicDeliver)
	header, err := c.next()
	if err != nil {
		t.Fatal(err)
	}
	properties, err := amqp.DecodeProperties(header.Payload[12:])
	if err != nil {
		t.Fatal(err)
	}
	if deaths, _ := properties.Headers.Get("x-death"); len(properties.Headers) <= amqp.MaxTableValues || len(deaths.(amqp.Array)) != 2 {
		t.Errorf("%d headers, deaths %v", len(properties.Headers), deaths)
	}
}
