package server_test

import (
	"context"
	"testing"
	"time"

	"leveret/amqp"
)

// TestTuningChanges: new connections are offered what is set, and old ones keep what they agreed on.
func TestTuningChanges(t *testing.T) {
	r := start(t, testOptions())
	old := r.open()
	tuning := r.Tuning()
	tuning.ChannelMax = 3
	r.SetTuning(tuning)
	if r.Tuning().ChannelMax != 3 {
		t.Error("it is not set")
	}
	c := r.dial()
	if err := c.opening(opening{channelMax: 4}); err == nil {
		t.Error("a client may have more channels than it was offered")
	}
	old.declare("still-works")
}

// TestSuspendAndResume: clients are told, what is not durable goes, nobody gets in, and then everything goes on at the same address.
func TestSuspendAndResume(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("transient")
	c.call(1, &amqp.QueueDeclare{Queue: "durable", Durable: true}, amqp.MethodQueueDeclareOk)
	plain, _ := r.Addresses()
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() { done <- r.Suspend(ctx) }()
	if m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose); m.ReplyCode != 320 {
		t.Errorf("closed with %d", m.ReplyCode)
	}
	c.send(0, &amqp.ConnectionCloseOk{})
	if err := <-done; err != nil || !r.Suspended() {
		t.Fatalf("suspended %v, %v", r.Suspended(), err)
	}
	if nc, err := dialTCP(r); err == nil {
		nc.Close()
		t.Error("somebody gets in")
	}
	if n := r.Stats(); n.Connections != 0 || n.Queues != 1 {
		t.Errorf("%d connections, %d queues", n.Connections, n.Queues)
	}
	if err := r.Suspend(ctx); err != nil {
		t.Errorf("twice: %v", err)
	}
	if err := r.Resume(); err != nil || r.Suspended() {
		t.Fatal(err)
	}
	if again, _ := r.Addresses(); again[0] != plain[0] {
		t.Errorf("listens on %v, not on %v", again, plain)
	}
	r.open().call(1, &amqp.QueueDeclare{Queue: "durable", Passive: true}, amqp.MethodQueueDeclareOk)
	if err := r.Resume(); err != nil {
		t.Errorf("twice: %v", err)
	}
}

// TestSuspendEndsStubbornClients: one that does not answer is not waited for longer than the context.
func TestSuspendEndsStubbornClients(t *testing.T) {
	r := start(t, testOptions())
	r.open()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := r.Suspend(ctx); err != nil {
		t.Fatal(err)
	}
	if n := r.Stats().Connections; n != 0 {
		t.Errorf("%d connections", n)
	}
}
