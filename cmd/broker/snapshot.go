package main

import (
	"leveret/exchange"
	"leveret/metrics"
	"leveret/queue"
	"leveret/vhost"
)

// figures hand the numbers that the packages count to the metrics. They wait for nobody.
type figures struct{ *node }

var _ metrics.Source = figures{}

// Node gathers what is of the broker as a whole.
func (n figures) Node() metrics.Node {
	s, disk, logins := n.server.Stats(), n.store.Stats(), n.users.Attempts()
	return metrics.Node{
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
		LoginsTried:       logins.Total,
		LoginsFailed:      logins.Failed,
		Published:         s.Published,
		Confirmed:         s.Confirmed,
		Returned:          s.Returned,
		Unroutable:        s.Unroutable,
		Dropped:           map[string]uint64{"reply_lost": s.ReplyLost, "queue_gone": s.QueueGone, "rejected": s.Contents.Rejected},
		Syncs:             disk.Syncs,
		RecordsWritten:    disk.Records,
		WrittenBytes:      disk.Bytes,
		Reads:             disk.Reads,
		ReadBytes:         disk.ReadBytes,
		DamagedRecords:    disk.DamagedRecords,

		QueueTypes: n.queueTypes(),
		Memory:     map[string]uint64{"queues": uint64(s.Contents.ReadyBytes), "total": s.Memory},
	}
}

// queueTypes sums up all queues of a type. What queues did that are gone counts for the type that most are of.
func (n figures) queueTypes() []metrics.Queue {
	sums := []metrics.Queue{{Type: "classic"}, {Type: "quorum"}, {Type: "stream"}}
	n.eachVHost(func(v *vhost.VHost) {
		v.Queues(func(q *queue.Queue) bool {
			figures := queueFigures(q)
			for i := range sums {
				if sums[i].Type == figures.Type {
					sums[i].Add(&figures)
				}
			}
			return true
		})
		retired := queueTotals(v.Retired()) // last, so that the totals of a queue that closes meanwhile are not missed
		sums[0].Add(&retired)
	})
	return sums
}

// Queues returns each queue's numbers as of its last turn.
func (n figures) Queues() []metrics.Queue {
	var list []metrics.Queue
	n.eachVHost(func(v *vhost.VHost) {
		v.Queues(func(q *queue.Queue) bool {
			list = append(list, queueFigures(q))
			return true
		})
	})
	return list
}

// queueFigures are one queue's numbers.
func queueFigures(q *queue.Queue) metrics.Queue {
	s, o := q.Stats(), q.Options()
	f := queueTotals(s.Totals)
	f.VHost, f.Name, f.Type = o.VHost, o.Name, "classic"
	if kind, ok := o.Arguments.Get("x-queue-type"); ok {
		f.Type, _ = kind.(string)
	}
	f.Ready, f.Unacked, f.Consumers = uint64(s.Ready), uint64(s.Unacked), uint64(s.Consumers)
	f.MemoryBytes = uint64(s.ReadyBytes)
	return f
}

// queueTotals are the numbers that only grow.
func queueTotals(t queue.Totals) metrics.Queue {
	return metrics.Queue{
		Published: t.Published, DeliveredManualAck: t.Delivered, DeliveredAutoAck: t.DeliveredAuto, GotManualAck: t.Got, GotAutoAck: t.GotAuto,
		GotEmpty: t.GetEmpty, Redelivered: t.Redelivered, Acked: t.Acked, Requeued: t.Requeued, Rejected: t.Rejected, Purged: t.Purged,
	}
}

// Exchanges returns all exchanges but the default one, which has no bindings that anybody made.
func (n figures) Exchanges() []metrics.Exchange {
	var list []metrics.Exchange
	n.eachVHost(func(v *vhost.VHost) {
		v.Exchanges(func(x *exchange.Exchange) bool {
			list = append(list, metrics.Exchange{VHost: v.Name(), Name: x.Name(), Type: x.Options().Type, Bindings: uint64(x.Len())})
			return true
		})
	})
	return list
}

// Channels and Connections return nothing as long as no snapshots of them are at hand.

func (n figures) Channels() []metrics.Channel { return nil }

func (n figures) Connections() []metrics.Connection { return nil }

// VHosts returns the names of the virtual hosts.
func (n figures) VHosts() []string {
	var list []string
	n.eachVHost(func(v *vhost.VHost) { list = append(list, v.Name()) })
	return list
}

func (n figures) eachVHost(f func(*vhost.VHost)) {
	if v := n.server.VHost("/"); v != nil {
		f(v)
	}
}
