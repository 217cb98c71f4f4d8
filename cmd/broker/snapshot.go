package main

import (
	"math"
	"strconv"
	"time"

	"leveret/exchange"
	"leveret/metrics"
	"leveret/queue"
	"leveret/server"
)

// figures hand the numbers that the packages count to the metrics. They wait for nobody.
type figures struct{ *node }

var _ metrics.Source = figures{}

// Node gathers what is of the broker as a whole. Counters, those from ConnectionsOpened on, only grow from the start of the process on, as Prometheus
// makes rates of them; times are in seconds.
func (n figures) Node() metrics.Node {
	// Two looks, one after the other: a message between them is counted on one side only.
	s, disk := n.server.Stats(), n.store.Stats()
	m := metrics.Node{
		ConnectionCount: uint64(s.Connections),
		ChannelCount:    uint64(s.Channels),
		ConsumerCount:   uint64(s.Contents.Consumers),
		QueueCount:      uint64(s.Queues),
		Blocked:         uint64(s.Blocked),
		MemoryAlarm:     s.MemoryAlarm,
		DiskAlarm:       s.DiskAlarm,
		MemoryLimit:     n.server.MemoryLimit(),
		StoreBytes:      uint64(disk.LogBytes + disk.RootBytes),
		UnsyncedBytes:   disk.Unsynced,

		ConnectionsOpened: s.ConnectionsOpened,
		ConnectionsClosed: s.ConnectionsClosed,
		ChannelsOpened:    s.ChannelsOpened,
		ChannelsClosed:    s.ChannelsClosed,
		QueuesDeclared:    s.QueuesDeclared,
		QueuesCreated:     s.QueuesCreated,
		QueuesDeleted:     s.QueuesDeleted,
		Published:         s.Published,
		Confirmable:       s.Confirmable,
		Confirmed:         s.Confirmed,
		Returned:          s.Returned,
		Unroutable:        s.Unroutable,
		Dropped:           dropped(&s),
		TimedOut:          s.TimedOut,
		Syncs:             disk.Syncs,
		RecordsWritten:    disk.Records,
		WrittenBytes:      disk.Bytes,
		Writes:            disk.Batches,
		Reads:             disk.Reads,
		ReadBytes:         disk.ReadBytes,
		DamagedRecords:    disk.DamagedRecords,
		SyncSeconds:       float64(disk.SyncNanos) / 1e9,
		ReadSeconds:       float64(disk.ReadNanos) / 1e9,
		WriteSeconds:      float64(disk.WriteNanos) / 1e9,
		Sizes:             sizes(&s.Sizes),

		Memory: map[string]uint64{"queues": uint64(s.Contents.ReadyBytes), "total": s.Memory},
	}
	wait, processing := n.server.Timings()
	m.Wait, m.Processing = durations(&wait), durations(&processing)
	for _, l := range n.users.AttemptsByProtocol() {
		m.Logins = append(m.Logins, metrics.Logins{Protocol: l.Protocol, Tried: l.Total, Failed: l.Failed})
	}
	if limited, ok := n.store.(diskLimited); ok {
		m.DiskFree, m.DiskLimit = limited.Free(), limited.MinFree()
	}
	channels := n.server.Channels()
	n.addQueues(&m, n.server.OldestUnacked())
	addChannels(&m, channels)
	for _, c := range n.server.OpenConnections() {
		of := connectionFigures(&c)
		m.Connections.Add(&of)
	}
	return m
}

// diskLimited is a store that is on a disk. One in memory has no free space that could be told.
type diskLimited interface {
	Free() uint64
	MinFree() uint64
	SetMinFree(bytes uint64)
}

// dropped are the messages that the broker dropped, by reason. Those for which there was no queue have a number of their own.
func dropped(s *server.Stats) map[string]uint64 {
	// Of all queues, those that are gone included.
	d := s.Contents.Dropped
	return map[string]uint64{
		"reply_lost": s.ReplyLost, "queue_gone": s.QueueGone, "queue_full": s.Refused, "duplicate": s.Duplicates, "vhost_full": s.OverQuota,
		"rejected": d[queue.Rejected], "expired": d[queue.Expired], "maxlen": d[queue.MaxLength], "delivery_limit": d[queue.DeliveryLimit],
		"damaged": s.Contents.Damaged,
	}
}

// addQueues sums up all queues of a type. What queues did that are gone counts for the type that most are of.
func (n figures) addQueues(m *metrics.Node, holding map[*queue.Queue]time.Duration) {
	m.QueueTypes = []metrics.Queue{{Type: "classic"}, {Type: "quorum"}, {Type: "stream"}}
	now := time.Now()
	n.eachQueue(func(q *queue.Queue) {
		figures := queueFigures(q, holding[q], now)
		for i := range m.QueueTypes {
			if m.QueueTypes[i].Type == figures.Type {
				m.QueueTypes[i].Add(&figures)
			}
		}
		m.OldestAge, m.MostUnacked = max(m.OldestAge, figures.OldestAge), max(m.MostUnacked, figures.MostUnacked)
		m.OldestUnackedAge = max(m.OldestUnackedAge, figures.OldestUnackedAge)
		m.Unattended += figures.Unattended
	})
	for _, v := range n.server.VHosts() { // last, so that the totals of a queue that closes meanwhile are not missed
		retired := queueTotals(v.Retired())
		m.QueueTypes[0].Add(&retired)
	}
}

