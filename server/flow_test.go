package server_test

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/server"
	"leveret/store"
)

// fill publishes n messages of that size to a queue and waits until the last is confirmed.
func fill(c *client, queue string, n, size int) {
	c.t.Helper()
	if err := c.fill(queue, n, size); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) fill(queue string, n, size int) error {
	c.add(1, &amqp.ConfirmSelect{})
	body := bytes.Repeat([]byte{'x'}, size)
	for range n {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(queue)}, nil, body)
	}
	if err := c.flush(); err != nil {
		return err
	}
	if _, err := c.method(amqp.MethodConfirmSelectOk); err != nil {
		return err
	}
	for {
		m, err := c.method(amqp.MethodBasicAck)
		if err != nil {
			return err
		}
		if m.(*amqp.BasicAck).DeliveryTag == uint64(n) {
			return nil
		}
	}
}

// A consumer that reads nothing keeps no more than a small multiple of the limit in its outbox, with and without acknowledgement; the
// queue's other consumer gets the rest.
func TestConsumerThatReadsNothing(t *testing.T) {
	for _, noAck := range []bool{true, false} {
		t.Run(fmt.Sprintf("no-ack %t", noAck), func(t *testing.T) {
			const messages, size = 200, 64 << 10
			inMemory(t, func(t *testing.T, r *rig, p *client) {
				p.declare("q")
				stuck := r.pipe()
				defer stuck.conn.Close()
				stuck.mustOpen()
				stuck.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "stuck", NoAck: noAck}, amqp.MethodBasicConsumeOk)
				p.fillQueue(messages, size)
				synctest.Wait()
				all, deliveries := r.Waiting()
				if deliveries == 0 || deliveries > server.DeliveryLimit+2*size || all > deliveries+size {
					t.Errorf("%d bytes of deliveries wait, %d bytes in all; the limit is %d", deliveries, all, server.DeliveryLimit)
				}
				ready := p.call(1, &amqp.QueueDeclare{Queue: "q", Passive: true}, amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk).MessageCount
				if ready == 0 {
					t.Fatal("all messages went to a consumer that reads nothing")
				}
				other := r.pipe()
				defer other.conn.Close()
				other.mustOpen()
				other.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "other", NoAck: true}, amqp.MethodBasicConsumeOk)
				for range ready {
					if _, err := other.method(amqp.MethodBasicDeliver); err != nil {
						t.Fatal(err)
					}
					if _, err := other.content(); err != nil {
						t.Fatal(err)
					}
				}
				// The stuck one finds all of its own when it reads after all.
				for range messages - ready {
					if _, err := stuck.method(amqp.MethodBasicDeliver); err != nil {
						t.Fatal(err)
					}
					if body, err := stuck.content(); err != nil || len(body) != size {
						t.Fatalf("%d octets (%v), want %d", len(body), err, size)
					}
				}
			})
		})
	}
}

// A client that asks and never reads is not read any more when its replies pile up.
func TestRepliesThatNobodyReads(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	const size = 128 << 10
	body := make([]byte, size)
	for sent := 0; ; sent += size {
		if sent > 40*server.ReplyLimit {
			t.Fatalf("%d bytes were taken from a client that does not read its returns", sent)
		}
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("none"), Mandatory: true}, nil, body)
		if !c.isRead(func() bool { all, _ := r.Waiting(); return all >= server.ReplyLimit }) {
			break
		}
	}
	if all, _ := r.Waiting(); all < server.ReplyLimit || all > 2*server.ReplyLimit {
		t.Errorf("%d bytes wait, the limit is %d", all, server.ReplyLimit)
	}
	c.conn.Close()
}

// isRead writes what was added. It reports false when the server does not read on, for a second in which it has reason to.
func (c *client) isRead(reason func() bool) bool {
	b := c.out
	c.out = c.out[:0]
	for end := time.Now().Add(patience); ; {
		c.conn.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := c.conn.Write(b)
		if err == nil {
			return true
		}
		if b = b[n:]; reason() || !isTimeout(err) || time.Now().After(end) {
			return false
		}
	}
}

