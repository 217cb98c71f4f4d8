package queue

import (
	"sync"

	"leveret/amqp"
)

// BatchMessages is how many messages a batch holds at most.
const BatchMessages = 1024

// Batch is what a publisher gathers for one queue before it hands it over. It belongs to the publisher until Push, to the queue after.
type Batch struct {
	messages []amqp.Message
	bytes    int
	first    uint64
	next     *Batch
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// NewBatch returns an empty batch.
func NewBatch() *Batch { return batches.Get().(*Batch) }

// Add appends a message, which must not change any more. It reports whether the batch is full and has to be pushed.
func (b *Batch) Add(m amqp.Message) (full bool) {
	b.messages = append(b.messages, m)
	b.bytes += len(m) + entryOverhead
	return len(b.messages) == BatchMessages
}

// Len is the number of messages in the batch.
func (b *Batch) Len() int { return len(b.messages) }

// free gives the batch back; it must keep no message alive.
func (b *Batch) free() {
	clear(b.messages)
	b.messages, b.bytes, b.next = b.messages[:0], 0, nil
	batches.Put(b)
}