// addChannels sums up the channels.
// A channel counts as a publisher from its first message on, as in RabbitMQ.
func addChannels(m *metrics.Node, channels []server.ChannelStatus) {
	for i := range channels {
		ch := &channels[i]
		of := channelFigures(ch)
		m.Channels.Add(&of)
		if ch.Publishes.Published > 0 {
			m.Publishers++
		}
	}
}

// Queues returns each queue's numbers as of its last turn.
func (n figures) Queues() []metrics.Queue {
	var list []metrics.Queue
	holding, now := n.server.OldestUnacked(), time.Now()
	n.eachQueue(func(q *queue.Queue) {
		f := queueFigures(q, holding[q], now)
		// Only here and not for sums: quantiles can't be added up.
		wait, processing := q.Wait(now), q.Processing(now)
		f.Wait, f.Processing = quantiles(&wait), quantiles(&processing)
		list = append(list, f)
	})
	return list
}

// queueFigures are one queue's numbers.
func queueFigures(q *queue.Queue, held time.Duration, now time.Time) metrics.Queue {
	s, o := q.Stats(), q.Options()
	f := queueTotals(s.Totals)
	// What a queue was declared as counts, and what is not said is classic.
	f.VHost, f.Name, f.Type = o.VHost, o.Name, "classic"
	if kind, ok := o.Arguments.Get("x-queue-type"); ok {
		f.Type, _ = kind.(string)
	}
	f.Ready, f.Unacked, f.Consumers = uint64(s.Ready), uint64(s.Unacked), uint64(s.Consumers)
	f.MemoryBytes, f.ReadyBytes = uint64(s.ReadyBytes), uint64(s.Bodies)
	f.Bodies, f.UnackedBytes = uint64(s.Bodies+s.UnackedBodies), uint64(s.UnackedBodies)
	f.Persistent, f.PersistentBytes = uint64(s.Persistent), uint64(s.PersistentBodies)
	f.UnackedInMemory, f.InMemoryBytes = uint64(s.UnackedInMemory), uint64(s.InMemoryBodies)
	// NaN is RabbitMQ's value for a queue whose next message has no timestamp: 0 would be 1970.
	if f.HeadTimestamp = math.NaN(); s.HeadTimestamp > 0 && s.Ready > 0 {
		f.HeadTimestamp = float64(s.HeadTimestamp)
	}
	f.Utilisation = s.Utilisation()
	if s.Head > 0 {
		f.OldestAge = max(0, now.Sub(time.UnixMilli(s.Head)).Seconds())
	}
	f.OldestUnackedAge, f.MostUnacked = held.Seconds(), uint64(s.MostUnacked)
	f.InMemory, f.Pending = uint64(s.InMemory), uint64(s.Pending) // messages, not bytes
	// A queue that fills up and nobody takes from is what operators want to be warned of.
	if s.Ready > 0 && s.Consumers == 0 {
		f.Unattended = 1
	}
	return f
}

// queueTotals are the numbers that only grow.
func queueTotals(t queue.Totals) metrics.Queue {
	return metrics.Queue{
		Published: t.Published, DeliveredManualAck: t.Delivered, DeliveredAutoAck: t.DeliveredAuto, GotManualAck: t.Got, GotAutoAck: t.GotAuto,
		GotEmpty: t.GetEmpty, Redelivered: t.Redelivered, Acked: t.Acked, Requeued: t.Requeued, Rejected: t.Rejected, Purged: t.Purged,
		DiskWrites: t.DiskWrites, DiskReads: t.DiskReads,
		DeadLettered: deaths(&t.DeadLettered), Dropped: deaths(&t.Dropped),
	}
}

// deaths are a queue's counters by reason, as far as the metrics have a label for it.
func deaths(by *[queue.Reasons]uint64) metrics.Deaths {
	return metrics.Deaths{Rejected: by[queue.Rejected], Expired: by[queue.Expired], TooLong: by[queue.MaxLength], DeliveryLimit: by[queue.DeliveryLimit]}
}

// Exchanges returns all exchanges.
// Bindings are counted where they begin.
func (n figures) Exchanges() []metrics.Exchange {
	var list []metrics.Exchange
	for _, v := range n.server.VHosts() {
		v.Exchanges(func(x *exchange.Exchange) bool {
			t := x.Traffic()
			list = append(list, metrics.Exchange{
				VHost: v.Name(), Name: x.Name(), Type: x.Options().Type, Bindings: uint64(x.Len()),
				Published: t.In, Confirmed: t.Confirmable, Returned: t.Returned, Dropped: t.Dropped,
			})
			return true
		})
	}
	return list
}

