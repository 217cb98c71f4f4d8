package server

import "sync/atomic"

// SizeBounds are the bytes up to which the bodies of messages are of a size; what is larger than the last is of a size of its own.
//
// [RabbitMQ, rabbitmq_message_size_bytes]: these are its buckets.
var SizeBounds = [...]int{100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 50_000_000, 100_000_000}

// Sizes counts messages by the size of their bodies.
type Sizes struct {
	Counts [len(SizeBounds) + 1]uint64
	Bytes  uint64 // of all bodies
}

// note counts one message. The bounds are few, and most messages are small: a walk beats a search.
func (s *Sizes) note(size int) {
	i := 0
	for i < len(SizeBounds) && size > SizeBounds[i] {
		i++
	}
	s.Counts[i]++
	s.Bytes += uint64(size)
}

// sizes are the server's; connections add to them once a batch.
type sizes struct {
	counts [len(SizeBounds) + 1]atomic.Uint64
	bytes  atomic.Uint64
}

// add adds a connection's counts to the server's, once a batch.
func (s *sizes) add(n *Sizes) {
	for i, count := range n.Counts {
		if count > 0 {
			s.counts[i].Add(count)
		}
	}
	if n.Bytes > 0 {
		s.bytes.Add(n.Bytes)
	}
}

func (s *sizes) read() (n Sizes) {
	for i := range n.Counts {
		n.Counts[i] = s.counts[i].Load()
	}
	n.Bytes = s.bytes.Load()
	return n
}
