package server

import "sync/atomic"

// Counters count what connections did since the server started.
type Counters struct {
	ConnectionsOpened uint64
	ConnectionsClosed uint64
	ChannelsOpened    uint64
	ChannelsClosed    uint64
	Published         uint64 // complete messages taken from clients
	Confirmable       uint64 // of them, those of publishers that want confirms
	Routed            uint64 // of them, those that reached a queue
	Unroutable        uint64 // dropped: no queue and not mandatory
	Returned          uint64 // no queue and mandatory
	Confirmed         uint64
	Replied           uint64 // direct replies delivered
	ReplyLost         uint64 // dropped: the requester of a direct reply is gone
	QueueGone         uint64 // dropped: the queue was deleted at that moment
	Duplicates        uint64 // dropped: an exchange or a queue has the message already
	Refused           uint64 // by a full queue, counted for each; publishers with confirms were told
	OverQuota         uint64 // refused by a full virtual host; publishers with confirms were told
	TimedOut          uint64 // deliveries that were taken back because their client took too long
	TimeoutWarnings   uint64 // how often a channel was about to be too slow with a delivery
	Sizes             Sizes  // of the messages taken from clients
}

// totals are the server's counters; connections add to them once a batch.
type totals struct {
	connectionsOpened, connectionsClosed, channelsOpened, channelsClosed, published, confirmable, routed, unroutable, returned, replied, replyLost, queueGone,
	refused, duplicates, overQuota, timedOut, timeoutWarnings,
	confirmed atomic.Uint64
	sizes sizes
}

// add adds what a connection counted in a batch.
func (t *totals) add(n *Counters) {
	for _, c := range [...]struct {
		to *atomic.Uint64
		n  uint64
	}{
		{&t.channelsOpened, n.ChannelsOpened}, {&t.channelsClosed, n.ChannelsClosed}, {&t.published, n.Published}, {&t.confirmable, n.Confirmable},
		{&t.routed, n.Routed}, {&t.unroutable, n.Unroutable}, {&t.returned, n.Returned}, {&t.replied, n.Replied}, {&t.replyLost, n.ReplyLost},
		{&t.queueGone, n.QueueGone}, {&t.refused, n.Refused}, {&t.duplicates, n.Duplicates}, {&t.overQuota, n.OverQuota},
		{&t.timedOut, n.TimedOut},
		{&t.timeoutWarnings, n.TimeoutWarnings},
	} {
		if c.n > 0 {
			c.to.Add(c.n)
		}
	}
	if n.Published > 0 {
		t.sizes.add(&n.Sizes)
	}
}

// read is not of one moment: each counter is, and none is behind itself.
func (t *totals) read() Counters {
	return Counters{
		ConnectionsOpened: t.connectionsOpened.Load(), ConnectionsClosed: t.connectionsClosed.Load(),
		ChannelsOpened: t.channelsOpened.Load(), ChannelsClosed: t.channelsClosed.Load(),
		Published: t.published.Load(), Confirmable: t.confirmable.Load(), Routed: t.routed.Load(), Unroutable: t.unroutable.Load(), Returned: t.returned.Load(),
		Confirmed: t.confirmed.Load(), Replied: t.replied.Load(), ReplyLost: t.replyLost.Load(),
		QueueGone: t.queueGone.Load(), Refused: t.refused.Load(), Duplicates: t.duplicates.Load(), OverQuota: t.overQuota.Load(),
		TimedOut: t.timedOut.Load(), TimeoutWarnings: t.timeoutWarnings.Load(),
		Sizes: t.sizes.read(),
	}
}

// publishCounters makes what the connection counted visible.
func (c *connection) publishCounters() {
	c.server.totals.add(&c.counted)
	if c.totals != nil {
		c.totals.add(&c.counted)
	}
	c.counted = Counters{}
	c.show()
}