// used is the process's memory as the server measures it.
func used() uint64 {
	debug.FreeOSMemory()
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// A publisher that floods a queue nobody reads is held at the limit, is told so once, and goes on when the queue was drained.
func TestPublisherIsHeldAtTheMemoryLimit(t *testing.T) {
	const room, size = 48 << 20, 64 << 10
	o := testOptions()
	o.MemoryLimit = used() + room
	r := start(t, o)
	p := r.open()
	p.declare("q")
	consumer := r.open() // before the alarm: connections that do not publish are not held back by it
	body := make([]byte, size)
	for n := 0; ; n++ {
		if n == 40*room/size {
			t.Fatalf("%d bytes were taken, the memory limit leaves room for %d", n*size, room)
		}
		p.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, body)
		if !p.isRead(func() bool { return r.Stats().Blocked == 1 }) {
			break
		}
	}
	p.expect(amqp.MethodConnectionBlocked)
	if s := r.Stats(); !s.MemoryAlarm || s.Blocked != 1 {
		t.Errorf("alarm %t, %d connections blocked, want the alarm and one", s.MemoryAlarm, s.Blocked)
	}
	consumer.call(1, &amqp.QueuePurge{Queue: "q"}, amqp.MethodQueuePurgeOk)
	p.expect(amqp.MethodConnectionUnblocked)
	p.conn.Close()
	consumer.goodbye()
}

// Whatever is published during an alarm, wherever it goes, is the connection's last until the alarm is over: the client is told, all else is
// still done for it, and the next publish waits. Others don't notice.
func TestBlockedOnceAnAlarm(t *testing.T) {
	for name, key := range map[string]string{"routed": "q", "unroutable": "none"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, testOptions(), store.NewMemory())
				defer r.stop()
				p, quiet, plain := r.pipe(), r.pipe(), r.pipe()
				for i, c := range []*client{p, quiet, plain} {
					defer c.conn.Close()
					if err := c.opening(opening{plain: i == 2}); err != nil {
						t.Fatal(err)
					}
				}
				p.declare("q")
				for range 2 {
					synctest.Wait() // all that was published before is done with
					r.HoldAlarm(true)
					for _, c := range []*client{p, plain} {
						publish(c, key, nil, false)
					}
					if m := p.expect(amqp.MethodConnectionBlocked).(*amqp.ConnectionBlocked); m.Reason != "low on memory" {
						t.Errorf("reason %q", m.Reason)
					}
					for _, c := range []*client{p, plain, quiet} {
						c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
					}
					if n := r.Stats().Blocked; n != 2 {
						t.Errorf("%d connections blocked, want 2", n)
					}
					for _, c := range []*client{p, plain} {
						c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(key)}, nil, nil)
						c.send(1, &amqp.BasicQos{})
						c.silent("held by the alarm")
					}
					r.HoldAlarm(false)
					p.expectBoth(amqp.MethodConnectionUnblocked, amqp.MethodBasicQosOk)
					plain.expect(amqp.MethodBasicQosOk)
				}
			})
		})
	}
}

// A channel's limit that is raised delivers at once; the answer and the delivery may come in either order.
func TestRaisedLimitDelivers(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("q")
	c.call(1, &amqp.BasicQos{PrefetchCount: 1, Global: true}, amqp.MethodBasicQosOk)
	for range 2 {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, nil)
	}
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t"}, amqp.MethodBasicConsumeOk)
	c.expect(amqp.MethodBasicDeliver)
	c.content()
	c.send(1, &amqp.BasicQos{PrefetchCount: 2, Global: true})
	got := map[amqp.MethodID]bool{}
	for range 3 {
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		if f.Type == frame.TypeMethod {
			got[f.MethodID()] = true
		}
	}
	if !got[amqp.MethodBasicQosOk] || !got[amqp.MethodBasicDeliver] {
		t.Errorf("got %v, want qos-ok and a delivery", got)
	}
	c.goodbye()
}

// An alarm that ends before the connection publishes again leaves nothing behind: the next one is told anew, and holds only from then on.
func TestEachAlarmIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, testOptions(), store.NewMemory())
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		for range 3 {
			synctest.Wait()
			r.HoldAlarm(true)
			publish(c, "none", nil, false)
			c.expect(amqp.MethodConnectionBlocked)
			c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
			r.HoldAlarm(false)
			c.expect(amqp.MethodConnectionUnblocked)
		}
		publish(c, "none", nil, true)
		c.expect(amqp.MethodBasicReturn)
	})
}

// expectBoth reads two methods that may come in either order.
func (c *client) expectBoth(a, b amqp.MethodID) {
	c.t.Helper()
	got := map[amqp.MethodID]bool{}
	for range 2 {
		f, err := c.next()
		if err != nil {
			c.t.Fatal(err)
		}
		got[f.MethodID()] = true
	}
	if !got[a] || !got[b] {
		c.t.Errorf("got %v, want %s and %s", got, a, b)
	}
}
