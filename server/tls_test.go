package server_test

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"leveret/amqp"
)

// startTLS runs a server that listens for TLS too.
func startTLS(t *testing.T) *rig {
	o := testOptions()
	o.TLSAddresses, o.TLS = []string{"127.0.0.1:0"}, certified(t)
	o.TLSHandshakeTimeout = patience
	return start(t, o)
}

// dialTLS opens a connection and channel 1 over TLS of that version at most, on a socket that is passed through wrap.
func (r *rig) dialTLS(version uint16, wrap func(net.Conn) net.Conn) *client {
	r.t.Helper()
	_, secure := r.Addresses()
	nc, err := net.Dial("tcp", secure[0])
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	c := newClient(r.t, tls.Client(wrap(nc), &tls.Config{InsecureSkipVerify: true, MaxVersion: version}))
	c.mustOpen()
	return c
}

// inOneSegment is a socket that, once it holds, writes what it is given together with the end.
type inOneSegment struct {
	net.Conn
	holds   bool
	waiting []byte
}

func (s *inOneSegment) Write(b []byte) (int, error) {
	if s.holds {
		s.waiting = append(s.waiting, b...)
		return len(b), nil
	}
	return s.Conn.Write(b)
}

func (s *inOneSegment) Close() error {
	s.Conn.SetWriteDeadline(time.Now().Add(patience)) // the one that TLS leaves is over
	if _, err := s.Conn.Write(s.waiting); err != nil {
		return err
	}
	return s.Conn.Close()
}

// What a client publishes right before it closes its socket counts, even when the end comes in the same segment.
func TestPublishAndCloseInOneSegment(t *testing.T) {
	const rounds = 20
	r := startTLS(t)
	watch := r.open()
	watch.declare("q")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for range rounds {
			socket := new(inOneSegment)
			c := r.dialTLS(version, func(nc net.Conn) net.Conn {
				socket.Conn = nc
				return socket
			})
			socket.holds = true
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, nil)
			c.mustFlush()
			if err := c.conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "connections gone", func() bool { return r.Stats().Connections == 1 })
		if m := watch.call(1, &amqp.QueuePurge{Queue: "q"}, amqp.MethodQueuePurgeOk).(*amqp.QueuePurgeOk); m.MessageCount != rounds {
			t.Errorf("%s: %d of %d messages arrived", tls.VersionName(version), m.MessageCount, rounds)
		}
	}
	watch.goodbye()
}
