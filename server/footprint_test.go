package server_test

import (
	"fmt"
	"runtime"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// heap is how many bytes of the heap are in use, pools aside.
func heap() int {
	runtime.GC()
	runtime.GC() // what pools hold goes in the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// allocated is how many bytes were allocated in all.
func allocated() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.TotalAlloc)
}

// openChannels opens the channels from 2 on.
func (c *client) openChannels(last uint16) {
	c.t.Helper()
	for n := uint16(2); n <= last; n++ {
		c.add(n, &amqp.ChannelOpen{})
	}
	c.mustFlush()
	for range last - 1 {
		c.expect(amqp.MethodChannelOpenOk)
	}
}

// A content header that announces a large body gets little memory on its word.
func TestAnnouncedBodiesTakeLittleMemory(t *testing.T) {
	const channels, trusted = 200, 100 << 10
	r := start(t, testOptions())
	c := r.dial()
	if err := c.opening(opening{channelMax: channels}); err != nil {
		t.Fatal(err)
	}
	c.openChannels(channels)
	before := heap()
	for n := uint16(2); n <= channels; n++ {
		c.add(n, &amqp.BasicPublish{RoutingKey: []byte("q")})
		c.out = frame.AppendContentHeader(c.out, n, amqp.ClassBasic, 16<<20, []byte{0, 0})
	}
	c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
	if grown := heap() - before; grown > channels*trusted {
		t.Errorf("the heap grew by %d bytes for %d headers", grown, channels)
	}
	c.conn.Close()
}

// The bodies of messages that are dropped anyway take no memory as they come.
func TestDroppedBodiesTakeNoMemory(t *testing.T) {
	const messages, size = 250, 60_000
	o := testOptions()
	o.MaxMessageSize = size - 1
	for _, c := range []struct {
		name   string
		before amqp.Method // ends the channel
		n      int
		size   int
	}{
		{"on a channel that was closed", &amqp.QueueDeclare{Queue: "none", Passive: true}, messages, size - 1},
		{"too large", nil, 1, messages * size},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, o)
			p := r.open()
			if c.before != nil {
				p.call(1, c.before, amqp.MethodChannelClose)
			}
			for range c.n {
				p.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, make([]byte, c.size))
			}
			before := allocated()
			p.add(0, &amqp.ConnectionClose{ReplyCode: 200})
			p.mustFlush()
			if c.before == nil {
				p.expect(amqp.MethodChannelClose)
			}
			p.expect(amqp.MethodConnectionCloseOk)
			if n := allocated() - before; n > messages*size/8 {
				t.Errorf("%d bytes were allocated for %d dropped messages of %d", n, c.n, c.size)
			}
			p.conn.Close()
		})
	}
}

// What a transaction counts is what it takes in memory, however many queues its messages go to: routes are shared where they are
// remembered, and counted where they can't be.
func TestTransactionCountsItsMemory(t *testing.T) {
	const queues, limit, least = 300, 1 << 20, 100
	o := testOptions()
	o.TransactionMax = limit
	for _, c := range []struct {
		exchange string
		messages int // that are too many
	}{{"amq.fanout", limit / least}, {"amq.headers", limit / (8 * queues)}} {
		t.Run(c.exchange, func(t *testing.T) {
			r := start(t, o)
			p := r.open()
			for i := range queues {
				name := fmt.Sprint("q", i)
				p.add(1, &amqp.QueueDeclare{Queue: name, NoWait: true}, &amqp.QueueBind{Queue: name, Exchange: c.exchange, NoWait: true})
			}
			p.call(1, &amqp.TxSelect{}, amqp.MethodTxSelectOk)
			before := heap()
			for range c.messages / 3 {
				p.addPublish(1, &amqp.BasicPublish{Exchange: []byte(c.exchange)}, nil, nil)
			}
			p.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
			if grown := heap() - before; grown > 2*limit {
				t.Errorf("the heap grew by %d bytes for a transaction that may hold %d", grown, limit)
			}
			for range c.messages {
				p.addPublish(1, &amqp.BasicPublish{Exchange: []byte(c.exchange)}, nil, nil)
			}
			p.mustFlush()
			if m := p.expect(amqp.MethodChannelClose).(*amqp.ChannelClose); m.ReplyCode != amqp.CodePreconditionFailed {
				t.Errorf("got %d %s", m.ReplyCode, m.ReplyText)
			}
			p.conn.Close()
		})
	}
}
