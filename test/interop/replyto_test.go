package interop

import (
	"strings"
	"testing"

	"leveret/amqp"
)

// replyTo is the pseudo-queue of direct replies.
const replyTo = "amq.rabbitmq.reply-to"

// request publishes a request to a queue, with replies wanted on the channel that publishes it.
func (w *wire) request(channel uint16, queue string) {
	w.write(w.message(channel, amqp.BasicPublish{RoutingKey: []byte(queue)}, amqp.Properties{Flags: amqp.FlagReplyTo, ReplyTo: replyTo}, []byte("ping")))
}

func TestDirectReplyToErrors(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		play  func(w *wire)
		words string
	}{
		{"request without a consumer", func(w *wire) { w.request(1, freshName(w.t)) }, "fast reply consumer does not exist"},
		{"request on another channel than the consumer's", func(w *wire) {
			w.open(2)
			call[*amqp.BasicConsumeOk](w, 2, &amqp.BasicConsume{Queue: replyTo, NoAck: true})
			w.request(1, freshName(w.t))
		}, "fast reply consumer does not exist"},
		{"consumer with acks", func(w *wire) { w.send(1, &amqp.BasicConsume{Queue: replyTo}) }, "reply consumer cannot acknowledge"},
		{"second consumer", func(w *wire) {
			call[*amqp.BasicConsumeOk](w, 1, &amqp.BasicConsume{Queue: replyTo, ConsumerTag: "one", NoAck: true})
			w.send(1, &amqp.BasicConsume{Queue: replyTo, ConsumerTag: "two", NoAck: true})
		}, "reply consumer already set"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := dialWire(t)
			c.play(w)
			w.wantClosed(1, 406, "PRECONDITION_FAILED - "+c.words)
		})
	}
}

// The request carries a name by which anyone can answer, through the default exchange, as long as the requester is there.
func TestDirectReplyTo(t *testing.T) {
	t.Parallel()
	requester, server := dialWire(t), dialWire(t)
	q := server.queue(1)
	call[*amqp.BasicConsumeOk](requester, 1, &amqp.BasicConsume{Queue: replyTo, NoAck: true})
	requester.request(1, q)
	requester.count(1, q)
	m, ping := server.get(1, q)
	server.send(1, &amqp.BasicAck{DeliveryTag: m.DeliveryTag})
	token := ping.ReplyTo
	if !strings.HasPrefix(token, replyTo+".") {
		t.Fatalf("the request says reply-to %q", token)
	}
	if n := server.count(1, token); n != 0 {
		t.Errorf("%d messages in the requester's place, want 0", n)
	}
	server.publish(1, token, "pong")
	pong := requester.delivery(1, "pong")
	if string(pong.RoutingKey) != token || len(pong.Exchange) != 0 || pong.Redelivered {
		t.Errorf("the reply came as %+v", pong)
	}

	call[*amqp.ChannelCloseOk](requester, 1, &amqp.ChannelClose{ReplyCode: 200})
	server.send(1, &amqp.QueueDeclare{Queue: token, Passive: true})
	server.wantClosed(1, 404, "no queue")
	server.open(1)
	call[*amqp.ConfirmSelectOk](server, 1, &amqp.ConfirmSelect{})
	// A reply that comes too late counts as routed, even a mandatory one: it is confirmed and not returned.
	server.write(server.message(1, amqp.BasicPublish{RoutingKey: []byte(token), Mandatory: true}, amqp.Properties{}, nil))
	expect[*amqp.BasicAck](server, 1)
}
