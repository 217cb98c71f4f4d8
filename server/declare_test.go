package server_test

import (
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// gate is a consumer inside the process that holds its queue's runner in the middle of a delivery.
type gate struct {
	queue.Consumer
	reached chan struct{}
	open    chan struct{}
}

func newGate() *gate {
	g := &gate{reached: make(chan struct{}, 1), open: make(chan struct{})}
	g.NoAck, g.Outbox, g.Receiver = true, g, g
	return g
}

func (g *gate) Lock()       {}
func (g *gate) Unlock()     {}
func (g *gate) Touch() bool { return false }
func (g *gate) Flush(bool)  {}
func (g *gate) Cancelled()  {}
func (g *gate) Deliver(uint64, amqp.Message, bool) bool {
	g.reached <- struct{}{}
	<-g.open
	return true
}

// A declare may find an auto-delete queue whose last consumer is about to go. It makes another then, and is never told that the queue is
// not there; only a passive one is.
func TestDeclareMeetsAQueueInItsLastMoment(t *testing.T) {
	for name, d := range map[string]amqp.QueueDeclare{
		"active": {AutoDelete: true}, "active without answer": {AutoDelete: true, NoWait: true}, "passive": {Passive: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, testOptions(), store.NewMemory())
				defer r.stop()
				p, c := r.pipe(), r.pipe()
				defer p.conn.Close()
				defer c.conn.Close()
				p.mustOpen()
				c.mustOpen()
				p.call(1, &amqp.QueueDeclare{Queue: "q", AutoDelete: true}, amqp.MethodQueueDeclareOk)
				old, err := r.VHost("/").Queue("q", 0)
				if err != nil {
					t.Fatal(err)
				}
				g := newGate()
				if err := old.Consume(&g.Consumer, func() {}); err != nil {
					t.Fatal(err)
				}
				publish(p, "q", nil, false)
				<-g.reached
				cancelled := make(chan bool)
				go func() { cancelled <- old.Cancel(&g.Consumer, func() {}) }()
				synctest.Wait()
				d.Queue = "q"
				c.send(1, &d)
				synctest.Wait() // the declare has found the queue and asks for its counts, behind the cancel
				if old.Closed() {
					t.Fatal("the queue has closed too early for this test")
				}
				close(g.open)
				if !<-cancelled {
					t.Fatal("the queue did not close")
				}
				c.expectDeclared(&d)
			})
		})
	}
}

// expectDeclared holds that a queue was declared anew, unless the declare was passive.
func (c *client) expectDeclared(d *amqp.QueueDeclare) {
	c.t.Helper()
	switch {
	case d.Passive:
		if m := c.expect(amqp.MethodChannelClose).(*amqp.ChannelClose); m.ReplyCode != amqp.CodeNotFound {
			c.t.Errorf("a passive declare was told %d %s", m.ReplyCode, m.ReplyText)
		}
	case d.NoWait:
		publish(c, d.Queue, nil, true)
		c.call(1, &amqp.BasicGet{Queue: d.Queue, NoAck: true}, amqp.MethodBasicGetOk)
		if _, err := c.content(); err != nil {
			c.t.Fatal(err)
		}
	default:
		if m := c.expect(amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk); m.MessageCount != 0 || m.ConsumerCount != 0 {
			c.t.Errorf("%d messages and %d consumers in a queue that is new", m.MessageCount, m.ConsumerCount)
		}
	}
}
