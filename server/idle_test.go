package server_test

import (
	"crypto/tls"
	"net"
	"testing"

	"leveret/amqp"
)

// A connection that has nothing to do keeps neither a large buffer nor the memory that it built its last messages in.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const connections = 24
	for _, kind := range []struct {
		name string
		dial func(r *rig) *client
		most int // of both ends
	}{
		{"plain", (*rig).open, 24 << 10},
		{"TLS", func(r *rig) *client { return r.dialTLS(tls.VersionTLS13, func(nc net.Conn) net.Conn { return nc }) }, 80 << 10},
	} {
		t.Run(kind.name, func(t *testing.T) {
			r := startTLS(t)
			kind.dial(r).declare("q")
			headers := amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "a", Value: "b"}}}
			before := heap()
			var all []*client
			for range connections {
				c := kind.dial(r)
				for range 10 {
					c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, &headers, make([]byte, 10_000))
				}
				c.call(1, &amqp.QueuePurge{Queue: "q"}, amqp.MethodQueuePurgeOk)
				c.frames, c.out = nil, nil // the client's own buffers
				all = append(all, c)
			}
			eventually(t, "idle connections are small", func() bool { return heap()-before < connections*kind.most })
			for _, c := range all {
				c.conn.Close()
			}
		})
	}
}
