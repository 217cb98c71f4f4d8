package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/server"
)

// perExchange writes down what the channels published: channel, exchange, messages, those that want confirms, returned, dropped, and what
// went into which queue.
func perExchange(r *rig) string {
	var lines []string
	for _, c := range r.ChannelExchanges() {
		words := fmt.Sprintf("%d %q %d %d %d %d", c.Number, c.Exchange.Name(), c.Traffic.In, c.Traffic.Confirmable, c.Traffic.Returned, c.Traffic.Dropped)
		var into []string
		for _, i := range c.Inflows {
			into = append(into, fmt.Sprintf(" %s=%d", i.Queue.Name(), i.Messages))
		}
		slices.Sort(into)
		lines = append(lines, words+strings.Join(into, ""))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

// flows writes down what went through which exchange into which queue.
func flows(r *rig) string {
	var lines []string
	for _, f := range r.VHost("/").Flows() {
		lines = append(lines, fmt.Sprintf("%q %s %d", f.Exchange.Name(), f.Queue.Name(), f.Messages()))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func (c *client) publishAll(channel uint16, exchange, key string, mandatory bool, n int) {
	for range n {
		c.addPublish(channel, &amqp.BasicPublish{Exchange: []byte(exchange), RoutingKey: []byte(key), Mandatory: mandatory}, nil, []byte("m"))
	}
}

// TestChannelExchanges: publishes are counted by channel, exchange and queue, whatever order they come in; what went through an exchange into a
// queue outlives the channel.
func TestChannelExchanges(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.call(2, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	c.call(2, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
	for _, name := range []string{"a", "b"} {
		c.declare(name)
		c.call(1, &amqp.QueueBind{Queue: name, Exchange: "amq.fanout"}, amqp.MethodQueueBindOk)
	}
	for range 3 { // one batch of many short runs
		c.publishAll(1, "", "a", false, 2)
		c.publishAll(2, "", "b", false, 1)
		c.publishAll(1, "amq.fanout", "", false, 1)
		c.publishAll(1, "amq.direct", "nowhere", false, 1)
	}
	c.publishAll(1, "amq.direct", "nowhere", true, 1)
	c.mustFlush()
	eventually(t, "all publishes are counted", func() bool {
		return perExchange(r) == `1 "" 6 0 0 0 a=6; 1 "amq.direct" 4 0 1 3; 1 "amq.fanout" 3 0 0 0 a=3 b=3; 2 "" 3 3 0 0 b=3`
	})
	const both = `"" a 6; "" b 3; "amq.fanout" a 3; "amq.fanout" b 3`
	if got := flows(r); got != both {
		t.Errorf("the flows are %s", got)
	}
	c.add(2, &amqp.ChannelClose{})
	c.mustFlush()
	eventually(t, "the channel's are gone", func() bool { return !strings.Contains(perExchange(r), "2 ") })
	if got := flows(r); got != both {
		t.Errorf("with a channel closed the flows are %s", got)
	}
}

// TestFlowsOfWhatIsGone: what is counted of a queue or an exchange goes with it, and one of the same name begins anew.
func TestFlowsOfWhatIsGone(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("q")
	declare := func() {
		c.call(1, &amqp.ExchangeDeclare{Exchange: "x", Type: "direct"}, amqp.MethodExchangeDeclareOk)
		c.call(1, &amqp.QueueBind{Queue: "q", Exchange: "x", RoutingKey: "k"}, amqp.MethodQueueBindOk)
	}
	shows := func(perChannel, together string) {
		t.Helper()
		eventually(t, "the channel published "+perChannel, func() bool { return perExchange(r) == perChannel })
		if got := flows(r); got != together {
			t.Errorf("the flows are %s, want %s", got, together)
		}
	}
	declare()
	c.publishAll(1, "x", "k", false, 2)
	c.mustFlush()
	shows(`1 "x" 2 0 0 0 q=2`, `"x" q 2`)
	c.call(1, &amqp.ExchangeDelete{Exchange: "x"}, amqp.MethodExchangeDeleteOk)
	shows("", "")
	declare()
	c.publishAll(1, "x", "k", false, 1)
	c.mustFlush()
	shows(`1 "x" 1 0 0 0 q=1`, `"x" q 1`)
	c.call(1, &amqp.QueueDelete{Queue: "q"}, amqp.MethodQueueDeleteOk)
	shows(`1 "x" 1 0 0 0`, "")
}

// TestPublisherOutlivesQueues: a channel does not keep the queues that it once published to.
func TestPublisherOutlivesQueues(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	const queues = 300
	for i := range queues {
		name := fmt.Sprint("q", i)
		c.declare(name)
		c.publishAll(1, "", name, false, 1)
		c.mustFlush()
		c.call(1, &amqp.QueueDelete{Queue: name}, amqp.MethodQueueDeleteOk)
	}
	if n := r.CountedInflows(); n > 65 {
		t.Errorf("the channel keeps %d queues that are gone", n)
	}
}

// TestInflowsAreBounded: many channels that publish to many queues each do not keep a counter for each pair; what is counted for exchange and queue
// is whole. A channel that ends makes room for others.
func TestInflowsAreBounded(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	const channels, queues = 8, server.MaxInflows/8 + 20
	for i := range queues {
		c.declare(fmt.Sprint("q", i))
	}
	for ch := uint16(2); ch <= channels; ch++ {
		c.call(ch, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	}
	publish := func(channels ...uint16) {
		for _, ch := range channels {
			for i := range queues {
				c.publishAll(ch, "", fmt.Sprint("q", i), false, 1)
			}
			c.mustFlush()
			c.call(ch, &amqp.BasicQos{}, amqp.MethodBasicQosOk) // all before it is counted then
		}
	}
	for ch := uint16(1); ch <= channels; ch++ {
		publish(ch)
	}
	if n := r.CountedInflows(); n != server.MaxInflows {
		t.Errorf("%d inflows are kept, want %d", n, server.MaxInflows)
	}
	c.call(1, &amqp.ChannelClose{}, amqp.MethodChannelCloseOk)
	publish(channels)
	if n := r.CountedInflows(); n <= server.MaxInflows-queues || n > server.MaxInflows {
		t.Errorf("%d inflows are kept after a channel's end", n)
	}
	for f := range strings.SplitSeq(flows(r), "; ") {
		if !strings.HasSuffix(f, fmt.Sprint(" ", channels+1)) {
			t.Fatalf("not all is counted: %s", f)
		}
	}
}
