package metrics

import (
	"cmp"
	"slices"
)

// channels are the families of channels.
var channels = []group[Channel]{{"channel_metrics", []column[Channel]{
	{"rabbitmq_channel_consumers", "Consumers", gauge, func(c *Channel) float64 { return float64(c.Consumers) }},
	{"rabbitmq_channel_messages_unacked", "Messages delivered and not yet settled", gauge, func(c *Channel) float64 { return float64(c.Unacked) }},
	{"rabbitmq_channel_messages_unconfirmed", "Messages published and not yet confirmed", gauge, func(c *Channel) float64 { return float64(c.Unconfirmed) }},
	{"rabbitmq_channel_messages_uncommitted", "Messages published in a transaction", gauge, func(c *Channel) float64 { return float64(c.Uncommitted) }},
	{"rabbitmq_channel_acks_uncommitted", "Acks in a transaction", gauge, func(c *Channel) float64 { return float64(c.AcksUncommitted) }},
	{"rabbitmq_consumer_prefetch", "Prefetch of new consumers", gauge, func(c *Channel) float64 { return float64(c.Prefetch) }},
}}}

// connections are the families of connections.
var connections = []group[Connection]{
	{"connection_coarse_metrics", []column[Connection]{
		{"rabbitmq_connection_incoming_bytes_total", "Bytes received", counter, func(c *Connection) float64 { return float64(c.ReceivedBytes) }},
		{"rabbitmq_connection_outgoing_bytes_total", "Bytes sent", counter, func(c *Connection) float64 { return float64(c.SentBytes) }},
	}},
	{"connection_metrics", []column[Connection]{
		{"rabbitmq_connection_incoming_packets_total", "Reads of the socket", counter, func(c *Connection) float64 { return float64(c.Reads) }},
		{"rabbitmq_connection_outgoing_packets_total", "Writes to the socket", counter, func(c *Connection) float64 { return float64(c.Writes) }},
		{"rabbitmq_connection_channels", "Open channels", gauge, func(c *Connection) float64 { return float64(c.Channels) }},
		{"rabbitmq_connection_pending_packets", "Bytes that wait to be sent", gauge, func(c *Connection) float64 { return float64(c.PendingBytes) }},
	}},
}

// exchanges are the families of exchanges.
var exchanges = []group[Exchange]{{"exchange_metrics", []column[Exchange]{
	{"rabbitmq_exchange_messages_published_total", "Messages that came to the exchange", counter, func(x *Exchange) float64 { return float64(x.Published) }},
	{"rabbitmq_exchange_messages_confirmed_total", "Messages that came to the exchange from publishers that want confirms", counter, func(x *Exchange) float64 { return float64(x.Confirmed) }},
	{"rabbitmq_exchange_messages_unroutable_returned_total", "Mandatory messages returned as unroutable", counter, func(x *Exchange) float64 { return float64(x.Returned) }},
	{"rabbitmq_exchange_messages_unroutable_dropped_total", "Messages dropped as unroutable", counter, func(x *Exchange) float64 { return float64(x.Dropped) }},
}}}

// exchangeNames and exchangeBindings are of the cluster and not of the node, so their names don't differ in /metrics/detailed.
var (
	exchangeNames = []group[Exchange]{{"exchange_names", []column[Exchange]{
		{"rabbitmq_cluster_exchange_name", "1 for each exchange", gauge, func(*Exchange) float64 { return 1 }},
	}}}
	exchangeBindings = []group[Exchange]{{"exchange_bindings", []column[Exchange]{
		{"rabbitmq_cluster_exchange_bindings", "Bindings with the exchange as their source", gauge, func(x *Exchange) float64 { return float64(x.Bindings) }},
	}}}
	vhosts = []group[string]{{"vhost_status", []column[string]{
		{"rabbitmq_cluster_vhost_status", "1 while the virtual host runs", gauge, func(*string) float64 { return 1 }},
	}}}
)

// Add adds another channel's numbers; the prefetch of a sum is the sum of all.
func (c *Channel) Add(other *Channel) {
	c.Consumers += other.Consumers
	c.Unacked += other.Unacked
	c.Unconfirmed += other.Unconfirmed
	c.Uncommitted += other.Uncommitted
	c.AcksUncommitted += other.AcksUncommitted
	c.Prefetch += other.Prefetch
}

// Add adds another connection's numbers. Those of connections that are gone are not in the sum.
func (c *Connection) Add(other *Connection) {
	c.ReceivedBytes += other.ReceivedBytes
	c.SentBytes += other.SentBytes
	c.Reads += other.Reads
	c.Writes += other.Writes
	c.PendingBytes += other.PendingBytes
	c.Channels += other.Channels
}

// RabbitMQ has the label "channel" on connections too.

func channelLabels(list []Channel) []labels {
	slices.SortFunc(list, func(a, b Channel) int { return cmp.Compare(a.ID, b.ID) })
	return labelsOf(list, func(c *Channel) labels { return labelled("channel", c.ID) })
}

func connectionLabels(list []Connection) []labels {
	slices.SortFunc(list, func(a, b Connection) int { return cmp.Compare(a.ID, b.ID) })
	return labelsOf(list, func(c *Connection) labels { return labelled("channel", c.ID) })
}

// exchangeLabels are those of the metrics, and of what tells of the type.
func exchangeLabels(list []Exchange) (of, info []labels) {
	slices.SortFunc(list, func(a, b Exchange) int { return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Name, b.Name)) })
	of = labelsOf(list, func(x *Exchange) labels { return labelled("exchange", x.Name, "vhost", x.VHost) })
	return of, labelsOf(list, func(x *Exchange) labels { return labelled("exchange", x.Name, "type", x.Type, "vhost", x.VHost) })
}

func labelsOf[T any](list []T, of func(*T) labels) []labels {
	all := make([]labels, len(list))
	for i := range list {
		all[i] = of(&list[i])
	}
	return all
}
