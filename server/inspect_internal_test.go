package server

import (
	"testing"

	"leveret/amqp"
	"leveret/frame"
	"leveret/vhost"
)

// What a queue must know of a message stands in its head, so that the queue need not look for it.
func TestHeadOfAPublish(t *testing.T) {
	c := hotPath(t)
	q, err := c.vhost.DeclareQueue(vhost.QueueDeclare{Name: "q"}, 0, c.rights)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name       string
		properties amqp.Properties
		own, ranks bool
	}{
		{"nothing", amqp.Properties{}, false, false},
		{"other headers", amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "x", Value: "y"}}}, false, false},
		{"dead letter exchange", amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "x-dead-letter-exchange", Value: ""}}}, true, false},
		{"priority 0", amqp.Properties{Flags: amqp.FlagPriority}, false, true},
		{"and hidden copies", amqp.Properties{
			Flags:   amqp.FlagHeaders,
			Headers: amqp.Table{{Name: "BCC", Value: amqp.Array{"b"}}, {Name: "x-dead-letter-exchange", Value: "dlx"}},
		}, true, false},
	} {
		c.in.buf = frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte("q")})
		c.in.buf = frame.AppendContentHeader(c.in.buf, 1, amqp.ClassBasic, 0, tt.properties.AppendTo(nil))
		c.in.from, c.in.to = 0, len(c.in.buf)
		c.handleInput()
		c.handOver()
		var got amqp.Message
		found, err := q.Get(&c.out, getting(func(m amqp.Message) { got = m }), true)
		if err != nil || !found {
			t.Fatalf("%s: %t, %v", tt.name, found, err)
		}
		if got.OwnDeadLetter() != tt.own || got.HasPriority() != tt.ranks {
			t.Errorf("%s: dead letter exchange of its own %t, priority %t", tt.name, got.OwnDeadLetter(), got.HasPriority())
		}
	}
}

// getting is a getter that looks at the message.
type getting func(m amqp.Message)

func (g getting) DeliverGot(_ uint64, m amqp.Message, _ bool, _ int) { g(m) }
