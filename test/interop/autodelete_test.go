package interop

import (
	"fmt"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"leveret/amqp"
)

// autoQueue declares a fresh auto-delete queue.
func (s *session) autoQueue() string {
	s.t.Helper()
	queue := freshQueue(s.t)
	_, err := s.ch.QueueDeclare(queue, false, true, false, false, nil)
	s.ok(err)
	return queue
}

// An auto-delete queue is not deleted before it had a consumer, and is when the last one went, at once.
func TestAutoDeleteQueue(t *testing.T) {
	t.Parallel()
	endings := map[string]func(c *consumer) error{
		"cancel":     func(c *consumer) error { return c.ch.Cancel(c.tag, false) },
		"channel":    func(c *consumer) error { return c.ch.Close() },
		"connection": func(c *consumer) error { return c.conn.Close() },
	}
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dial(t)
			q := s.autoQueue()
			if _, some, err := s.ch.Get(q, true); some || err != nil {
				t.Fatalf("get: %v, %v", some, err)
			}
			s.ready(q)
			one, other := dial(t).consume(q, 0), dial(t).consume(q, 0)
			s.ok(end(one))
			s.ready(q)
			s.ok(end(other))
			s.refuse(amqp091.NotFound, "passive declare", func(ch *amqp091.Channel) error {
				_, err := ch.QueueDeclarePassive(q, false, false, false, false, nil)
				return err
			})
		})
	}
}

// With the queue go its bindings, and with the last binding an auto-delete exchange.
func TestAutoDeleteExchangeFollows(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q, exchange := s.autoQueue(), freshName(t)
	s.ok(s.ch.ExchangeDeclare(exchange, "fanout", false, true, false, false, nil))
	s.ok(s.ch.QueueBind(q, "", exchange, false, nil))
	c := s.consume(q, 0)
	s.ok(c.ch.Cancel(c.tag, false))
	s.refuse(amqp091.NotFound, "passive declare of the exchange", func(ch *amqp091.Channel) error {
		return ch.ExchangeDeclarePassive(exchange, "fanout", false, true, false, false, nil)
	})
}

// One connection, whose consumer is the queue's last, drops while another declares, binds and consumes. If declare-ok still counts the
// consumer of the first, the deletion is to come and may take the queue away; if not, nothing may.
func TestAutoDeleteRacesWithDeclare(t *testing.T) {
	t.Parallel()
	q, exchange := freshQueue(t), freshName(t)
	next := dial(t)
	next.ok(next.ch.ExchangeDeclare(exchange, "fanout", false, false, false, false, nil))
	t.Cleanup(func() { dial(t).ch.ExchangeDelete(exchange, false, false) })
	for range 50 {
		old, tcp := dialTCP(t)
		if _, err := settleDown(old, q, exchange); err != nil {
			t.Fatal(err)
		}
		dropped := make(chan error)
		go func() { dropped <- tcp.Close() }()
		consumers, err := settleDown(next, q, exchange)
		if code(err) == amqp091.NotFound && consumers == 1 {
			next = next.channel()
			_, err = settleDown(next, q, exchange) // the deletion is over
		}
		if err != nil {
			t.Fatal(err)
		}
		next.ok(<-dropped)
		next.ok(next.ch.Publish(exchange, "", false, false, amqp091.Publishing{Body: []byte("hello")}))
		next.awaitReady(q, 0) // consumed, so the consumer's queue and binding are there
		next.ok(next.ch.Cancel("last", false))
		next.awaitGone(q)
	}
}

// settleDown declares an auto-delete queue, binds it and consumes it. It returns the number of consumers that declare-ok told.
func settleDown(s *session, queue, exchange string) (consumers int, err error) {
	state, err := s.ch.QueueDeclare(queue, false, true, false, false, nil)
	if err != nil {
		return 0, fmt.Errorf("declare: %w", err) // it makes the queue if there is none, so it has no reason to fail
	}
	if err := s.ch.QueueBind(queue, "", exchange, false, nil); err != nil {
		return state.Consumers, fmt.Errorf("bind after declare-ok with %d consumers: %w", state.Consumers, err)
	}
	if _, err = s.ch.Consume(queue, "last", true, false, false, false, nil); err != nil {
		err = fmt.Errorf("consume after declare-ok with %d consumers: %w", state.Consumers, err)
	}
	return state.Consumers, err
}

// A consumer is told that its queue is gone if its client can understand that. Its channel goes on, and so do its deliveries.
func TestConsumerCancelNotify(t *testing.T) {
	t.Parallel()
	able := tunedWire(t, offer(), "consumer_cancel_notify")
	unable := tunedWire(t, offer())
	able.open(1)
	unable.open(1)
	q := able.queue(1)
	able.publish(1, q, "kept")
	call[*amqp.BasicConsumeOk](able, 1, &amqp.BasicConsume{Queue: q, ConsumerTag: "able"})
	m := able.delivery(1, "kept")
	call[*amqp.BasicConsumeOk](unable, 1, &amqp.BasicConsume{Queue: q, ConsumerTag: "unable"})

	deleter := dialWire(t)
	call[*amqp.QueueDeleteOk](deleter, 1, &amqp.QueueDelete{Queue: q})
	if cancel := expect[*amqp.BasicCancel](able, 1); cancel.ConsumerTag != "able" || !cancel.NoWait {
		t.Errorf("got %+v, want the cancel of the consumer without an answer", cancel)
	}
	// An ack of what was delivered is right, and a cancel-ok that nobody asked for does no harm.
	able.send(1, &amqp.BasicAck{DeliveryTag: m.DeliveryTag}, &amqp.BasicCancelOk{ConsumerTag: "able"})
	for _, w := range []*wire{able, unable} {
		call[*amqp.BasicQosOk](w, 1, &amqp.BasicQos{}) // and nothing else comes
		call[*amqp.BasicConsumeOk](w, 1, &amqp.BasicConsume{Queue: w.queue(1), ConsumerTag: "able"})
	}
}
