package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/server"
	"leveret/store"
	"leveret/vhost"
)

// Each limit on connections refuses one more, in the order that clients know, and lets it in when another has gone.
func TestConnectionLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(r *rig)
		node int
		text string
	}{
		{"node", func(*rig) {}, 2, "connection refused: node connection limit (2) is reached"},
		{"vhost", func(r *rig) { r.must(r.SetVHostLimit("v", vhost.MaxConnections, 1)) }, 0,
			"access to vhost 'v' refused for user 'guest': connection limit (1) is reached"},
		{"user", func(r *rig) { r.must(r.users.SetLimit("guest", auth.MaxConnections, 2)) }, 0,
			"connection refused for user 'guest': user connection limit (2) is reached"},
		{"vhost before user", func(r *rig) {
			r.must(r.SetVHostLimit("v", vhost.MaxConnections, 1))
			r.must(r.users.SetLimit("guest", auth.MaxConnections, 2))
		}, 0, "access to vhost 'v' refused for user 'guest': connection limit (1) is reached"},
		{"node before all", func(r *rig) {
			r.must(r.SetVHostLimit("v", vhost.MaxConnections, 1))
			r.must(r.users.SetLimit("guest", auth.MaxConnections, 2))
		}, 2, "connection refused: node connection limit (2) is reached"},
		{"none at all", func(r *rig) { r.must(r.SetVHostLimit("v", vhost.MaxConnections, 0)) }, 0,
			"access to vhost 'v' refused for user 'guest': connection limit (0) is reached"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions()
			o.ConnectionMax = tt.node
			r := start(t, o)
			r.mustCreate("v")
			one, other := r.openIn("v"), r.open()
			tt.set(r)
			r.refusedOpening(opening{vhost: "v"}, "NOT_ALLOWED - "+tt.text)
			one.goodbye()
			other.goodbye()
			if tt.name == "none at all" {
				return
			}
			eventually(t, "nobody is counted any more", func() bool { all, _, _ := r.Connections("", ""); return all == 0 })
			r.openIn("v").goodbye()
		})
	}
}

// A negative limit is none.
func TestNegativeLimitsAreNone(t *testing.T) {
	r := start(t, testOptions())
	r.must(r.SetVHostLimits("/", vhost.Limits{vhost.MaxConnections: -1, vhost.MaxQueues: -1, vhost.MaxMessages: -1, vhost.MaxBytes: -1}))
	r.must(r.users.SetLimits("guest", auth.Limits{auth.MaxConnections: -1, auth.MaxChannels: -1}))
	c := r.open()
	c.declare("q")
	fill(c, "q", 10, 1)
	c.goodbye()
}

// The counts of connections are those of the moment, whatever way connections end.
func TestConnectionsAreCounted(t *testing.T) {
	r := start(t, testOptions())
	r.mustCreate("v")
	a, b, c := r.open(), r.openIn("v"), r.dial()
	if err := c.opening(opening{user: "limited"}); err != nil {
		t.Fatal(err)
	}
	if all, inside, own := r.Connections("v", "guest"); all != 3 || inside != 1 || own != 2 {
		t.Errorf("%d connections, %d in the virtual host, %d of guest; want 3, 1, 2", all, inside, own)
	}
	r.refusedOpening(opening{user: "limited", vhost: "v"}, "NOT_ALLOWED - access to vhost 'v' refused for user 'limited'")
	a.goodbye()
	b.conn.Close()
	c.send(1, &amqp.BasicQos{PrefetchSize: 1})
	c.expect(amqp.MethodConnectionClose)
	eventually(t, "all are counted out", func() bool {
		all, inside, own := r.Connections("v", "guest")
		return all == 0 && inside == 0 && own == 0
	})
}

func TestChannelLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		node int
		user int64
		text string
	}{
		{"user", 0, 2, "NOT_ALLOWED - number of channels opened for user 'guest' has reached the maximum allowed user limit of 2"},
		{"node", 2, -1, "NOT_ALLOWED - number of channels opened on node 'leveret@localhost' has reached the maximum allowed limit of 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions()
			o.ChannelMaxPerNode = tt.node
			r := start(t, o)
			r.must(r.users.SetLimit("guest", auth.MaxChannels, tt.user))
			c := r.open()
			c.call(2, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
			c.call(2, &amqp.ChannelClose{}, amqp.MethodChannelCloseOk)
			c.call(2, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
			other := r.dial()
			other.out = append(other.out, protocolHeader...)
			other.add(0, opening{}.startOk(), &amqp.ConnectionTuneOk{FrameMax: 131072, ChannelMax: 8}, &amqp.ConnectionOpen{VirtualHost: "/"})
			other.add(1, &amqp.ChannelOpen{})
			other.mustFlush()
			for _, id := range []amqp.MethodID{amqp.MethodConnectionStart, amqp.MethodConnectionTune, amqp.MethodConnectionOpenOk} {
				other.expect(id)
			}
			m := other.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
			if m.ReplyCode != 530 || m.ReplyText != tt.text || m.ClassID != 0 || m.MethodID != 0 {
				t.Errorf("got %d %q at %d,%d", m.ReplyCode, m.ReplyText, m.ClassID, m.MethodID)
			}
			c.goodbye()
			r.open().goodbye()
		})
	}
}

