package queue

import (
	"sync"
	"sync/atomic"

	"leveret/store"
)

const (
	// ChunkSize is the size in bytes of the memory that publishers build messages in.
	ChunkSize = 128 << 10
	// MostInChunk is the size of the largest message that shares a chunk with others.
	MostInChunk = ChunkSize / 4
	// MostOwned is the size of the largest message that may stand in a chunk of its own. Larger ones are written to the disk and to clients from where
	// they stand, so that has to be memory which is not used again.
	MostOwned = store.MostCopied
)

// Chunk is memory in which a publisher builds messages one behind the other. It is counted how many queue entries refer to it, so that it
// is used again as soon as the last one is settled, long before a garbage collection would find it free: at a million messages a second
// that saves a third of all work.
//
// The publisher holds references for the queues as it hands messages over, without an atomic operation, and retires the chunk when it is
// full. Queues release theirs in runs. A reference that is never released is no harm: the collector takes the chunk then. One that
// is used after its release is: whoever keeps a message beyond its entry copies it.
type Chunk struct {
	// Bytes are the messages built so far; the publisher appends, within the capacity.
	Bytes []byte

	held  int // references that the publisher has given out
	owned int // of what class it is, if it is for a single large message
	refs  atomic.Int64
}

// bias stands in the count for the publisher, who has not said yet how many references there are.
const bias = 1 << 40

var chunks = sync.Pool{New: func() any {
	return &Chunk{Bytes: make([]byte, 0, ChunkSize)}
}}

// NewChunk returns an empty chunk for one publisher.
func NewChunk() *Chunk {
	k := chunks.Get().(*Chunk)
	k.refs.Store(bias)
	return k
}

// ownedStep is by how many bytes the classes of chunks for single messages differ: they are of as many bytes as the class times this.
const ownedStep = 8 << 10

// owned are chunks for single large messages, by class. To clear memory for them and to collect it was a fifth of the work on a message of 64 KiB.
var owned [(MostOwned+ownedStep-1)/ownedStep + 1]sync.Pool

// NewOwned returns an empty chunk for one message of a size up to MostOwned, which retires it after its references are held.
func NewOwned(size int) *Chunk {
	class := max(1, (size+ownedStep-1)/ownedStep)
	k, ok := owned[class].Get().(*Chunk)
	if !ok {
		k = &Chunk{Bytes: make([]byte, 0, class*ownedStep), owned: class}
	}
	k.refs.Store(bias)
	return k
}

// Owned reports whether the chunk is for a single message.
func (k *Chunk) Owned() bool { return k.owned > 0 }

// Hold adds references, one for each queue that gets a message. Only the publisher may call it, before it hands the message over.
func (k *Chunk) Hold(n int) { k.held += n }

// Retire says that the publisher builds nothing more here.
func (k *Chunk) Retire() { k.Release(bias - k.held) }

// Release gives up references; it may be called from any goroutine. What was built in the chunk must not be read any more after
// the reference to it is gone.
func (k *Chunk) Release(n int) {
	if k.refs.Add(int64(-n)) == 0 {
		k.Bytes, k.held = k.Bytes[:0], 0
		if k.owned > 0 {
			owned[k.owned].Put(k)
			return
		}
		chunks.Put(k)
	}
}

// releases counts references to be given up, so that a run of messages from one chunk costs one atomic operation. Owned by whoever
// runs the queue.
type releases struct {
	chunk *Chunk
	n     int
}

// add gives up one reference, at the latest at the next flush.
func (r *releases) add(k *Chunk) {
	if k == r.chunk {
		r.n++
		return
	}
	r.flush()
	r.chunk, r.n = k, 1
}

func (r *releases) flush() {
	if r.chunk != nil {
		r.chunk.Release(r.n)
	}
	r.chunk, r.n = nil, 0
}
