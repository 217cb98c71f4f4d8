package interop

import (
	"fmt"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// manyQueues is how many durable queues a start has to cope with.
const manyQueues = 10_000

// TestManyQueuesStartSoon kills a broker with very many durable queues, each with a binding and a message, and takes the time until
// all of them can be used again.
func TestManyQueuesStartSoon(t *testing.T) {
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	s.ok(s.ch.ExchangeDeclare("x", "direct", true, false, false, false, nil))
	const declarers = 8
	errs := make(chan error, declarers)
	var work sync.WaitGroup
	for i := range declarers {
		work.Go(func() { errs <- declareMany(l.url(), i, declarers) })
	}
	work.Wait()
	for range declarers {
		s.ok(<-errs)
	}
	l.kill()
	start := time.Now()
	l.start()
	s = l.dial()
	if n := s.ready(queueNumber(manyQueues - 1)); n != 1 {
		t.Errorf("the last queue has %d messages", n)
	}
	took := time.Since(start)
	t.Logf("%d queues: %v", manyQueues, took)
	if took > patience {
		t.Errorf("the start took %v", took)
	}
	for i := 0; i < manyQueues; i += manyQueues / 50 {
		s.wantGot(queueNumber(i), queueNumber(i)+"!")
	}
}

func queueNumber(i int) string { return fmt.Sprintf("q%05d", i) }

// declareMany declares and binds every so manieth queue and publishes a message to each through its binding.
func declareMany(url string, from, step int) error {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	for i := from; i < manyQueues; i += step {
		q := queueNumber(i)
		if _, err := ch.QueueDeclare(q, true, false, false, false, nil); err != nil {
			return err
		}
		if err := ch.QueueBind(q, q, "x", false, nil); err != nil {
			return err
		}
		m := amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte(q)}
		c, err := ch.PublishWithDeferredConfirm("x", q, false, false, m)
		if err != nil {
			return err
		}
		if !c.Wait() {
			return fmt.Errorf("the message for %s was refused", q)
		}
	}
	return nil
}
