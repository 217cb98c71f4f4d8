package vhost_test

import (
	"testing"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

// TestLimitsWhenTheyAreSet: a virtual host that holds too much is full from the moment on at which a limit says so, and until one does not.
func TestLimitsWhenTheyAreSet(t *testing.T) {
	h := newHost(t)
	q := h.queue("q")
	batch := queue.NewBatch()
	for range 3 {
		m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte("q")), 0, 0, 'x'))
		m.SetProperties(2, new(amqp.PropertyIndex), 1)
		batch.Add(m, nil)
	}
	if q.Push(batch).Run {
		q.Run()
	}
	for _, tt := range []struct {
		limits vhost.Limits
		full   bool
	}{
		{vhost.Limits{vhost.MaxMessages: 3}, true}, {vhost.Limits{vhost.MaxMessages: 4}, false}, {vhost.Limits{vhost.MaxBytes: 1}, true}, {nil, false},
	} {
		h.SetLimits(tt.limits)
		if h.Full() != tt.full {
			t.Errorf("with %v and 3 messages it is full: %v", tt.limits, h.Full())
		}
	}
}
