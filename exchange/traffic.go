package exchange

import "sync/atomic"

// traffic counts what was published to one exchange. Publishers add to it once a batch.
type traffic struct{ in, out, confirmable, returned, dropped atomic.Uint64 }

// Traffic is what was published to an exchange since it was made.
type Traffic struct {
	In          uint64 // messages
	Out         uint64 // copies of them that reached queues
	Confirmable uint64 // of In, those of publishers that want confirms
	Returned    uint64 // of In, those that no queue wanted and that went back
	Dropped     uint64 // and those that did not
}

// Count adds messages that were published to the exchange. Any goroutine may call it.
func (x *Exchange) Count(t Traffic) {
	x.traffic.in.Add(t.In)
	x.traffic.out.Add(t.Out)
	addSome(&x.traffic.confirmable, t.Confirmable)
	addSome(&x.traffic.returned, t.Returned)
	addSome(&x.traffic.dropped, t.Dropped)
}

// addSome leaves a counter alone that others may be reading when there is nothing to add.
func addSome(to *atomic.Uint64, n uint64) {
	if n > 0 {
		to.Add(n)
	}
}

// Traffic returns the counts so far. Any goroutine may call it.
func (x *Exchange) Traffic() Traffic {
	t := &x.traffic
	return Traffic{
		In: t.in.Load(), Out: t.out.Load(), Confirmable: t.confirmable.Load(), Returned: t.returned.Load(), Dropped: t.dropped.Load(),
	}
}
