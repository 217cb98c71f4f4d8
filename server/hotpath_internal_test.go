package server

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/frame"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// blackHole is a socket that takes everything at once and never has anything to read.
type blackHole struct{ net.Conn }

func (blackHole) Write(b []byte) (int, error)     { return len(b), nil }
func (blackHole) Close() error                    { return nil }
func (blackHole) RemoteAddr() net.Addr            { return &net.TCPAddr{} }
func (blackHole) LocalAddr() net.Addr             { return &net.TCPAddr{} }
func (blackHole) SetReadDeadline(time.Time) error { return nil }

// hotPath is a connection without a socket, with one open channel, on a server of its own.
func hotPath(b testing.TB) *connection {
	users, err := auth.New(auth.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(DefaultOptions(), Dependencies{Store: store.NewMemory(), Users: users, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	c := s.newConnection(blackHole{})
	user, err := users.Authenticate("PLAIN", []byte("\x00guest\x00guest"), auth.Client{Address: netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		b.Fatal(err)
	}
	c.user, c.vhost = user, s.VHost("/")
	c.totals = s.vhostTotals("/")
	c.rights, _ = user.Rights("/")
	c.publisher.routes.rights = c.rights.Version()
	c.state, c.frameMax = stateRunning, 131072
	c.deadline = time.NewTimer(time.Hour)
	c.channels = map[uint16]*channel{1: {conn: c, number: 1}}
	c.last = c.channels[1]
	return c
}

func benchmarkFlow(b *testing.B, size int, noAck bool) {
	c := hotPath(b)
	if _, err := c.vhost.DeclareQueue(vhost.QueueDeclare{Name: "q"}, 0, c.rights); err != nil {
		b.Fatal(err)
	}
	if err := c.last.basicConsume(&amqp.BasicConsume{Queue: "q", ConsumerTag: "ctag", NoAck: noAck}); err != nil {
		b.Fatal(err)
	}
	const batch = 200
	var in []byte
	for range batch {
		in = frame.AppendMethod(in, 1, &amqp.BasicPublish{RoutingKey: []byte("q")})
		in = frame.AppendContentHeader(in, 1, amqp.ClassBasic, uint64(size), []byte{0, 0})
		in = frame.AppendBody(in, 1, make([]byte, size), 131072)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		c.in.buf, c.in.from, c.in.to = in, 0, len(in)
		c.handleInput()
		c.handOver()
		c.out.mu.Lock()
		if !noAck {
			c.publisher.settles = append(c.publisher.settles, settle{c.last, c.last.deliveryTag, amqp.MethodBasicAck, queue.Ack, true})
		}
		out := c.out.takeLocked()
		_, waiters := c.out.wroteLocked(&out)
		c.out.mu.Unlock()
		resume(waiters)
		out.giveBack()
		c.wait() // as the reader does, or the queue falls behind without bound
	}
}

func BenchmarkFlowNoAck16(b *testing.B)   { benchmarkFlow(b, 16, true) }
func BenchmarkFlowNoAck1024(b *testing.B) { benchmarkFlow(b, 1024, true) }
func BenchmarkFlowAck16(b *testing.B)     { benchmarkFlow(b, 16, false) }
