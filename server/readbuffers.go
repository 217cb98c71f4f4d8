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

// The pools hold pointers to arrays: unlike the head of a slice, such a pointer goes into a pool without being allocated.
var (
	readBuffers    = sync.Pool{New: func() any { return new([readBuffer]byte) }}
	crowdedBuffers = sync.Pool{New: func() any { return new([crowdedBuffer]byte) }}
	frugalBuffers  = sync.Pool{New: func() any { return new([frugalBuffer]byte) }}
)

// borrowed is a buffer that has room behind so many bytes, of which a buffer of full size has room for some.
func (in *input) borrowed(pending int) []byte {
	switch {
	case pending <= frugalBuffer/2 && in.frugal():
		return frugalBuffers.Get().(*[frugalBuffer]byte)[:]
	case pending <= crowdedBuffer/2 && in.crowded():
		return crowdedBuffers.Get().(*[crowdedBuffer]byte)[:]
	}
	return readBuffers.Get().(*[readBuffer]byte)[:]
}

// isBorrowed tells buffers by their size.
func isBorrowed(b []byte) bool {
	return len(b) == readBuffer || len(b) == crowdedBuffer || len(b) == frugalBuffer
}

// returnBuffer gives a buffer back to where it was borrowed, if it was.
func returnBuffer(b []byte) {
	switch len(b) {
	case readBuffer:
		readBuffers.Put((*[readBuffer]byte)(b))
	case crowdedBuffer:
		crowdedBuffers.Put((*[crowdedBuffer]byte)(b))
	case frugalBuffer:
		frugalBuffers.Put((*[frugalBuffer]byte)(b))
	}
}
