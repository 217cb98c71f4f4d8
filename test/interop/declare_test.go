package interop

import (
	"regexp"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"leveret/amqp"
)

// An argument of another integer width is the same argument; of another kind or value it is not. The queue stays as it was.
func TestRedeclareWithOtherTypes(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	w.open(2)
	q := freshQueue(t)
	declare := func(args ...amqp.Field) *amqp.QueueDeclare { return &amqp.QueueDeclare{Queue: q, Arguments: args} }
	call[*amqp.QueueDeclareOk](w, 1, declare(amqp.Field{Name: "x-expires", Value: int32(60000)}))
	w.publish(1, q, "kept")
	for _, same := range []any{int32(60000), int64(60000), uint32(60000), uint16(60000)} {
		call[*amqp.QueueDeclareOk](w, 1, declare(amqp.Field{Name: "x-expires", Value: same}, amqp.Field{Name: "x-unknown", Value: "extra"}))
	}
	for _, other := range []struct {
		value any
		words string
	}{
		{int32(60001), "received '60001' but current is '60000'"},
		{float64(60000), "inequivalent arg 'x-expires' for queue"},
		{"60000", "inequivalent arg 'x-expires' for queue"},
		{nil, "inequivalent arg 'x-expires' for queue"},
	} {
		w.send(1, declare(amqp.Field{Name: "x-expires", Value: other.value}))
		w.wantClosed(1, 406, other.words)
		w.open(1)
	}
	w.send(1, declare())
	w.wantClosed(1, 406, "received none but current is the value '60000' of type 'signedint'")
	if n := w.count(2, q); n != 1 {
		t.Errorf("%d messages ready after the refusals, want 1", n)
	}
}

// What an argument cannot mean is refused when the queue is declared first, and no queue is made.
func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		args  amqp.Table
		words string // "" where the declare is right
	}{
		{"message TTL of 0", amqp.Table{{Name: "x-message-ttl", Value: int32(0)}}, ""},
		{"negative message TTL", amqp.Table{{Name: "x-message-ttl", Value: int32(-1)}}, "invalid arg 'x-message-ttl' for queue"},
		{"message TTL as double", amqp.Table{{Name: "x-message-ttl", Value: 1000.0}}, "invalid arg 'x-message-ttl' for queue"},
		{"message TTL as string", amqp.Table{{Name: "x-message-ttl", Value: "1000"}}, "invalid arg 'x-message-ttl' for queue"},
		{"expiry of 0", amqp.Table{{Name: "x-expires", Value: int32(0)}}, "invalid arg 'x-expires' for queue"},
		{"expiry in too far a future", amqp.Table{{Name: "x-expires", Value: int64(1 << 40)}}, "invalid arg 'x-expires' for queue"},
		{"negative length", amqp.Table{{Name: "x-max-length", Value: int32(-1)}}, "invalid arg 'x-max-length' for queue"},
		{"unknown overflow", amqp.Table{{Name: "x-overflow", Value: "bogus"}}, "invalid arg 'x-overflow' for queue"},
		{"dead-letter key alone", amqp.Table{{Name: "x-dead-letter-routing-key", Value: "k"}}, "invalid arg 'x-dead-letter-routing-key' for queue"},
		{"single active consumer as string", amqp.Table{{Name: "x-single-active-consumer", Value: "true"}}, "invalid arg 'x-single-active-consumer' for queue"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := dialWire(t)
			q := freshQueue(t)
			w.send(1, &amqp.QueueDeclare{Queue: q, Arguments: c.args})
			if c.words == "" {
				expect[*amqp.QueueDeclareOk](w, 1)
				return
			}
			w.wantClosed(1, 406, c.words)
			w.open(1)
			w.send(1, &amqp.QueueDeclare{Queue: q, Passive: true})
			w.wantClosed(1, 404, "no queue '"+q+"' in vhost '/'")
		})
	}
}

// Each declare with an empty name makes another queue, which its owner can find again by its name but never redeclare.
func TestServerNames(t *testing.T) {
	t.Parallel()
	s := dial(t)
	one, other := exclusiveQueue(s.ch), exclusiveQueue(s.ch)
	for _, name := range []string{one, other} {
		if !regexp.MustCompile(`^amq\.gen-[A-Za-z0-9_-]{22}$`).MatchString(name) {
			t.Errorf("a queue is named %q", name)
		}
		s.ready(name)
	}
	if one == other {
		t.Errorf("two queues are named %q", one)
	}
	for what, name := range map[string]string{"the name of a server-named queue": one, "a name of the server's kind": "amq.gen-mine", "a reserved name": "amq.mine"} {
		s.refuse(amqp091.AccessRefused, what, func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare(name, false, false, true, false, nil)
			return err
		})
	}
	s.refuse(amqp091.NotFound, "passive declare of a missing server name", func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclarePassive("amq.gen-missing", false, false, false, false, nil)
		return err
	})
}

// An empty queue name means the queue that the channel declared last.
func TestEmptyName(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	exchange := freshName(t)
	call[*amqp.ExchangeDeclareOk](w, 1, &amqp.ExchangeDeclare{Exchange: exchange, Type: "fanout", AutoDelete: true})
	call[*amqp.QueueDeclareOk](w, 1, &amqp.QueueDeclare{Exclusive: true})
	call[*amqp.QueueBindOk](w, 1, &amqp.QueueBind{Exchange: exchange})
	publish := w.message(1, amqp.BasicPublish{Exchange: []byte(exchange)}, amqp.Properties{}, []byte("hello"))
	w.write(publish)
	if m, c := w.get(1, ""); string(c.body) != "hello" {
		t.Errorf("get %q", c.body)
	} else {
		w.send(1, &amqp.BasicAck{DeliveryTag: m.DeliveryTag})
	}
	w.write(publish)
	if n := call[*amqp.QueuePurgeOk](w, 1, &amqp.QueuePurge{}).MessageCount; n != 1 {
		t.Errorf("purged %d messages, want 1", n)
	}
	call[*amqp.BasicConsumeOk](w, 1, &amqp.BasicConsume{})
	w.write(publish)
	w.delivery(1, "hello")
	w.write(publish)
	w.delivery(1, "hello")
	if n := call[*amqp.QueueDeleteOk](w, 1, &amqp.QueueDelete{}).MessageCount; n != 0 {
		t.Errorf("deleted %d ready messages, want 0", n)
	}
}

// A channel that has declared nothing has no queue that an empty name could mean.
func TestEmptyNameWithoutADeclare(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	for _, m := range []amqp.Method{&amqp.BasicGet{}, &amqp.BasicConsume{}, &amqp.QueuePurge{}, &amqp.QueueDelete{}, &amqp.QueueBind{Exchange: "amq.fanout"}} {
		w.send(1, m)
		closed := w.wantClosed(1, 404, "NOT_FOUND - no previously declared queue")
		if closed.ClassID != m.ID().Class() || closed.MethodID != m.ID().Method() {
			t.Errorf("%s: channel closed for method %d, %d", m.ID(), closed.ClassID, closed.MethodID)
		}
		w.open(1)
	}
}
