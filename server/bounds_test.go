package server_test

import (
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/frame"
	"leveret/server"
	"leveret/store"
)

// inMemory plays with a client on a connection without any buffer between both ends, so that all that waits is the server's.
func inMemory(t *testing.T, play func(t *testing.T, r *rig, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, testOptions(), store.NewMemory())
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		play(t, r, c)
	})
}

// fillQueue publishes n messages of that size to queue "q" and waits until they are there.
func (c *client) fillQueue(n, size int) {
	c.t.Helper()
	c.declare("q")
	for range n {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, make([]byte, size))
	}
	c.mustFlush()
	c.declare("q")
}

// later writes what was added without waiting for the server to take it.
func (c *client) later() (done <-chan error) {
	written, out := make(chan error, 1), c.out
	c.out = nil
	go func() {
		_, err := c.conn.Write(out)
		written <- err
	}()
	synctest.Wait()
	return written
}

// One read may hold thousands of gets. They wait with their answers when the client does not read those, and all come when it does.
func TestPipelinedGetsWaitForTheirReader(t *testing.T) {
	const messages, size = 250, 60_000
	inMemory(t, func(t *testing.T, r *rig, c *client) {
		c.fillQueue(messages, size)
		for range messages {
			c.add(1, &amqp.BasicGet{Queue: "q", NoAck: true})
		}
		written := c.later()
		if all, _ := r.Waiting(); all < server.ReplyLimit || all > server.ReplyLimit+2*size {
			t.Errorf("%d bytes wait for a client that does not read, the limit is %d", all, server.ReplyLimit)
		}
		for range messages {
			c.expect(amqp.MethodBasicGetOk)
			if body, err := c.content(); err != nil || len(body) != size {
				t.Fatalf("%d octets (%v), want %d", len(body), err, size)
			}
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
}

// Many clients that ask and never read share what one may have waiting.
func TestRepliesThatManyDoNotRead(t *testing.T) {
	const clients, messages, size = 100, 200, 10_000
	inMemory(t, func(t *testing.T, r *rig, c *client) {
		var others []*client
		for range clients - 1 {
			other := r.pipe()
			defer other.conn.Close()
			other.mustOpen()
			others = append(others, other)
		}
		for _, other := range others {
			for range messages {
				other.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("none"), Mandatory: true}, nil, make([]byte, size))
			}
			other.later()
		}
		share := server.ReplyBudget / clients
		if all, _ := r.Waiting(); all < (clients-1)*share || all > clients*(share+64<<10+2*size) {
			t.Errorf("%d bytes wait for clients that do not read, the share of each is %d", all, share)
		}
	})
}

// What was published before a message that comes back is handed over before the reader waits for the client to read what came back.
func TestReturnsThatNobodyReadsHoldNothingBack(t *testing.T) {
	const messages, size = 10_000, 1000
	inMemory(t, func(t *testing.T, r *rig, c *client) {
		c.declare("q")
		for range messages {
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, nil)
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("none"), Mandatory: true}, nil, make([]byte, size))
		}
		c.later()
		c.addContent(&amqp.BasicReturn{ReplyCode: amqp.CodeNoRoute, ReplyText: amqp.NoRouteText, RoutingKey: []byte("none")}, make([]byte, size))
		all, _ := r.Waiting()
		returned := all / len(c.out)
		if all < server.ReplyLimit {
			t.Fatalf("%d bytes wait, so nothing holds the reader", all)
		}
		if n := r.Stats().Contents.Ready; n < returned {
			t.Errorf("%d messages came back, but of those published before them only %d are in the queue", returned, n)
		}
	})
}

// addContent appends a method with a body.
func (c *client) addContent(m amqp.Method, body []byte) {
	c.add(1, m)
	c.out = frame.AppendContentHeader(c.out, 1, amqp.ClassBasic, uint64(len(body)), []byte{0, 0})
	c.out = frame.AppendBody(c.out, 1, body, 131072)
}

// A channel or a connection without room refuses consumers and remembers them for later; those that are cancelled it forgets.
func TestCancelledConsumersAreForgotten(t *testing.T) {
	for name, exhaust := range map[string]func(t *testing.T, r *rig, c *client){
		"the channel's limit is reached": func(_ *testing.T, _ *rig, c *client) {
			c.fillQueue(2, 10)
			c.call(1, &amqp.BasicQos{PrefetchCount: 1, Global: true}, amqp.MethodBasicQosOk)
			c.call(1, &amqp.BasicGet{Queue: "q"}, amqp.MethodBasicGetOk)
			if _, err := c.content(); err != nil {
				c.t.Fatal(err)
			}
		},
		"the client does not read": func(t *testing.T, r *rig, c *client) {
			c.fillQueue(server.DeliveryLimit/size64KiB+40, size64KiB)
			c.send(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "full", NoWait: true})
			synctest.Wait()
			if _, deliveries := r.Waiting(); deliveries < server.DeliveryLimit {
				t.Fatalf("%d bytes of deliveries wait, so there is room", deliveries)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, r *rig, c *client) {
				exhaust(t, r, c)
				for range 500 {
					c.add(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t", NoWait: true}, &amqp.BasicCancel{ConsumerTag: "t", NoWait: true})
				}
				c.send(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "last", NoWait: true})
				synctest.Wait()
				if n := r.Refused(); n == 0 || n > 2 {
					t.Errorf("%d consumers are remembered, want no more than are there", n)
				}
				c.send(1, &amqp.ChannelClose{})
				synctest.Wait()
				if n := r.Refused(); n != 0 {
					t.Errorf("%d consumers of a closed channel are remembered", n)
				}
				c.conn.Close()
			})
		})
	}
}

const size64KiB = 64 << 10
