package server

import (
	"runtime"
	"testing"

	"leveret/amqp"
)

// A reply that is on its way while its requester cancels is not delivered any more: cancel-ok was the last word. The replier may have
// looked at the consumer before it was cancelled and wait for the outbox since.
func TestNoReplyBehindCancelOk(t *testing.T) {
	c := hotPath(t)
	ch := c.last
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte("k")), 0, 0))
	m.SetProperties(2, new(amqp.PropertyIndex), 0)
	for range 300 {
		rc := c.server.replies.register(newConsumer(ch, "t"))
		began, answer := make(chan struct{}), make(chan *outbox)
		c.out.mu.Lock()
		go func() {
			close(began)
			answer <- rc.deliver(m)
		}()
		<-began
		for range 10 {
			runtime.Gosched() // most of the time it waits for the outbox by now
		}
		rc.end()
		c.out.mu.Unlock()
		if <-answer != nil {
			t.Fatal("delivered behind cancel-ok")
		}
	}
}
