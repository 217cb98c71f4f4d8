package server_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// Messages share memory with others that come and go at another pace: delivered and forgotten at once, returned, kept until an ack, put
// back. Whatever becomes of the neighbours, each body must come as it went.
func TestBodiesStayIntact(t *testing.T) {
	r := start(t, testOptions())
	var all sync.WaitGroup
	for i := range uint64(4) {
		c := r.open()
		queue := fmt.Sprintf("q%d", i)
		c.declare(queue)
		c.call(1, &amqp.BasicQos{PrefetchCount: 50}, amqp.MethodBasicQosOk)
		c.call(1, &amqp.BasicConsume{Queue: queue, ConsumerTag: "fast", NoAck: true}, amqp.MethodBasicConsumeOk)
		c.call(1, &amqp.BasicConsume{Queue: queue, ConsumerTag: "slow"}, amqp.MethodBasicConsumeOk)
		c.declare(queue + "-too")
		c.call(1, &amqp.BasicConsume{ConsumerTag: "other", NoAck: true}, amqp.MethodBasicConsumeOk)
		c.call(1, &amqp.ExchangeDeclare{Exchange: queue, Type: "fanout"}, amqp.MethodExchangeDeclareOk)
		c.call(1, &amqp.QueueBind{Exchange: queue}, amqp.MethodQueueBindOk)
		c.call(1, &amqp.QueueBind{Queue: queue, Exchange: queue}, amqp.MethodQueueBindOk)
		all.Go(func() {
			if err := churn(c, queue, rand.New(rand.NewPCG(i, 1))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// churn publishes for a while, partly to nobody and partly to two queues, and reads what comes; every twentieth message that has to be acked is put back first.
func churn(c *client, queue string, rnd *rand.Rand) error {
	const batches, batch = 30, 100
	number := uint64(0)
	for range batches {
		expected := 0
		for range batch {
			number++
			expected++
			m := &amqp.BasicPublish{RoutingKey: []byte(queue), Mandatory: true}
			switch rnd.IntN(4) {
			case 0:
				m.RoutingKey = []byte("nobody")
			case 1:
				m.Exchange = []byte(queue) // reaches two queues
				expected++
			}
			size := 8 + rnd.IntN(200)
			if rnd.IntN(30) == 0 {
				size += rnd.IntN(40_000)
			}
			c.addPublish(1, m, nil, bodyOf(number, size))
		}
		if err := c.flush(); err != nil {
			return err
		}
		for settled := 0; settled < expected; {
			done, err := c.settleOne(rnd)
			if err != nil {
				return err
			}
			if done {
				settled++
			}
		}
	}
	return nil
}

// settleOne reads a message, wherever it comes from. It reports whether the message is done with.
func (c *client) settleOne(rnd *rand.Rand) (done bool, err error) {
	f, err := c.next()
	if err != nil {
		return false, err
	}
	var m amqp.BasicDeliver
	if f.Type != frame.TypeMethod {
		return false, fmt.Errorf("unexpected %s", frame.Dump(f))
	}
	switch f.MethodID() {
	case amqp.MethodBasicReturn:
	case amqp.MethodBasicDeliver:
		if err := m.Decode(f.Arguments()); err != nil {
			return false, err
		}
	default:
		return false, fmt.Errorf("unexpected %s", frame.Dump(f))
	}
	slow, tag := m.ConsumerTag == "slow", m.DeliveryTag
	body, err := c.content()
	if err != nil {
		return false, err
	}
	if _, err := numberOf(body); err != nil || !slow {
		return true, err
	}
	if rnd.IntN(20) == 0 {
		c.add(1, &amqp.BasicNack{DeliveryTag: tag, Requeue: true})
		return false, c.flush()
	}
	c.add(1, &amqp.BasicAck{DeliveryTag: tag})
	return true, c.flush()
}
