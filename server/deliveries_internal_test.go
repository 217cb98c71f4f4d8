package server

import (
	"testing"

	"leveret/queue"
)

// A channel that gets from very many queues seldom looks which of them are gone.
func TestManyCountedQueues(t *testing.T) {
	var d deliveries
	looks, crowd := 0, d.crowd
	for n := range 50_000 {
		d.of(queue.New(queue.Options{Name: "q"})).Got++
		if d.crowd != crowd { // which a look changes
			looks, crowd = looks+1, d.crowd
		}
		if len(d.by) != n+1 {
			t.Fatalf("%d queues are counted, want %d", len(d.by), n+1)
		}
	}
	if looks > 10 {
		t.Errorf("it looked %d times", looks)
	}
	if got := d.total().Got; got != 50_000 {
		t.Errorf("%d gets", got)
	}
}

// What is acked after its queue has gone, and was forgotten, still counts for the channel.
func TestAcksOfAForgottenQueueCount(t *testing.T) {
	ch := &channel{}
	q := queue.New(queue.Options{Name: "q"})
	c := &consumer{channel: ch, counted: ch.delivered.of(q)}
	c.counted.Delivered = 2
	held := unacked{queue: q, consumer: c}
	held.counters(ch).settle(queue.Ack, 1)
	if _, err := q.Delete(false, false); err != nil {
		t.Fatal(err)
	}
	ch.delivered.forgetClosed()
	held.counters(ch).settle(queue.Ack, 1)
	if got := ch.delivered.total(); got.Delivered != 2 || got.Acked != 2 {
		t.Errorf("%d of %d deliveries count as acked, want 2 of 2", got.Acked, got.Delivered)
	}
}
