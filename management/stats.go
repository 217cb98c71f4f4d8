package management

import (
	"leveret/exchange"
	"leveret/queue"
	"leveret/server"
	"leveret/vhost"
)

// counters are the names of an object's counters, in the order of its samples.
type counters []string

// Counters of the kinds of objects. Names are those of message_stats; gauges stand behind them.
var (
	deliveryCounters = counters{"deliver", "deliver_no_ack", "deliver_get", "get", "get_no_ack", "get_empty", "redeliver", "ack"}
	publishCounters  = counters{"publish", "confirm", "return_unroutable", "drop_unroutable"}
	lengthCounters   = counters{"messages", "messages_ready", "messages_unacknowledged"}
	// Opened and closed since the start, which no list of what is there can tell.
	churnCounters = counters{
		"connection_created", "connection_closed", "channel_created", "channel_closed", "queue_declared", "queue_created", "queue_deleted",
	}
	storeCounters = counters{"disk_reads", "disk_writes"}
)

// addTo appends counters with their details to an object. from is where they stand in the samples.
// A window that is asked for adds the curve; the rate is always there.
func (cs counters) addTo(o object, values []uint64, h history, from int, w *window) object {
	for i, name := range cs {
		o = append(o, field{name, values[i]}, field{name + "_details", h.details(from+i, values[i], w)})
	}
	return o
}

// anyCount tells whether one of the values is not 0.
func anyCount(values []uint64) bool {
	for _, v := range values {
		if v != 0 {
			return true
		}
	}
	return false
}

// deliveries are the values of deliveryCounters.
func deliveries(t *queue.Totals) []uint64 {
	return []uint64{
		// deliver_get is RabbitMQ's sum of all ways in which a message gets to a client.
		t.Delivered, t.DeliveredAuto, t.Delivered + t.DeliveredAuto + t.Got + t.GotAuto, t.Got, t.GotAuto, t.GetEmpty, t.Redelivered, t.Acked,
	}
}

// lengths are the values of lengthCounters. Messages that wait for their time, or to leave, count among all, and neither as ready nor as unacked.
func lengths(s *queue.Stats) []uint64 {
	return []uint64{uint64(s.Ready + s.Unacked + s.Pending + s.Leaving), uint64(s.Ready), uint64(s.Unacked)}
}

// publishes are the values of publishCounters.
// confirm counts messages that have been confirmed, and not those that will be.
func publishes(c *server.Counters) []uint64 {
	return []uint64{c.Published, c.Confirmed, c.Returned, c.Unroutable}
}

// churn are the values of churnCounters.
func churn(s *server.Stats) []uint64 {
	return []uint64{s.ConnectionsOpened, s.ConnectionsClosed, s.ChannelsOpened, s.ChannelsClosed, s.QueuesDeclared, s.QueuesCreated, s.QueuesDeleted}
}

// queueSample is a queue's counters: what was routed to it, then deliveryCounters, then lengthCounters.
func queueSample(s *queue.Stats) []uint64 {
	values := append([]uint64{s.Published}, deliveries(&s.Totals)...)
	return append(values, lengths(s)...)
}

// Where things stand in a queue's samples.
const (
	queuePublishAt = 0
	queueDeliverAt = 1
	queueLengthAt  = queueDeliverAt + 8
)

// nodeKey is the key of the broker's own samples.
type nodeKey struct{}

// Where things stand in the broker's samples.
const (
	// Each stands behind the counters before it; a new counter moves what follows.
	nodePublishAt = 0
	nodeDeliverAt = nodePublishAt + 4
	nodeLengthAt  = nodeDeliverAt + 8
	nodeChurnAt   = nodeLengthAt + 3
	nodeStoreAt   = nodeChurnAt + 7
)

// nodeSample is the counters of the whole broker.
func (a *API) nodeSample(s *server.Stats) []uint64 {
	disk := a.store.Stats()
	values := append(publishes(&s.Counters), deliveries(&s.Contents.Totals)...)
	values = append(append(values, lengths(&s.Contents)...), churn(s)...)
	return append(values, disk.Reads, disk.Syncs)
}

// counters takes a sample of everything that has rates.
// It is called by the sampling goroutine, and reads what the packages count for themselves: nothing is held up.
func (a *API) counters(note func(key any, values []uint64)) {
	st := a.server.Stats()
	note(nodeKey{}, a.nodeSample(&st))
	// Apart from the rest of the node, as other parts of the API ask for it.
	note(resourcesKey{}, a.nodeResources())
	for _, v := range a.vhosts() {
		a.vhostCounters(v, note)
	}
	for _, c := range a.server.OpenConnections() {
		note(connectionKey(c.ID), octets(&c))
	}
	for _, ch := range a.server.Channels() {
		note(channelKey{ch.Connection, ch.Number}, channelSample(&ch))
	}
}

// vhostCounters takes samples of what is in a virtual host, and of the host itself: its queues' sum, and what was published in it.
func (a *API) vhostCounters(v *vhost.VHost, note func(key any, values []uint64)) {
	var sum queue.Stats
	v.Queues(func(q *queue.Queue) bool {
		s := q.Stats()
		// Of queues that are there: a virtual host's rates fall when one is deleted, as in RabbitMQ.
		sum.Add(s)
		note(q, queueSample(&s))
		return true
	})
	values := append(a.vhostPublishes(v), deliveries(&sum.Totals)...)
	note(v, append(values, lengths(&sum)...))
	v.Exchanges(func(x *exchange.Exchange) bool {
		note(x, exchangeSample(x))
		return true
	})
}
