package server_test

import (
	"testing"

	"leveret/amqp"
)

// The counters say what was done, and the gauges come back to nothing.
func TestStats(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("q")
	fill(c, "q", 5, 10)
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nobody"), Mandatory: true}, nil, nil)
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nobody")}, nil, nil)
	c.mustFlush()
	for tag := uint64(5); tag < 7; {
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		var m amqp.BasicAck
		if f.Type == 1 && f.MethodID() == m.ID() {
			if err := m.Decode(f.Arguments()); err != nil {
				t.Fatal(err)
			}
			tag = m.DeliveryTag
		}
	}
	c.call(1, &amqp.BasicGet{Queue: "q"}, amqp.MethodBasicGetOk)
	if _, err := c.content(); err != nil {
		t.Fatal(err)
	}
	c.call(2, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	eventually(t, "counters are visible", func() bool {
		s := r.Stats()
		return s.Channels == 2 && s.Confirmed == 7 && s.Contents.Unacked == 1
	})
	s := r.Stats()
	for _, figure := range []struct {
		name      string
		got, want int
	}{
		{"connections", s.Connections, 1}, {"opened", int(s.ConnectionsOpened), 1}, {"queues", s.Queues, 1},
		{"published", int(s.Published), 7}, {"routed", int(s.Routed), 5}, {"returned", int(s.Returned), 1},
		{"unroutable", int(s.Unroutable), 1}, {"confirmed", int(s.Confirmed), 7},
		{"ready", s.Contents.Ready, 4}, {"unacked", s.Contents.Unacked, 1},
	} {
		if figure.got != figure.want {
			t.Errorf("%s: %d, want %d", figure.name, figure.got, figure.want)
		}
	}
	c.goodbye()
	eventually(t, "the connection is gone", func() bool { s := r.Stats(); return s.ConnectionsClosed == 1 && s.ChannelsClosed > 0 })
	if s := r.Stats(); s.Connections != 0 || s.Channels != 0 || s.ChannelsClosed != 2 {
		t.Errorf("%d connections and %d channels left, %d channels closed; want 0, 0, 2", s.Connections, s.Channels, s.ChannelsClosed)
	}
}
