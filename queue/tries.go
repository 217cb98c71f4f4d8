package queue

import "sync/atomic"

// tries counts what became of the deliveries to a consumer of messages that nobody had got before. Written by whoever runs the queue, read by anyone; atomic.
type tries struct{ acked, failed uint64 }

func (t *tries) count(o Outcome, n uint64) {
	switch {
	case n == 0:
	case o == Ack:
		atomic.StoreUint64(&t.acked, t.acked+n)
	default:
		atomic.StoreUint64(&t.failed, t.failed+n)
	}
}

// FirstTries returns how many messages that nobody had got before the consumer acked, and how many it rejected, or came back from it. Any goroutine may call it.
func (c *Consumer) FirstTries() (acked, failed uint64) {
	return atomic.LoadUint64(&c.tries.acked), atomic.LoadUint64(&c.tries.failed)
}
