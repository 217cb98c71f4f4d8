package server

import (
	"testing"

	"leveret/amqp"
	"leveret/queue"
)

// How a message comes back says whether its consumer failed with it.
func TestOutcomeOfASettle(t *testing.T) {
	c := hotPath(t)
	for _, step := range []struct {
		name string
		call func() error
		want queue.Outcome
	}{
		{"ack", func() error { return c.basicAck(c.last, (&amqp.BasicAck{DeliveryTag: 1}).AppendTo(nil)) }, queue.Ack},
		{"nack", func() error {
			return c.basicNack(c.last, (&amqp.BasicNack{DeliveryTag: 1, Requeue: true}).AppendTo(nil))
		}, queue.Return},
		{"nack for good", func() error { return c.basicNack(c.last, (&amqp.BasicNack{DeliveryTag: 1}).AppendTo(nil)) }, queue.Reject},
		{"reject", func() error {
			return c.basicReject(c.last, (&amqp.BasicReject{DeliveryTag: 1, Requeue: true}).AppendTo(nil))
		}, queue.Requeue},
		{"reject for good", func() error { return c.basicReject(c.last, (&amqp.BasicReject{DeliveryTag: 1}).AppendTo(nil)) }, queue.Reject},
	} {
		if err := step.call(); err != nil {
			t.Fatal(err)
		}
		p := &c.publisher
		if len(p.settles) != 1 || p.settles[0].outcome != step.want {
			t.Errorf("%s: noted %+v, want the outcome %d", step.name, p.settles, step.want)
		}
		p.settles = p.settles[:0]
	}
}
