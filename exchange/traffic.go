package exchange

import "sync/atomic"

// Counter counts what was published. Publishers add to it once a batch, and anybody may read it meanwhile.
type Counter struct{ in, out, confirmable, returned, dropped atomic.Uint64 }

// Traffic is what was published to an exchange.
type Traffic struct {
	In          uint64 // messages
	Out         uint64 // copies of them that reached queues
	Confirmable uint64 // of In, those of publishers that want confirms
	Returned    uint64 // of In, those that no queue wanted and that went back
	Dropped     uint64 // and those that did not
}

// Add adds messages. Any goroutine may call it.
func (c *Counter) Add(t Traffic) {
	c.in.Add(t.In)
	c.out.Add(t.Out)
	addSome(&c.confirmable, t.Confirmable)
	addSome(&c.returned, t.Returned)
	addSome(&c.dropped, t.Dropped)
}

// addSome leaves a counter alone that others may be reading when there is nothing to add.
func addSome(to *atomic.Uint64, n uint64) {
	if n > 0 {
		to.Add(n)
	}
}

// Traffic returns the counts so far. Any goroutine may call it.
func (c *Counter) Traffic() Traffic {
	return Traffic{
		In: c.in.Load(), Out: c.out.Load(), Confirmable: c.confirmable.Load(), Returned: c.returned.Load(), Dropped: c.dropped.Load(),
	}
}

// Count adds messages that were published to the exchange. Any goroutine may call it.
func (x *Exchange) Count(t Traffic) { x.traffic.Add(t) }

// Traffic returns what was published to the exchange since it was made. Any goroutine may call it.
func (x *Exchange) Traffic() Traffic { return x.traffic.Traffic() }
