package server_test

import (
	"bytes"
	"fmt"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// pipelined is how many messages a benchmark publishes in one write, and reads before it acks.
const pipelined = 256

// BenchmarkLoopback publishes on one connection and consumes on another, through sockets of this machine. The client's own work and
// allocations are in the figures.
func BenchmarkLoopback(b *testing.B) {
	for _, size := range []int{16, 1 << 10} {
		for _, ack := range []bool{false, true} {
			name := fmt.Sprintf("%dB/no-ack", size)
			if ack {
				name = fmt.Sprintf("%dB/ack", size)
			}
			b.Run(name, func(b *testing.B) { benchmarkLoopback(b, size, ack) })
		}
	}
}

func benchmarkLoopback(b *testing.B, size int, ack bool) {
	r := start(b, testOptions())
	p, c := r.open(), r.open()
	p.declare("q")
	c.call(1, &amqp.BasicQos{PrefetchCount: 2 * pipelined}, amqp.MethodBasicQosOk)
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t", NoAck: !ack}, amqp.MethodBasicConsumeOk)
	for range pipelined {
		p.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, bytes.Repeat([]byte{'x'}, size))
	}
	batch := p.out
	p.out = nil
	rounds := max(1, b.N/pipelined)
	written := make(chan error, 1)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for range rounds {
			if _, err := p.conn.Write(batch); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	tag := uint64(0)
	for range rounds {
		for got := 0; got < pipelined; {
			f, err := c.next()
			if err != nil {
				b.Fatal(err)
			}
			if f.Type == frame.TypeBody {
				got++
			}
		}
		if tag += pipelined; ack {
			c.send(1, &amqp.BasicAck{DeliveryTag: tag, Multiple: true})
		}
	}
	b.StopTimer()
	if err := <-written; err != nil {
		b.Fatal(err)
	}
	p.goodbye()
	c.goodbye()
}
