package server_test

import (
	"testing"

	"leveret/amqp"
)

// TestQosOkComesFirst: what a raised prefetch of the channel lets through comes behind the qos-ok, each of a hundred times.
func TestQosOkComesFirst(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("q")
	const messages = 100
	c.publishAll(1, "", "q", false, messages)
	c.mustFlush()
	for n := range messages {
		c.call(1, &amqp.BasicQos{PrefetchCount: uint16(n + 1), Global: true}, amqp.MethodBasicQosOk)
		if n == 0 {
			c.call(1, &amqp.BasicConsume{Queue: "q"}, amqp.MethodBasicConsumeOk)
		}
		c.expect(amqp.MethodBasicDeliver)
		if _, err := c.content(); err != nil {
			t.Fatal(err)
		}
	}
}
