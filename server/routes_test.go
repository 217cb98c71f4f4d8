package server_test

import (
	"fmt"
	"testing"

	"leveret/amqp"
)

// moreQueuesThanRemembered is over the number of queues from which a connection forgets its routes.
const moreQueuesThanRemembered = 1100

// bindMany declares queues q0, q1, ... and binds them to amq.fanout.
func bindMany(c *client, n int) {
	c.t.Helper()
	for i := range n {
		name := fmt.Sprint("q", i)
		c.add(1, &amqp.QueueDeclare{Queue: name, NoWait: true}, &amqp.QueueBind{Queue: name, Exchange: "amq.fanout", NoWait: true})
	}
	c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
}

// expectNumbers gets all messages of a queue, which must be numbered from 0 on.
func expectNumbers(c *client, queue string, n int) {
	c.t.Helper()
	for want := range uint64(n) {
		c.call(1, &amqp.BasicGet{Queue: queue, NoAck: true}, amqp.MethodBasicGetOk)
		body, err := c.content()
		if err != nil {
			c.t.Fatal(err)
		}
		if got, err := numberOf(body); err != nil || got != want {
			c.t.Fatalf("queue %s: message %d (%v), want %d", queue, got, err, want)
		}
	}
	c.call(1, &amqp.BasicGet{Queue: queue, NoAck: true}, amqp.MethodBasicGetEmpty)
}

// A channel's messages keep their order in each queue, by whatever exchange and key they come, on a connection that publishes to more
// queues than it remembers. In a transaction the routes of earlier publishes were forgotten when the commit comes.
func TestOrderOverVeryManyQueues(t *testing.T) {
	for _, tx := range []bool{false, true} {
		t.Run(fmt.Sprintf("transaction %t", tx), func(t *testing.T) {
			r := start(t, testOptions())
			c := r.open()
			bindMany(c, moreQueuesThanRemembered)
			if tx {
				c.call(1, &amqp.TxSelect{}, amqp.MethodTxSelectOk)
			}
			const messages = 24
			for i := range uint64(messages) {
				m := &amqp.BasicPublish{RoutingKey: []byte("q7")}
				if i%2 == 1 {
					m.Exchange = []byte("amq.fanout")
					m.RoutingKey = fmt.Appendf(nil, "%d", i) // another route each time
				}
				c.addPublish(1, m, nil, bodyOf(i, 8))
				if tx && i == messages/2 {
					c.add(1, &amqp.BasicQos{}) // ends the batch, as any method does
				}
			}
			c.mustFlush()
			if tx {
				c.expect(amqp.MethodBasicQosOk)
				c.call(1, &amqp.TxCommit{}, amqp.MethodTxCommitOk)
			}
			expectNumbers(c, "q7", messages)
			last := c.call(1, &amqp.QueueDeclare{Queue: "q1099", Passive: true}, amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk)
			if last.MessageCount != messages/2 {
				t.Errorf("%d messages in another queue, want %d", last.MessageCount, messages/2)
			}
			c.goodbye()
		})
	}
}
