package queue

import (
	"sync"

	"leveret/amqp"
)

// BatchMessages is how many messages a batch holds at most.
const BatchMessages = 256

// Batch is what a publisher gathers for one queue before it hands it over. It belongs to the publisher until Push, to the queue after.
type Batch struct {
	// Unrefusable has the queue take all of it, because its publisher did not know in time that it may refuse some; see Queue.MayRefuse.
	Unrefusable bool

	messages []item
	tags     []uint32    // of the messages of a tagged queue, see Queue.Tagged
	refused  []item      // what the queue had no room for and is to be dead-lettered
	bytes    int         // of the messages, and what the broker adds to them
	bodies   int         // bytes of their bodies
	traits   amqp.Traits // of any of them
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
func (b *Batch) Add(m amqp.Message, k *Chunk) (full bool) { return b.AddSized(m, k, len(m.Body())) }

// AddSized is Add for a message of which it is known how many bytes its body has. What the queue wants to know of its messages before they are delivered is
// summed up here, where they have just been written: the queue would have to fetch each of them from memory for that.
func (b *Batch) AddSized(m amqp.Message, k *Chunk, body int) (full bool) {
	b.messages = append(b.messages, item{m, k})
	b.bytes += len(m) + entryOverhead
	b.bodies += body
	b.traits |= m.Traits()
	return len(b.messages) == BatchMessages
}

// Tag is called before each Add for a queue that is Tagged.
func (b *Batch) Tag(tag uint32) { b.tags = append(b.tags, tag) }

// AddTagged is Tag and Add.
func (b *Batch) AddTagged(m amqp.Message, k *Chunk, tag uint32) (full bool) {
	b.Tag(tag)
	return b.Add(m, k)
}

// tag is what AddTagged was given for a message, else 0.
func (b *Batch) tag(i int) uint32 {
	if i < len(b.tags) {
		return b.tags[i]
	}
	return 0
}

// Len is the number of messages in the batch.
func (b *Batch) Len() int { return len(b.messages) }

// free gives the batch back; it must keep no message alive.
func (b *Batch) free() {
	clear(b.messages)
	b.messages, b.tags = b.messages[:0], b.tags[:0]
	if len(b.refused) > 0 {
		clear(b.refused)
		b.refused = b.refused[:0]
	}
	b.Unrefusable, b.bytes, b.bodies, b.traits, b.first, b.next = false, 0, 0, 0, 0, nil
	batches.Put(b)
}
