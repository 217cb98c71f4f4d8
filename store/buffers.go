package store

import "sync"

// Payloads are pooled by the size of their buffers. With one pool for all, each buffer would in time have held a large batch: a thousand small ones
// that wait for the disk together would keep hundreds of megabytes.

// bufferSizes are the capacities in bytes that buffers have at least, by class. The largest is a publisher's batch of a megabyte, and what
// its records and their growth take.
var bufferSizes = [...]int{4 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20}

// fewRecords is for how many records a payload keeps room though it had no use for it.
const fewRecords = 64

var payloads = func() (pools [len(bufferSizes)]*sync.Pool) {
	for class, size := range bufferSizes {
		pools[class] = &sync.Pool{New: func() any { return &payload{buf: make([]byte, 0, size)} }}
	}
	return pools
}()

// newPayload returns an empty payload with a buffer for about so many bytes.
func newPayload(size int) *payload { return payloads[classFor(size)].Get().(*payload) }

// classFor is the class of the smallest buffers that have room for so many bytes; the largest ones if none has.
func classFor(size int) int {
	for class, most := range bufferSizes {
		if size <= most {
			return class
		}
	}
	return len(bufferSizes) - 1
}

// enlarged returns the payload with room for so many bytes more, as another one if it is not too large to be pooled; p is given back then.
func (p *payload) enlarged(more int) *payload {
	need := len(p.buf) + more
	if need > bufferSizes[len(bufferSizes)-1] {
		return p
	}
	l := newPayload(need)
	l.buf, l.cuts, l.recs, l.pairs = append(l.buf, p.buf...), append(l.cuts, p.cuts...), append(l.recs, p.recs...), append(l.pairs, p.pairs...)
	l.size = p.size
	p.release()
	return l
}

// release puts the payload back, emptied. Its buffer may be taken by another goroutine at once.
func (p *payload) release() {
	class := len(bufferSizes) - 1
	for class > 0 && cap(p.buf) < bufferSizes[class] {
		class--
	}
	if size := cap(p.buf); size < bufferSizes[0] || size > 2*bufferSizes[len(bufferSizes)-1] {
		return
	}
	clear(p.cuts) // drop the large bodies
	*p = payload{buf: p.buf[:0], cuts: p.cuts[:0], recs: emptied(p.recs), pairs: emptied(p.pairs)}
	payloads[class].Put(p)
}

// emptied is a slice's memory for the next use, unless it is much more than this one took.
func emptied[T any](s []T) []T {
	if cap(s) > max(fewRecords, 4*len(s)) {
		return nil
	}
	return s[:0]
}
