package server

import (
	"testing"

	"leveret/amqp"
	"leveret/queue"
)

// A queue hears of each consumer and outcome in one settlement, whether they are few or so many that a map finds them.
func TestOneSettlementForEach(t *testing.T) {
	for _, consumers := range []int{1, manySettlements - 1, manySettlements, manySettlements + 1, 3 * manySettlements} {
		q, g := new(queue.Queue), new(gather)
		from := make([]*consumer, consumers)
		for i := 1; i < consumers; i++ { // the first stands for basic.get, which has none
			from[i] = new(consumer)
		}
		const rounds = 3
		for round := range rounds {
			for i, c := range from {
				for _, g.outcome = range []queue.Outcome{queue.Ack, queue.Reject} {
					g.add(&unacked{queue: q, consumer: c, seq: uint64(round*consumers + i)})
				}
			}
		}
		all := make(map[gatherKey]int)
		for _, a := range g.take() {
			all[a.key()]++
		}
		if len(all) != 2*consumers {
			t.Errorf("%d consumers have %d settlements of two outcomes", consumers, len(all))
		}
		for key, n := range all {
			if n != 1 {
				t.Errorf("%d consumers: %d settlements of %+v", consumers, n, key)
			}
		}
		if g.by != nil || len(g.list) != 0 {
			t.Errorf("%d consumers: something is left of what was taken", consumers)
		}
	}
}

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
