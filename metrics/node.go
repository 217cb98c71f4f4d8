package metrics

import (
	"maps"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// node are the families of the broker as a whole. Groups without a name of RabbitMQ's are not in /metrics/detailed.
var node = []group[Node]{
	{"", present}, {"node_coarse_metrics", nodeFree}, {"node_metrics", nodeLimits}, {"node_persister_metrics", persister}, {"connection_churn_metrics", churn}, {"", alarms},
}

// present are the families of what is there now.
var present = []column[Node]{
	{"rabbitmq_connections", "Open connections", gauge, func(n *Node) float64 { return float64(n.ConnectionCount) }},
	{"rabbitmq_channels", "Open channels", gauge, func(n *Node) float64 { return float64(n.ChannelCount) }},
	{"rabbitmq_consumers", "Consumers", gauge, func(n *Node) float64 { return float64(n.ConsumerCount) }},
	{"rabbitmq_queues", "Queues", gauge, func(n *Node) float64 { return float64(n.QueueCount) }},
	{"rabbitmq_unreachable_cluster_peers_count", "Peers of the cluster that can't be reached", gauge, func(*Node) float64 { return 0 }},
	{"leveret_connections_blocked", "Connections whose publishes are held back", gauge, func(n *Node) float64 { return float64(n.Blocked) }},
	{"leveret_store_disk_bytes", "Disk space that messages take", gauge, func(n *Node) float64 { return float64(n.StoreBytes) }},
	{"leveret_oldest_message_age_seconds", "Age of the oldest message at the head of a queue", gauge, func(n *Node) float64 { return n.OldestAge }},
	{"leveret_oldest_unacked_age_seconds", "Time since the oldest delivery that is not settled", gauge, func(n *Node) float64 { return n.OldestUnackedAge }},
	{"leveret_consumer_unacked_max", "Unacked messages of the consumer that holds most", gauge, func(n *Node) float64 { return float64(n.MostUnacked) }},
	{"leveret_queues_unattended", "Queues with messages and without consumers", gauge, func(n *Node) float64 { return float64(n.Unattended) }},
	{"leveret_deliveries_timed_out_total", "Deliveries taken back from clients that took too long", counter, func(n *Node) float64 { return float64(n.TimedOut) }},
	{"leveret_store_unsynced_bytes", "Written to the log and not yet durable", gauge, func(n *Node) float64 { return float64(n.UnsyncedBytes) }},
}

var nodeFree = []column[Node]{
	{"rabbitmq_disk_space_available_bytes", "Bytes that the data folder's disk has left", gauge, func(n *Node) float64 { return float64(n.DiskFree) }},
}

var nodeLimits = []column[Node]{
	{"rabbitmq_disk_space_available_limit_bytes", "Free disk below which publishers are held", gauge, func(n *Node) float64 { return float64(n.DiskLimit) }},
	{"rabbitmq_resident_memory_limit_bytes", "Memory from which publishers are held", gauge, func(n *Node) float64 { return float64(n.MemoryLimit) }},
}

// churn are the totals of what came and went.
var churn = []column[Node]{
	{"rabbitmq_connections_opened_total", "Connections opened", counter, func(n *Node) float64 { return float64(n.ConnectionsOpened) }},
	{"rabbitmq_connections_closed_total", "Connections closed", counter, func(n *Node) float64 { return float64(n.ConnectionsClosed) }},
	{"rabbitmq_channels_opened_total", "Channels opened", counter, func(n *Node) float64 { return float64(n.ChannelsOpened) }},
	{"rabbitmq_channels_closed_total", "Channels closed", counter, func(n *Node) float64 { return float64(n.ChannelsClosed) }},
	{"rabbitmq_queues_declared_total", "Declares of a queue", counter, func(n *Node) float64 { return float64(n.QueuesDeclared) }},
	{"rabbitmq_queues_created_total", "Queues created", counter, func(n *Node) float64 { return float64(n.QueuesCreated) }},
	{"rabbitmq_queues_deleted_total", "Queues deleted", counter, func(n *Node) float64 { return float64(n.QueuesDeleted) }},
}

// published are the totals of what publishers did, for all channels.
var published = []group[Node]{{"", []column[Node]{
	{"rabbitmq_channel_messages_published_total", "Messages published", counter, func(n *Node) float64 { return float64(n.Published) }},
	{"rabbitmq_channel_messages_confirmed_total", "Messages confirmed to publishers", counter, func(n *Node) float64 { return float64(n.Confirmed) }},
	{"rabbitmq_channel_messages_unroutable_returned_total", "Mandatory messages returned as unroutable", counter, func(n *Node) float64 { return float64(n.Returned) }},
	{"rabbitmq_channel_messages_unroutable_dropped_total", "Messages dropped as unroutable", counter, func(n *Node) float64 { return float64(n.Unroutable) }},
}}}

// persister are the totals of what the store did.
var persister = []column[Node]{
	{"rabbitmq_io_sync_ops_total", "Syncs of the log", counter, func(n *Node) float64 { return float64(n.Syncs) }},
	{"rabbitmq_io_write_ops_total", "Writes to the log", counter, func(n *Node) float64 { return float64(n.Writes) }},
	{"rabbitmq_io_write_bytes_total", "Bytes written to the log", counter, func(n *Node) float64 { return float64(n.WrittenBytes) }},
	{"rabbitmq_io_read_ops_total", "Reads of messages from disk", counter, func(n *Node) float64 { return float64(n.Reads) }},
	{"rabbitmq_io_read_bytes_total", "Bytes of messages read from disk", counter, func(n *Node) float64 { return float64(n.ReadBytes) }},
	{"rabbitmq_msg_store_read_total", "Reads of the message log", counter, func(n *Node) float64 { return float64(n.Reads) }},
	{"rabbitmq_msg_store_write_total", "Records written to the message log", counter, func(n *Node) float64 { return float64(n.RecordsWritten) }},
	{"rabbitmq_io_sync_time_seconds_total", "Time that syncs of the log took", counter, func(n *Node) float64 { return n.SyncSeconds }},
	{"rabbitmq_io_write_time_seconds_total", "Time that writes to the log took", counter, func(n *Node) float64 { return n.WriteSeconds }},
	{"rabbitmq_io_read_time_seconds_total", "Time that reads of messages from disk took", counter, func(n *Node) float64 { return n.ReadSeconds }},
	{"leveret_store_damaged_records_total", "Records found damaged on disk", counter, func(n *Node) float64 { return float64(n.DamagedRecords) }},
}

var alarms = []column[Node]{
	{"rabbitmq_alarms_memory_used_watermark", "1 while publishers are held for lack of memory", untyped, func(n *Node) float64 { return flag(n.MemoryAlarm) }},
	{"rabbitmq_alarms_free_disk_space_watermark", "1 while publishers are held for lack of disk space", untyped, func(n *Node) float64 { return flag(n.DiskAlarm) }},
}

// logins are by protocol.
var logins = []group[Logins]{{"auth_attempt_metrics", []column[Logins]{
	{"rabbitmq_auth_attempts_total", "Logins tried", counter, func(l *Logins) float64 { return float64(l.Tried) }},
	{"rabbitmq_auth_attempts_succeeded_total", "Logins that succeeded", counter, func(l *Logins) float64 { return float64(l.Tried - l.Failed) }},
	{"rabbitmq_auth_attempts_failed_total", "Logins refused", counter, func(l *Logins) float64 { return float64(l.Failed) }},
}}}

// loginLabels are the protocols.
func loginLabels(list []Logins) []labels {
	return labelsOf(list, func(l *Logins) labels { return labelled("protocol", l.Protocol) })
}

// global are by protocol too.
var global = []group[Node]{{"", []column[Node]{
	{"rabbitmq_global_messages_received_total", "Messages published", counter, func(n *Node) float64 { return float64(n.Published) }},
	{"rabbitmq_global_messages_received_confirm_total", "Messages of publishers that want confirms", counter, func(n *Node) float64 { return float64(n.Confirmable) }},
	{"rabbitmq_global_messages_routed_total", "Copies of messages put into queues", counter, func(n *Node) float64 { return float64(n.sum().Published) }},
	{"rabbitmq_global_messages_confirmed_total", "Messages confirmed", counter, func(n *Node) float64 { return float64(n.Confirmed) }},
	{"rabbitmq_global_messages_unroutable_returned_total", "Messages returned", counter, func(n *Node) float64 { return float64(n.Returned) }},
	{"rabbitmq_global_messages_unroutable_dropped_total", "Messages dropped as unroutable", counter, func(n *Node) float64 { return float64(n.Unroutable) }},
	{"rabbitmq_global_publishers", "Channels that have published", gauge, func(n *Node) float64 { return float64(n.Publishers) }},
	{"rabbitmq_global_consumers", "Consumers", gauge, func(n *Node) float64 { return float64(n.ConsumerCount) }},
}}}

var protocol = []labels{labelled("protocol", "amqp091")}

// sum adds up the queues of all types.
func (n *Node) sum() Queue {
	var all Queue
	for i := range n.QueueTypes {
		all.Add(&n.QueueTypes[i])
	}
	return all
}

// writeDropped writes what was dropped, by reason. The reason "unroutable" is always there.
func (e *exposition) writeDropped(n *Node) {
	reasons := maps.Clone(n.Dropped)
	if reasons == nil {
		reasons = map[string]uint64{}
	}
	reasons["unroutable"] = n.Unroutable
	e.writeBy("leveret_messages_dropped_total", "Messages that the broker dropped, by reason", counter, "reason", reasons)
}

// writeBy writes one family with a metric for each key.
func (e *exposition) writeBy(name, help string, kind dto.MetricType, label string, numbers map[string]uint64) {
	var values []float64
	var of []labels
	for _, key := range slices.Sorted(maps.Keys(numbers)) {
		values, of = append(values, float64(numbers[key])), append(of, labelled(label, key))
	}
	single(e, name, help, kind, values, of)
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