// Channels returns the open channels.
func (n figures) Channels() []metrics.Channel {
	channels := n.server.Channels()
	list := make([]metrics.Channel, len(channels))
	for i := range channels {
		list[i] = channelFigures(&channels[i])
	}
	return list
}

// ChannelQueues returns what the open channels got of each queue.
func (n figures) ChannelQueues() []metrics.ChannelQueue {
	all := n.server.ChannelQueues()
	list := make([]metrics.ChannelQueue, len(all))
	for i := range all {
		d, o := &all[i].Deliveries, all[i].Queue.Options()
		list[i] = metrics.ChannelQueue{
			ChannelID: channelID(all[i].Connection, all[i].Number), VHost: o.VHost, Queue: o.Name,
			DeliveredManualAck: d.Delivered, DeliveredAutoAck: d.DeliveredAuto, GotManualAck: d.Got, GotAutoAck: d.GotAuto, GotEmpty: d.GetEmpty,
			Redelivered: d.Redelivered, Acked: d.Acked,
		}
	}
	return list
}

// ChannelExchanges returns what the open channels published to each exchange.
func (n figures) ChannelExchanges() []metrics.ChannelExchange {
	var list []metrics.ChannelExchange
	for _, c := range n.server.ChannelExchanges() {
		t := c.Traffic
		list = append(list, metrics.ChannelExchange{
			ChannelID: channelID(c.Connection, c.Number), VHost: c.VHost.Name(), Exchange: c.Exchange.Name(),
			Published: t.In, Confirmed: t.Confirmable, Returned: t.Returned, Dropped: t.Dropped,
		})
	}
	return list
}

// QueueExchanges returns what went through each exchange into each queue.
func (n figures) QueueExchanges() []metrics.QueueExchange {
	var list []metrics.QueueExchange
	for _, v := range n.server.VHosts() {
		for _, f := range v.Flows() {
			list = append(list, metrics.QueueExchange{
				VHost: v.Name(), Queue: f.Queue.Name(), Exchange: f.Exchange.Name(), Published: f.Messages(),
			})
		}
	}
	return list
}

// ChannelQueueExchanges returns the same of each open channel.
func (n figures) ChannelQueueExchanges() []metrics.ChannelQueueExchange {
	var list []metrics.ChannelQueueExchange
	for _, c := range n.server.ChannelExchanges() {
		for _, i := range c.Inflows {
			list = append(list, metrics.ChannelQueueExchange{
				ChannelID: channelID(c.Connection, c.Number), VHost: c.VHost.Name(), Queue: i.Queue.Name(), Exchange: c.Exchange.Name(),
				Published: i.Messages,
			})
		}
	}
	return list
}

// channelID is what a channel is called in labels.
func channelID(connection uint64, number uint16) string {
	return strconv.FormatUint(connection, 10) + "." + strconv.Itoa(int(number))
}

// channelFigures are one channel's numbers.
func channelFigures(ch *server.ChannelStatus) metrics.Channel {
	return metrics.Channel{
		ID:        channelID(ch.Connection, ch.Number),
		Consumers: uint64(ch.Consumers), Unacked: uint64(ch.Unacked), Unconfirmed: uint64(ch.Unconfirmed), Uncommitted: uint64(ch.Uncommitted),
		AcksUncommitted: uint64(ch.Settling), Prefetch: uint64(ch.Prefetch),
	}
}

// Connections returns the open connections.
func (n figures) Connections() []metrics.Connection {
	connections := n.server.OpenConnections()
	list := make([]metrics.Connection, len(connections))
	for i := range connections {
		list[i] = connectionFigures(&connections[i])
	}
	return list
}

// connectionFigures are one connection's. Its label is its number: addresses of clients would make a new series for each port.
func connectionFigures(c *server.ConnectionStatus) metrics.Connection {
	return metrics.Connection{
		ID: strconv.FormatUint(c.ID, 10), ReceivedBytes: c.Received.Bytes, SentBytes: c.Sent.Bytes, Reads: c.Received.Calls, Writes: c.Sent.Calls,
		PendingBytes: uint64(c.Pending), Channels: uint64(c.Channels),
	}
}

// VHosts returns the names of the virtual hosts.
func (n figures) VHosts() []string {
	var list []string
	for _, v := range n.server.VHosts() {
		list = append(list, v.Name())
	}
	return list
}

// eachQueue visits the queues of all virtual hosts. None is held up by it: their numbers are those of their last turn.
func (n figures) eachQueue(f func(*queue.Queue)) {
	for _, v := range n.server.VHosts() {
		v.Queues(func(q *queue.Queue) bool {
			f(q)
			return true
		})
	}
}
