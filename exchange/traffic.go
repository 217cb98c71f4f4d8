package exchange

import "sync/atomic"

// traffic counts what was published to one exchange. Publishers add to it once a batch.
type traffic struct{ in, out atomic.Uint64 }

// Traffic is what was published to an exchange since it was made: the messages, and the copies of them that reached queues.
type Traffic struct{ In, Out uint64 }

// Count adds messages that were published to the exchange. Any goroutine may call it.
func (x *Exchange) Count(t Traffic) {
	x.traffic.in.Add(t.In)
	x.traffic.out.Add(t.Out)
}

// Traffic returns the counts so far. Any goroutine may call it.
func (x *Exchange) Traffic() Traffic {
	return Traffic{In: x.traffic.in.Load(), Out: x.traffic.out.Load()}
}
