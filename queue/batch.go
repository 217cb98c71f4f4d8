package queue

import (
	"sync"

	"leveret/amqp"
)

// BatchMessages is how many messages a batch holds at most.
const BatchMessages = 256

// Batch is what a publisher gathers for one queue before it hands it over. It belongs to the publisher until Push, to the queue after.
type Batch struct {
	messages []item
	bytes    int
	first    uint64
	next     *Batch
}

// item is one message with the chunk that it stands in.
type item struct {
	message amqp.Message
	chunk   *Chunk
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// NewBatch returns an empty batch.
func NewBatch() *Batch { return batches.Get().(*Batch) }

// Add appends a message, which must not change any more, and the chunk that it stands in, nil for none, which must hold a reference for
// it. It reports whether the batch is full and has to be pushed.
func (b *Batch) Add(m amqp.Message, k *Chunk) (full bool) {
	b.messages = append(b.messages, item{m, k})
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
