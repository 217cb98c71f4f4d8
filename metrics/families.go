package metrics

import "github.com/prometheus/client_golang/prometheus"

// family is one metric: its name, its help, and how it is read off a snapshot.
type family struct {
	name, help string
	kind       prometheus.ValueType
	labels     prometheus.Labels
	value      func(s *Snapshot) uint64
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// RabbitMQ labels its global counters with the protocol and the kind of queue. There is one of each here.
var (
	byProtocol = prometheus.Labels{"protocol": "amqp091"}
	byQueue    = prometheus.Labels{"protocol": "amqp091", "queue_type": "rabbit_classic_queue"}
)

// present are the families of what is there now.
var present = []family{
	{"rabbitmq_connections", "Open connections", gauge, nil, func(s *Snapshot) uint64 { return s.Connections }},
	{"rabbitmq_channels", "Open channels", gauge, nil, func(s *Snapshot) uint64 { return s.Channels }},
	{"rabbitmq_consumers", "Consumers", gauge, nil, func(s *Snapshot) uint64 { return s.Consumers }},
	{"rabbitmq_queues", "Queues", gauge, nil, func(s *Snapshot) uint64 { return s.Queues }},
	{"rabbitmq_connection_channels", "Open channels of all connections", gauge, nil, func(s *Snapshot) uint64 { return s.Channels }},
	{"rabbitmq_channel_consumers", "Consumers of all channels", gauge, nil, func(s *Snapshot) uint64 { return s.Consumers }},
	{"rabbitmq_channel_messages_unacked", "Messages delivered and not yet settled", gauge, nil, func(s *Snapshot) uint64 { return s.Unacked }},
	{"rabbitmq_queue_consumers", "Consumers of all queues", gauge, nil, func(s *Snapshot) uint64 { return s.Consumers }},
	{"rabbitmq_queue_messages", "Messages in queues, ready and unacked", gauge, nil, func(s *Snapshot) uint64 { return s.Ready + s.Unacked }},
	{"rabbitmq_queue_messages_ready", "Messages ready to be delivered", gauge, nil, func(s *Snapshot) uint64 { return s.Ready }},
	{"rabbitmq_queue_messages_unacked", "Messages delivered and not yet settled", gauge, nil, func(s *Snapshot) uint64 { return s.Unacked }},
	{"rabbitmq_global_consumers", "Consumers by protocol", gauge, byProtocol, func(s *Snapshot) uint64 { return s.Consumers }},
	{"rabbitmq_alarms_memory_used_watermark", "1 while publishers are held for lack of memory", gauge, nil, func(s *Snapshot) uint64 { return flag(s.MemoryAlarm) }},
	{"rabbitmq_alarms_free_disk_space_watermark", "1 while publishers are held for lack of disk space", gauge, nil, func(s *Snapshot) uint64 { return flag(s.DiskAlarm) }},
	{"rabbitmq_resident_memory_limit_bytes", "Memory from which publishers are held", gauge, nil, func(s *Snapshot) uint64 { return s.MemoryLimit }},
	{"leveret_connections_blocked", "Connections whose publishes are held back", gauge, nil, func(s *Snapshot) uint64 { return s.Blocked }},
	{"leveret_queue_memory_bytes", "Memory that ready messages take", gauge, nil, func(s *Snapshot) uint64 { return s.ReadyBytes }},
	{"leveret_store_disk_bytes", "Disk space that messages take", gauge, nil, func(s *Snapshot) uint64 { return s.StoreBytes }},
	{"leveret_store_unsynced_bytes", "Written to the log and not yet durable", gauge, nil, func(s *Snapshot) uint64 { return s.UnsyncedBytes }},
	{"rabbitmq_unreachable_cluster_peers_count", "Peers of the cluster that can't be reached", gauge, nil, func(*Snapshot) uint64 { return 0 }},
}

// lifecycle are the totals of what came and went.
var lifecycle = []family{
	{"rabbitmq_connections_opened_total", "Connections opened", counter, nil, func(s *Snapshot) uint64 { return s.ConnectionsOpened }},
	{"rabbitmq_connections_closed_total", "Connections closed", counter, nil, func(s *Snapshot) uint64 { return s.ConnectionsClosed }},
	{"rabbitmq_channels_opened_total", "Channels opened", counter, nil, func(s *Snapshot) uint64 { return s.ChannelsOpened }},
	{"rabbitmq_channels_closed_total", "Channels closed", counter, nil, func(s *Snapshot) uint64 { return s.ChannelsClosed }},
	{"rabbitmq_auth_attempts_total", "Logins tried", counter, byProtocol, func(s *Snapshot) uint64 { return s.LoginsTried }},
	{"rabbitmq_auth_attempts_succeeded_total", "Logins that succeeded", counter, byProtocol, func(s *Snapshot) uint64 { return s.LoginsTried - s.LoginsFailed }},
	{"rabbitmq_auth_attempts_failed_total", "Logins refused", counter, byProtocol, func(s *Snapshot) uint64 { return s.LoginsFailed }},
}

// received are the totals of what publishers did. RabbitMQ gives the same numbers once for all channels and once by protocol.
var received = []family{
	{"rabbitmq_channel_messages_published_total", "Messages published", counter, nil, func(s *Snapshot) uint64 { return s.Published }},
	{"rabbitmq_channel_messages_confirmed_total", "Messages confirmed to publishers", counter, nil, func(s *Snapshot) uint64 { return s.Confirmed }},
	{"rabbitmq_channel_messages_unroutable_returned_total", "Mandatory messages returned as unroutable", counter, nil, func(s *Snapshot) uint64 { return s.Returned }},
	{"rabbitmq_channel_messages_unroutable_dropped_total", "Messages dropped as unroutable", counter, nil, func(s *Snapshot) uint64 { return s.Unroutable }},
	{"rabbitmq_queue_messages_published_total", "Messages put into queues", counter, nil, func(s *Snapshot) uint64 { return s.Routed }},
	{"rabbitmq_global_messages_received_total", "Messages published, by protocol", counter, byProtocol, func(s *Snapshot) uint64 { return s.Published }},
	{"rabbitmq_global_messages_routed_total", "Messages put into queues, by protocol", counter, byProtocol, func(s *Snapshot) uint64 { return s.Routed }},
	{"rabbitmq_global_messages_confirmed_total", "Messages confirmed, by protocol", counter, byProtocol, func(s *Snapshot) uint64 { return s.Confirmed }},
	{"rabbitmq_global_messages_unroutable_returned_total", "Messages returned, by protocol", counter, byProtocol, func(s *Snapshot) uint64 { return s.Returned }},
	{"rabbitmq_global_messages_unroutable_dropped_total", "Messages dropped as unroutable, by protocol", counter, byProtocol, func(s *Snapshot) uint64 { return s.Unroutable }},
}

// delivered are the totals of what consumers got and settled. In RabbitMQ's names _ack means that the client acknowledges, and its lack
// that the delivery alone settles the message.
var delivered = []family{
	{"rabbitmq_channel_messages_delivered_ack_total", "Deliveries that the client acknowledges", counter, nil, func(s *Snapshot) uint64 { return s.DeliveredManualAck }},
	{"rabbitmq_channel_messages_delivered_total", "Deliveries in automatic acknowledgement mode", counter, nil, func(s *Snapshot) uint64 { return s.DeliveredAutoAck }},
	{"rabbitmq_channel_messages_redelivered_total", "Deliveries of messages that were delivered before", counter, nil, func(s *Snapshot) uint64 { return s.Redelivered }},
	{"rabbitmq_channel_messages_acked_total", "Messages acknowledged", counter, nil, func(s *Snapshot) uint64 { return s.Acked }},
	{"leveret_messages_requeued_total", "Messages that went back to their queue", counter, nil, func(s *Snapshot) uint64 { return s.Requeued }},
	{"leveret_messages_rejected_total", "Messages rejected without requeue", counter, nil, func(s *Snapshot) uint64 { return s.Rejected }},
	{"leveret_messages_purged_total", "Messages purged", counter, nil, func(s *Snapshot) uint64 { return s.Purged }},
	{"rabbitmq_channel_get_ack_total", "Messages got by basic.get that the client acknowledges", counter, nil, func(s *Snapshot) uint64 { return s.GotManualAck }},
	{"rabbitmq_channel_get_total", "Messages got by basic.get in automatic acknowledgement mode", counter, nil, func(s *Snapshot) uint64 { return s.GotAutoAck }},
	{"rabbitmq_channel_get_empty_total", "basic.get on an empty queue", counter, nil, func(s *Snapshot) uint64 { return s.GotEmpty }},
	{"rabbitmq_global_messages_delivered_total", "Messages delivered, by all ways", counter, byQueue, (*Snapshot).delivered},
	{"rabbitmq_global_messages_delivered_consume_manual_ack_total", "Messages delivered to consumers that acknowledge", counter, byQueue, func(s *Snapshot) uint64 { return s.DeliveredManualAck }},
	{"rabbitmq_global_messages_delivered_consume_auto_ack_total", "Messages delivered to consumers in automatic acknowledgement mode", counter, byQueue, func(s *Snapshot) uint64 { return s.DeliveredAutoAck }},
	{"rabbitmq_global_messages_delivered_get_manual_ack_total", "Messages got that the client acknowledges", counter, byQueue, func(s *Snapshot) uint64 { return s.GotManualAck }},
	{"rabbitmq_global_messages_delivered_get_auto_ack_total", "Messages got in automatic acknowledgement mode", counter, byQueue, func(s *Snapshot) uint64 { return s.GotAutoAck }},
	{"rabbitmq_global_messages_get_empty_total", "basic.get on an empty queue, by protocol", counter, byQueue, func(s *Snapshot) uint64 { return s.GotEmpty }},
	{"rabbitmq_global_messages_redelivered_total", "Messages redelivered, by protocol", counter, byQueue, func(s *Snapshot) uint64 { return s.Redelivered }},
	{"rabbitmq_global_messages_acknowledged_total", "Messages acknowledged, by protocol", counter, byQueue, func(s *Snapshot) uint64 { return s.Acked }},
}

// disk are the totals of what the store did.
var disk = []family{
	{"rabbitmq_io_sync_ops_total", "Syncs of the log", counter, nil, func(s *Snapshot) uint64 { return s.Syncs }},
	{"rabbitmq_io_write_bytes_total", "Bytes written to the log", counter, nil, func(s *Snapshot) uint64 { return s.WrittenBytes }},
	{"rabbitmq_io_read_ops_total", "Reads of messages from disk", counter, nil, func(s *Snapshot) uint64 { return s.Reads }},
	{"rabbitmq_io_read_bytes_total", "Bytes of messages read from disk", counter, nil, func(s *Snapshot) uint64 { return s.ReadBytes }},
	{"leveret_store_damaged_records_total", "Records found damaged on disk", counter, nil, func(s *Snapshot) uint64 { return s.DamagedRecords }},
}

// delivered is all that left a queue towards a client.
func (s *Snapshot) delivered() uint64 {
	return s.DeliveredManualAck + s.DeliveredAutoAck + s.GotManualAck + s.GotAutoAck
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}