func TestConsumerLimit(t *testing.T) {
	o := testOptions()
	o.ConsumerMaxPerChannel = 1
	r := start(t, o)
	c := r.open()
	c.declare("q")
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "a"}, amqp.MethodBasicConsumeOk)
	c.call(1, &amqp.BasicCancel{ConsumerTag: "a"}, amqp.MethodBasicCancelOk)
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "b"}, amqp.MethodBasicConsumeOk)
	c.send(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "c"})
	if m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose); m.ReplyText != "NOT_ALLOWED - reached maximum (1) of consumers per channel" {
		t.Errorf("got %q", m.ReplyText)
	}
}

func TestQueueAndExchangeLimits(t *testing.T) {
	const queue, exchange = "PRECONDITION_FAILED - cannot declare queue 'new': ", "PRECONDITION_FAILED - cannot declare exchange 'new' in vhost '/': "
	for _, tt := range []struct {
		name   string
		change func(o *server.Options)
		limit  int64
		method amqp.Method
		text   string
	}{
		{"queues of a vhost", func(*server.Options) {}, 1, &amqp.QueueDeclare{Queue: "new"}, queue + "queue limit in vhost '/' (1) is reached"},
		{"queues of the broker", func(o *server.Options) { o.QueueMax = 1 }, -1, &amqp.QueueDeclare{Queue: "new"},
			queue + "queue limit in cluster (1) is reached"},
		{"exchanges", func(o *server.Options) { o.ExchangeMax = 9 }, -1, &amqp.ExchangeDeclare{Exchange: "new", Type: "fanout"},
			exchange + "exchange limit of 9 is reached"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions()
			tt.change(&o)
			r := start(t, o)
			r.must(r.SetVHostLimit("/", vhost.MaxQueues, tt.limit))
			c := r.open()
			c.declare("old")
			c.call(1, &amqp.ExchangeDeclare{Exchange: "old", Type: "fanout"}, amqp.MethodExchangeDeclareOk)
			c.declare("old") // what is there may be declared again
			c.send(1, tt.method)
			if m := c.expect(amqp.MethodChannelClose).(*amqp.ChannelClose); m.ReplyText != tt.text {
				t.Errorf("got %q", m.ReplyText)
			}
			c.send(1, &amqp.ChannelCloseOk{})
			c.call(1, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
			c.call(1, &amqp.QueueDelete{Queue: "old"}, amqp.MethodQueueDeleteOk)
			c.call(1, &amqp.ExchangeDelete{Exchange: "old"}, amqp.MethodExchangeDeleteOk)
			c.call(1, tt.method, tt.method.ID()+1) // each answer's number follows its question's
		})
	}
}

// A full virtual host refuses what is published to its queues, tells publishers that confirm, and takes messages again when there is room.
func TestFullVHostRefusesPublishes(t *testing.T) {
	for limit, value := range map[string]int64{vhost.MaxMessages: 5, vhost.MaxBytes: 2000} {
		t.Run(limit, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, testOptions(), store.NewMemory())
				r.Serve()
				r.must(r.SetVHostLimit("/", limit, value))
				c := r.pipe()
				c.mustOpen()
				c.declare("q")
				c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
				publish := func(want amqp.MethodID) {
					t.Helper()
					c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, make([]byte, 400))
					c.mustFlush()
					c.expect(want)
					time.Sleep(1100 * time.Millisecond)
				}
				for range 5 {
					publish(amqp.MethodBasicAck)
				}
				publish(amqp.MethodBasicNack)
				publish(amqp.MethodBasicNack)
				if n := r.Stats().OverQuota; n != 2 {
					t.Errorf("%d publishes counted as refused, want 2", n)
				}
				c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nowhere"), Mandatory: true}, nil, nil)
				c.mustFlush()
				c.expect(amqp.MethodBasicReturn) // what goes to no queue needs no room
				c.content()
				c.expect(amqp.MethodBasicAck)
				c.call(1, &amqp.QueuePurge{Queue: "q"}, amqp.MethodQueuePurgeOk)
				time.Sleep(1100 * time.Millisecond)
				publish(amqp.MethodBasicAck)
				c.goodbye()
				r.stop()
			})
		})
	}
}
