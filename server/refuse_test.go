package server_test

import (
	"testing"

	"leveret/amqp"
)

// full are the arguments of a queue that takes so many messages and refuses the others.
func full(length int32) amqp.Table {
	return amqp.Table{{Name: "x-max-length", Value: length}, {Name: "x-overflow", Value: "reject-publish"}}
}

// A message that every queue refuses at once is not logged, and its nack waits for nothing but the confirms before it.
func TestRefusedMessageIsNotLogged(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		c.call(1, &amqp.QueueDeclare{Queue: "f", Durable: true, Arguments: full(1)}, amqp.MethodQueueDeclareOk)
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		publish(c, "f", persistent(), false)
		s.sync()
		c.expect(amqp.MethodBasicAck)
		before := s.Memory.Durable()
		publish(c, "f", persistent(), true) // and it does not come back: it had a queue
		if m := c.expect(amqp.MethodBasicNack).(*amqp.BasicNack); m.DeliveryTag != 2 || m.Multiple {
			t.Errorf("got the nack of %d, multiple %t, want 2", m.DeliveryTag, m.Multiple)
		}
		if after := s.Memory.Durable(); after != before {
			t.Errorf("the log went from %d to %d", before, after)
		}
		publish(c, "d", persistent(), false)
		publish(c, "f", nil, false)
		publish(c, "f", nil, false)
		c.silent("what was published before waits for the log")
		s.sync()
		c.expect(amqp.MethodBasicAck)
		if m := c.expect(amqp.MethodBasicNack).(*amqp.BasicNack); m.DeliveryTag != 5 || !m.Multiple {
			t.Errorf("got the nack of %d, multiple %t, want all up to 5", m.DeliveryTag, m.Multiple)
		}
	})
}

// What does not fit any more is refused in the middle of a batch, whichever channel it came by.
func TestBatchIsRefusedInParts(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.call(2, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	c.call(1, &amqp.QueueDeclare{Queue: "f", Arguments: full(5)}, amqp.MethodQueueDeclareOk)
	c.declare("q")
	for ch := range uint16(2) {
		c.call(ch+1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
	}
	for i := range 8 {
		c.addPublish(uint16(i%2)+1, &amqp.BasicPublish{RoutingKey: []byte("f")}, nil, nil)
	}
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, nil)
	c.mustFlush()
	for _, want := range []string{
		"1 basic.ack delivery-tag=3 multiple=1", "1 basic.nack delivery-tag=4", "1 basic.ack delivery-tag=5",
		"2 basic.ack delivery-tag=2 multiple=1", "2 basic.nack delivery-tag=4 multiple=1",
	} {
		c.says(want)
	}
	if got := r.Stats().Refused; got != 3 {
		t.Errorf("%d refused, want 3", got)
	}
	c.goodbye()
}
