package queue_test

import (
	"fmt"
	"testing"

	"leveret/queue"
)

// A queue that counts tells of messages that somebody holds how often they came back, and how often for a failure; one that does not tells zeros.
func TestAttempts(t *testing.T) {
	for want, opts := range map[string]queue.Options{"[2 1] [1 0]": {Name: "q", Quorum: true}, "[0 0] [0 0]": {Name: "q"}} {
		g := newRig(t, opts)
		r := g.start(queue.Consumer{Tag: "c"})
		first := g.publish("a", "b")
		g.settle(r, queue.Requeue, first)
		g.settle(r, queue.Return, first, first+1)
		acquired, failed := g.Attempts([]uint64{first, first + 1})
		if got := fmt.Sprint(acquired, failed); got != want {
			t.Errorf("quorum %t: %s, want %s", opts.Quorum, got, want)
		}
	}
}
