package server

import (
	"testing"

	"leveret/queue"
)

// A channel that gets from very many queues seldom looks which of them are gone.
func TestManyCountedQueues(t *testing.T) {
	var d deliveries
	looks, many := 0, 0
	for n := range 50_000 {
		d.of(queue.New(queue.Options{Name: "q"})).Got++
		if d.many != many {
			looks, many = looks+1, d.many
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
