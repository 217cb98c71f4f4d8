package server_test

import (
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// many is how many deliveries a channel settles at once: more than are settled in one hold of the outbox, several times over.
const many = 10_000

// number publishes messages with these numbers to queue "q", beside whatever else is going on.
func (r *rig) number(from, to uint64) (done <-chan error) {
	p := r.open()
	for n := from; n < to; n++ {
		p.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, bodyOf(n, 8))
	}
	written := make(chan error, 1)
	go func() {
		written <- p.flush()
	}()
	return written
}

// receive reads n deliveries, and on until the methods wanted have come, and returns their numbers by delivery tag.
func (c *client) receive(n int, want ...amqp.MethodID) (numbers map[uint64]uint64) {
	c.t.Helper()
	numbers = make(map[uint64]uint64)
	for len(numbers) < n || len(want) > 0 {
		f, err := c.next()
		if err != nil {
			c.t.Fatalf("after %d of %d deliveries: %v", len(numbers), n, err)
		}
		if len(want) > 0 && f.Type == frame.TypeMethod && f.MethodID() == want[0] {
			want = want[1:]
			continue
		}
		var m amqp.BasicDeliver
		if f.Type != frame.TypeMethod || f.MethodID() != m.ID() {
			c.t.Fatalf("got %s, want a delivery or %v", frame.Dump(f), want)
		}
		if err := m.Decode(f.Arguments()); err != nil {
			c.t.Fatal(err)
		}
		tag := m.DeliveryTag
		body, err := c.content()
		if err != nil {
			c.t.Fatal(err)
		}
		if numbers[tag], err = numberOf(body); err != nil {
			c.t.Fatal(err)
		}
	}
	return numbers
}

// What is delivered while very many older deliveries of the same channel are settled at once is not settled with them, and nothing is
// settled twice or lost.
func TestSettlingVeryManyWhileMoreAreDelivered(t *testing.T) {
	for _, c := range []struct {
		name   string
		settle func(last uint64) amqp.Method
		answer []amqp.MethodID
		tx     bool
		back   bool // they come again
	}{
		{name: "ack", settle: func(last uint64) amqp.Method { return &amqp.BasicAck{DeliveryTag: last, Multiple: true} }},
		{name: "ack in a transaction", tx: true, settle: func(last uint64) amqp.Method { return &amqp.BasicAck{DeliveryTag: last, Multiple: true} }},
		{name: "reject", settle: func(last uint64) amqp.Method { return &amqp.BasicNack{DeliveryTag: last, Multiple: true} }},
		{name: "requeue", back: true, settle: func(last uint64) amqp.Method {
			return &amqp.BasicNack{DeliveryTag: last, Multiple: true, Requeue: true}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, testOptions())
			consumer := r.open()
			consumer.declare("q")
			if c.tx {
				consumer.call(1, &amqp.TxSelect{}, amqp.MethodTxSelectOk)
			}
			consumer.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t"}, amqp.MethodBasicConsumeOk)
			first := r.number(0, many)
			consumer.receive(many)
			second := r.number(many, 2*many)
			consumer.add(1, c.settle(many))
			if c.tx {
				consumer.add(1, &amqp.TxCommit{})
				c.answer = []amqp.MethodID{amqp.MethodTxCommitOk}
			}
			consumer.mustFlush()
			want, from := many, uint64(many)
			if c.back {
				want, from = 2*many, 0
			}
			got := consumer.receive(want, c.answer...)
			expectEach(t, got, from, 2*many)
			for _, written := range []<-chan error{first, second} {
				if err := <-written; err != nil {
					t.Fatal(err)
				}
			}
			consumer.call(1, &amqp.ChannelClose{}, amqp.MethodChannelCloseOk)
			eventually(t, "what was not settled is back", func() bool {
				s := r.Stats().Contents
				return s.Ready == want && s.Unacked == 0
			})
			consumer.goodbye()
		})
	}
}

// expectEach holds that each number in a range came, once.
func expectEach(t *testing.T, got map[uint64]uint64, from, to uint64) {
	t.Helper()
	came := make(map[uint64]int)
	for _, n := range got {
		came[n]++
	}
	for n := from; n < to; n++ {
		if came[n] != 1 {
			t.Fatalf("message %d came %d times, want once", n, came[n])
		}
	}
	if len(came) != int(to-from) {
		t.Errorf("%d messages came, want %d", len(came), to-from)
	}
}

// A recover puts very many deliveries back while others are delivered: all that came before its answer come again, each once.
func TestRecoverOfVeryManyWhileMoreAreDelivered(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("q")
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t"}, amqp.MethodBasicConsumeOk)
	first := r.number(0, many)
	c.receive(many)
	second := r.number(many, 2*many)
	c.send(1, &amqp.BasicRecover{Requeue: true})
	c.receive(0, amqp.MethodBasicRecoverOk)
	expectEach(t, c.receive(2*many), 0, 2*many)
	for _, written := range []<-chan error{first, second} {
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	c.goodbye()
}

// A channel ends that holds very many deliveries, while others are delivered elsewhere: another consumer gets all, each once.
func TestChannelThatHeldVeryManyEnds(t *testing.T) {
	r := start(t, testOptions())
	holder, other := r.open(), r.open()
	holder.declare("q")
	holder.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t"}, amqp.MethodBasicConsumeOk)
	first := r.number(0, many)
	holder.receive(many)
	holder.call(1, &amqp.BasicCancel{ConsumerTag: "t"}, amqp.MethodBasicCancelOk)
	other.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t", NoAck: true}, amqp.MethodBasicConsumeOk)
	second := r.number(many, 2*many)
	holder.send(1, &amqp.ChannelClose{})
	expectEach(t, other.receive(2*many), 0, 2*many)
	holder.expect(amqp.MethodChannelCloseOk)
	for _, written := range []<-chan error{first, second} {
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	holder.goodbye()
	other.goodbye()
}
