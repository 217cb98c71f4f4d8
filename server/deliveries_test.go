package server_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/server"
)

// perQueue writes down what the channels got of each queue: delivered, in automatic mode, got, empty gets, redelivered, acked.
func perQueue(r *rig) string {
	list := r.ChannelQueues()
	slices.SortFunc(list, func(a, b server.ChannelQueue) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Queue.Name(), b.Queue.Name()))
	})
	var words []string
	for _, c := range list {
		d := c.Deliveries
		words = append(words, fmt.Sprint(c.Number, " ", c.Queue.Name(), " ", d.Delivered, d.DeliveredAuto, d.Got, d.GetEmpty, d.Redelivered, d.Acked))
	}
	return strings.Join(words, "; ")
}

// TestChannelQueues: what a channel got is counted by queue, and the sum outlives consumers and queues.
func TestChannelQueues(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	for _, name := range []string{"a", "b"} {
		c.declare(name)
	}
	shows := func(want string) {
		t.Helper()
		eventually(t, "the channels got "+want, func() bool { return perQueue(r) == want })
	}
	shows("")
	deliveries := func(n int) {
		t.Helper()
		for range n {
			c.expect(amqp.MethodBasicDeliver)
			if _, err := c.content(); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(c, "a", 3, 1)
	c.call(1, &amqp.BasicConsume{Queue: "a", ConsumerTag: "t"}, amqp.MethodBasicConsumeOk)
	deliveries(3)
	c.send(1, &amqp.BasicAck{DeliveryTag: 1})
	c.call(1, &amqp.BasicGet{Queue: "b", NoAck: true}, amqp.MethodBasicGetEmpty)
	shows("1 a 3 0 0 0 0 1; 1 b 0 0 0 1 0 0")
	c.call(1, &amqp.BasicCancel{ConsumerTag: "t"}, amqp.MethodBasicCancelOk)
	c.send(1, &amqp.BasicAck{DeliveryTag: 2}, &amqp.BasicReject{DeliveryTag: 3, Requeue: true})
	c.call(1, &amqp.BasicGet{Queue: "a"}, amqp.MethodBasicGetOk)
	if _, err := c.content(); err != nil {
		t.Fatal(err)
	}
	shows("1 a 3 0 1 0 1 2; 1 b 0 0 0 1 0 0")
	c.call(1, &amqp.QueueDelete{Queue: "a"}, amqp.MethodQueueDeleteOk)
	shows("1 b 0 0 0 1 0 0")
	if d := r.Channels()[0].Deliveries; d.Delivered != 3 || d.Got != 1 || d.GetEmpty != 1 || d.Acked != 2 || d.Redelivered != 1 {
		t.Errorf("the channel got %+v", d)
	}
}

// TestChannelOutlivesQueues: a channel does not keep the queues that it once got something of, but what it counted.
func TestChannelOutlivesQueues(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	const queues = 200
	for i := range queues {
		name := fmt.Sprint("q", i)
		c.declare(name)
		c.call(1, &amqp.BasicGet{Queue: name}, amqp.MethodBasicGetEmpty)
		c.call(1, &amqp.QueueDelete{Queue: name}, amqp.MethodQueueDeleteOk)
	}
	if got := r.Channels()[0].Deliveries.GetEmpty; got != queues {
		t.Errorf("%d empty gets are counted, want %d", got, queues)
	}
	if n := r.CountedQueues(); n > 64 {
		t.Errorf("the channel keeps %d queues that are gone", n)
	}
}
