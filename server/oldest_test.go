package server_test

import (
	"testing"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// TestOldestUnacked: each queue of a channel has its own oldest delivery, wherever that stands in the channel, and none when all is settled.
func TestOldestUnacked(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	for _, name := range []string{"first", "second"} {
		c.declare(name)
		c.call(1, &amqp.BasicConsume{Queue: name, ConsumerTag: name}, amqp.MethodBasicConsumeOk)
	}
	deliver := func(name string) {
		t.Helper()
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(name)}, nil, []byte("x"))
		c.mustFlush()
		c.expect(amqp.MethodBasicDeliver)
		if _, err := c.content(); err != nil {
			t.Fatal(err)
		}
	}
	deliver("first")
	first := time.Now()
	for time.Since(first) < 20*time.Millisecond { // the server's clock counts milliseconds of real time
		c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
	}
	deliver("second")
	ages := byName(r.OldestUnacked())
	if len(ages) != 2 || ages["first"] < 15*time.Millisecond || ages["second"] <= 0 || ages["second"] >= ages["first"] {
		t.Errorf("ages %v, want one of at least 15 ms and a smaller one", ages)
	}
	c.send(1, &amqp.BasicAck{Multiple: true})
	c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
	if ages := byName(r.OldestUnacked()); len(ages) != 0 {
		t.Errorf("ages %v of what was settled", ages)
	}
	eventually(t, "both messages are counted", func() bool { // by their queues, which hear of the acks by themselves
		wait, processing := r.Timings()
		return wait.Count() == 2 && processing.Count() == 2
	})
}

// TestOldestUnackedOfGets: what a channel has got counts beside what its only consumer holds.
func TestOldestUnackedOfGets(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	for _, name := range []string{"got", "consumed"} {
		c.declare(name)
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(name)}, nil, []byte("x"))
	}
	c.call(1, &amqp.BasicGet{Queue: "got"}, amqp.MethodBasicGetOk)
	if _, err := c.content(); err != nil {
		t.Fatal(err)
	}
	c.call(1, &amqp.BasicConsume{Queue: "consumed"}, amqp.MethodBasicConsumeOk)
	c.expect(amqp.MethodBasicDeliver)
	if _, err := c.content(); err != nil {
		t.Fatal(err)
	}
	if ages := byName(r.OldestUnacked()); len(ages) != 2 {
		t.Errorf("ages %v, want one of each queue", ages)
	}
}

func byName(ages map[*queue.Queue]time.Duration) map[string]time.Duration {
	named := map[string]time.Duration{}
	for q, age := range ages {
		named[q.Name()] = age
	}
	return named
}
