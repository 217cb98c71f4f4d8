package management

import (
	"bytes"
	"sync"

	"leveret/amqp"
)

// basket receives what is got from a queue over HTTP. For the queue it is the outbox of a connection, and a basic.get on it; it belongs to the
// call, which waits for each message.
type basket struct {
	mu sync.Mutex

	// What the last DeliverGot brought. Nobody else has the basket, and the queue's turn is over when Get returns, so that the call
	// may read these without the lock.
	seq         uint64
	message     amqp.Message
	redelivered bool
	remaining   int
}

// Lock is called by the queue around DeliverGot.
func (b *basket) Lock() { b.mu.Lock() }

// Unlock ends it.
func (b *basket) Unlock() { b.mu.Unlock() }

// Touch says that nobody has to flush.
func (b *basket) Touch() bool { return false }

// Flush has nothing to send.
func (b *basket) Flush(bool) {}

// DeliverGot takes a message. It is copied, as the queue may use its memory again.
func (b *basket) DeliverGot(seq uint64, m amqp.Message, redelivered bool, remaining int) {
	b.seq, b.message, b.redelivered, b.remaining = seq, bytes.Clone(m), redelivered, remaining
}
