package server

import "sync"

const (
	// readBuffer is the size of a reader's buffer; it holds a frame of the default frame_max and its neighbours.
	readBuffer = 256 << 10
	// crowdedBuffer is its size where there are many connections: if all of them have input at once, all have a buffer.
	crowdedBuffer = 64 << 10
	// frugalBuffer is its size where what comes is little, or has to wait: see [connection.frugal].
	frugalBuffer = 8 << 10
)

var (
	readBuffers    = newBuffers(readBuffer)
	crowdedBuffers = newBuffers(crowdedBuffer)
	frugalBuffers  = newBuffers(frugalBuffer)
)

// newBuffers pools slices by pointer, as a slice in an interface would be an allocation.
func newBuffers(size int) *sync.Pool {
	return &sync.Pool{New: func() any { b := make([]byte, size); return &b }}
}

// borrowed is a buffer that has room behind so many bytes, of which a buffer of full size has room for some.
func (in *input) borrowed(pending int) []byte {
	pool := readBuffers
	switch {
	case pending <= frugalBuffer/2 && in.frugal():
		pool = frugalBuffers
	case pending <= crowdedBuffer/2 && in.crowded():
		pool = crowdedBuffers
	}
	return *pool.Get().(*[]byte)
}

// isBorrowed tells buffers by their size.
func isBorrowed(b []byte) bool {
	return len(b) == readBuffer || len(b) == crowdedBuffer || len(b) == frugalBuffer
}

// returnBuffer gives a buffer back to where it was borrowed, if it was.
func returnBuffer(b []byte) {
	switch len(b) {
	case readBuffer:
		readBuffers.Put(&b)
	case crowdedBuffer:
		crowdedBuffers.Put(&b)
	case frugalBuffer:
		frugalBuffers.Put(&b)
	}
}
