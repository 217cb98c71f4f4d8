package server

import (
	"sync/atomic"

	"leveret/queue"
)

// ChannelPublishes counts what a channel published.
type ChannelPublishes struct {
	Published  uint64 // complete messages
	Confirmed  uint64
	Returned   uint64 // no queue and mandatory
	Unroutable uint64 // dropped: no queue and not mandatory
}

// ChannelDeliveries counts what was delivered on a channel, and settled there.
type ChannelDeliveries struct {
	Delivered     uint64 // to consumers that acknowledge
	DeliveredAuto uint64 // to consumers that do not
	Got           uint64 // by basic.get, to be acknowledged
	GotAuto       uint64 // by basic.get without acknowledgement
	GetEmpty      uint64
	Redelivered   uint64 // of all deliveries, those of a message that came back
	Acked         uint64

	forgotten bool // their queue is gone, and what is counted from now on counts in the channel's past
}

// shownPublishes are a channel's publishes as others see them.
type shownPublishes struct {
	published, returned, unroutable atomic.Uint64
	uncommitted                     atomic.Int64
}

// store makes a channel's counts visible. Only its reader calls it, once a batch: so counting itself needs no atomic
// operation.
func (s *shownPublishes) store(c *ChannelPublishes) {
	s.published.Store(c.Published)
	s.returned.Store(c.Returned)
	s.unroutable.Store(c.Unroutable)
}

func (s *shownPublishes) load() ChannelPublishes {
	return ChannelPublishes{Published: s.published.Load(), Returned: s.returned.Load(), Unroutable: s.unroutable.Load()}
}

// countChannel notes that a channel has counted something in this batch.
func (p *publisher) countChannel(ch *channel) *ChannelPublishes {
	if !ch.counting {
		ch.counting = true
		p.counting = append(p.counting, ch)
	}
	return &ch.counted
}

// deliver counts a delivery. The outbox is locked.
func (d *ChannelDeliveries) deliver(auto, redelivered bool) {
	if auto {
		d.DeliveredAuto++
	} else {
		d.Delivered++
	}
	if redelivered {
		d.Redelivered++
	}
}

// got counts a basic.get that found a message. The outbox is locked.
func (d *ChannelDeliveries) got(auto, redelivered bool) {
	if auto {
		d.GotAuto++
	} else {
		d.Got++
	}
	if redelivered {
		d.Redelivered++
	}
}

// settle counts settled deliveries. The outbox is locked.
func (d *ChannelDeliveries) settle(o queue.Outcome, n uint64) {
	if o == queue.Ack {
		d.Acked += n
	}
}

// VHostCounters returns what connections did in the virtual host of that name since the server started. Any goroutine may call it.
func (s *Server) VHostCounters(name string) Counters { return s.vhostTotals(name).read() }

// vhostTotals are the counters of one virtual host. They stay when it is deleted, for one of the same name.
func (s *Server) vhostTotals(name string) *totals {
	if t, ok := s.perVHost.Load(name); ok {
		return t.(*totals)
	}
	t, _ := s.perVHost.LoadOrStore(name, new(totals))
	return t.(*totals)
}
