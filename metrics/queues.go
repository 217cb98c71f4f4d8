package metrics

import (
	"cmp"
	"slices"
)

// queues are the families of queues: a sum in /metrics, and a line for each queue elsewhere. In RabbitMQ's names _ack means that the client
// acknowledges, and its lack that the delivery alone settles the message.
var queues = []group[Queue]{
	{"queue_coarse_metrics", queueCoarse},
	{"queue_consumer_count", queueConsumers},
	{"queue_metrics", slices.Concat(queueConsumers, queueContents)},
	{"queue_delivery_metrics", queueDeliveries},
	{"leveret_queue_metrics", queueOurs},
}

var queueCoarse = []column[Queue]{
	{"rabbitmq_queue_messages_ready", "Messages ready to be delivered", gauge, func(q *Queue) float64 { return float64(q.Ready) }},
	{"rabbitmq_queue_messages_unacked", "Messages delivered and not yet settled", gauge, func(q *Queue) float64 { return float64(q.Unacked) }},
	{"rabbitmq_queue_messages", "Messages ready and unacked", gauge, func(q *Queue) float64 { return float64(q.Ready + q.Unacked) }},
}

var queueConsumers = []column[Queue]{
	{"rabbitmq_queue_consumers", "Consumers", gauge, func(q *Queue) float64 { return float64(q.Consumers) }},
}

var queueContents = []column[Queue]{
	{"rabbitmq_queue_messages_ready_bytes", "Bytes in the bodies of ready messages", gauge, func(q *Queue) float64 { return float64(q.ReadyBytes) }},
	{"rabbitmq_queue_messages_ready_ram", "Ready messages that are in memory", gauge, func(q *Queue) float64 { return float64(q.InMemory) }},
	{"rabbitmq_queue_messages_bytes", "Bytes in the bodies of messages, ready and unacked", gauge, func(q *Queue) float64 { return float64(q.Bodies) }},
	{"rabbitmq_queue_messages_unacked_bytes", "Bytes in the bodies of unacked messages", gauge, func(q *Queue) float64 { return float64(q.UnackedBytes) }},
	{"rabbitmq_queue_messages_persistent", "Messages that survive a restart", gauge, func(q *Queue) float64 { return float64(q.Persistent) }},
	{"rabbitmq_queue_messages_persistent_bytes", "Bytes in the bodies of messages that survive a restart", gauge, func(q *Queue) float64 { return float64(q.PersistentBytes) }},
	{"rabbitmq_queue_messages_ram", "Messages that are in memory", gauge, func(q *Queue) float64 { return float64(q.InMemory + q.UnackedInMemory) }},
	{"rabbitmq_queue_messages_unacked_ram", "Unacked messages that are in memory", gauge, func(q *Queue) float64 { return float64(q.UnackedInMemory) }},
	{"rabbitmq_queue_messages_ram_bytes", "Bytes in the bodies of messages that are in memory", gauge, func(q *Queue) float64 { return float64(q.InMemoryBytes) }},
	{"rabbitmq_queue_disk_reads_total", "Messages read back from disk", counter, func(q *Queue) float64 { return float64(q.DiskReads) }},
	{"rabbitmq_queue_disk_writes_total", "Messages written to disk", counter, func(q *Queue) float64 { return float64(q.DiskWrites) }},
	{"rabbitmq_queue_consumer_utilisation", "Share of the time in which the queue could deliver at once", gauge, func(q *Queue) float64 { return q.Utilisation }},
	{"rabbitmq_queue_process_memory_bytes", "Memory that the queue takes", gauge, func(q *Queue) float64 { return float64(q.MemoryBytes) }},
}

var queueDeliveries = []column[Queue]{
	{"rabbitmq_queue_get_ack_total", "Messages got by basic.get that the client acknowledges", counter, func(q *Queue) float64 { return float64(q.GotManualAck) }},
	{"rabbitmq_queue_get_total", "Messages got by basic.get in automatic acknowledgement mode", counter, func(q *Queue) float64 { return float64(q.GotAutoAck) }},
	{"rabbitmq_queue_messages_delivered_ack_total", "Deliveries that the client acknowledges", counter, func(q *Queue) float64 { return float64(q.DeliveredManualAck) }},
	{"rabbitmq_queue_messages_delivered_total", "Deliveries in automatic acknowledgement mode", counter, func(q *Queue) float64 { return float64(q.DeliveredAutoAck) }},
	{"rabbitmq_queue_messages_redelivered_total", "Deliveries of messages that were delivered before", counter, func(q *Queue) float64 { return float64(q.Redelivered) }},
	{"rabbitmq_queue_messages_acked_total", "Messages acknowledged", counter, func(q *Queue) float64 { return float64(q.Acked) }},
	{"rabbitmq_queue_get_empty_total", "basic.get on an empty queue", counter, func(q *Queue) float64 { return float64(q.GotEmpty) }},
}

// queueOurs are what RabbitMQ has no name for, or only with a label for each channel.
var queueOurs = []column[Queue]{
	{"leveret_queue_oldest_message_age_seconds", "Time that the message at the head has waited", gauge, func(q *Queue) float64 { return q.OldestAge }},
	{"leveret_queue_oldest_unacked_age_seconds", "Time since the oldest delivery that is not settled", gauge, func(q *Queue) float64 { return q.OldestUnackedAge }},
	{"leveret_queue_consumer_unacked_max", "Unacked messages of the consumer that holds most", gauge, func(q *Queue) float64 { return float64(q.MostUnacked) }},
	{"leveret_queue_messages_pending", "Messages that wait for their time: delayed, or to be tried again", gauge, func(q *Queue) float64 { return float64(q.Pending) }},
	{"leveret_queue_unattended", "1 for a queue with messages and without consumers", gauge, func(q *Queue) float64 { return float64(q.Unattended) }},
	{"leveret_queue_messages_dead_lettered_total", "Messages that went on to a dead letter exchange", counter, func(q *Queue) float64 { return q.DeadLettered.sum() }},
	{"leveret_queue_messages_dropped_total", "Messages that died for good", counter, func(q *Queue) float64 { return q.Dropped.sum() }},
	{"leveret_queue_messages_published_total", "Messages put into the queue", counter, func(q *Queue) float64 { return float64(q.Published) }},
	{"leveret_queue_messages_requeued_total", "Messages that went back to their queue", counter, func(q *Queue) float64 { return float64(q.Requeued) }},
	{"leveret_queue_messages_rejected_total", "Messages rejected without requeue", counter, func(q *Queue) float64 { return float64(q.Rejected) }},
	{"leveret_queue_messages_purged_total", "Messages purged", counter, func(q *Queue) float64 { return float64(q.Purged) }},
}

// ofOneQueue are what makes no sense as a sum.
var ofOneQueue = []group[Queue]{
	{"queue_metrics", []column[Queue]{
		{"rabbitmq_queue_consumer_capacity", "Share of the time in which the queue could deliver at once", gauge, func(q *Queue) float64 { return q.Utilisation }},
		{"rabbitmq_queue_head_message_timestamp", "Timestamp that the message at the head has, as of the last second", gauge, func(q *Queue) float64 { return q.HeadTimestamp }},
	}},
}

// waits and processing are shown of the queues alone for which they were measured.
var (
	waits = []group[Queue]{{"leveret_queue_metrics",
		quantiles("leveret_queue_wait_seconds", "from a message's publish to its first delivery", func(q *Queue) *Quantiles { return &q.Wait })}}
	processing = []group[Queue]{{"leveret_queue_metrics",
		quantiles("leveret_queue_processing_seconds", "from a delivery to its ack", func(q *Queue) *Quantiles { return &q.Processing })}}
)

// measured are the queues that have such quantiles, with their labels.
func measured(list []Queue, of []labels, quantiles func(*Queue) *Quantiles) (some []Queue, labels []labels) {
	for i := range list {
		if *quantiles(&list[i]) != (Quantiles{}) {
			some, labels = append(some, list[i]), append(labels, of[i])
		}
	}
	return some, labels
}

// quantiles are the columns of durations.
func quantiles(name, what string, of func(*Queue) *Quantiles) []column[Queue] {
	return []column[Queue]{
		{name + "_p50", "Time that half of the messages took " + what, gauge, func(q *Queue) float64 { return of(q).P50 }},
		{name + "_p95", "Time that 95 % of the messages took at most " + what, gauge, func(q *Queue) float64 { return of(q).P95 }},
		{name + "_p99", "Time that 99 % of the messages took at most " + what, gauge, func(q *Queue) float64 { return of(q).P99 }},
	}
}

// ofChannels are the same numbers under the names that RabbitMQ has for what channels did.
var ofChannels = []group[Queue]{{"", []column[Queue]{
	{"rabbitmq_channel_messages_delivered_ack_total", "Deliveries that the client acknowledges", counter, func(q *Queue) float64 { return float64(q.DeliveredManualAck) }},
	{"rabbitmq_channel_messages_delivered_total", "Deliveries in automatic acknowledgement mode", counter, func(q *Queue) float64 { return float64(q.DeliveredAutoAck) }},
	{"rabbitmq_channel_messages_redelivered_total", "Deliveries of messages that were delivered before", counter, func(q *Queue) float64 { return float64(q.Redelivered) }},
	{"rabbitmq_channel_messages_acked_total", "Messages acknowledged", counter, func(q *Queue) float64 { return float64(q.Acked) }},
	{"rabbitmq_channel_get_ack_total", "Messages got by basic.get that the client acknowledges", counter, func(q *Queue) float64 { return float64(q.GotManualAck) }},
	{"rabbitmq_channel_get_total", "Messages got by basic.get in automatic acknowledgement mode", counter, func(q *Queue) float64 { return float64(q.GotAutoAck) }},
	{"rabbitmq_channel_get_empty_total", "basic.get on an empty queue", counter, func(q *Queue) float64 { return float64(q.GotEmpty) }},
}}}

// intoQueues is one number under two names: RabbitMQ has it for each queue and exchange together, and for each channel of these too.
var intoQueues = []group[Queue]{{"", []column[Queue]{
	{"rabbitmq_queue_messages_published_total", "Messages put into queues", counter, func(q *Queue) float64 { return float64(q.Published) }},
	{"rabbitmq_queue_exchange_messages_published_total", "Messages put into queues", counter, func(q *Queue) float64 { return float64(q.Published) }},
}}}

// byType are the totals that RabbitMQ labels with the type of queue.
var byType = []group[Queue]{{"", []column[Queue]{
	{"rabbitmq_global_messages_delivered_total", "Messages delivered, by all ways", counter, (*Queue).delivered},
	{"rabbitmq_global_messages_delivered_consume_manual_ack_total", "Messages delivered to consumers that acknowledge", counter, func(q *Queue) float64 { return float64(q.DeliveredManualAck) }},
	{"rabbitmq_global_messages_delivered_consume_auto_ack_total", "Messages delivered to consumers in automatic acknowledgement mode", counter, func(q *Queue) float64 { return float64(q.DeliveredAutoAck) }},
	{"rabbitmq_global_messages_delivered_get_manual_ack_total", "Messages got that the client acknowledges", counter, func(q *Queue) float64 { return float64(q.GotManualAck) }},
	{"rabbitmq_global_messages_delivered_get_auto_ack_total", "Messages got in automatic acknowledgement mode", counter, func(q *Queue) float64 { return float64(q.GotAutoAck) }},
	{"rabbitmq_global_messages_get_empty_total", "basic.get on an empty queue", counter, func(q *Queue) float64 { return float64(q.GotEmpty) }},
	{"rabbitmq_global_messages_redelivered_total", "Messages redelivered", counter, func(q *Queue) float64 { return float64(q.Redelivered) }},
	{"rabbitmq_global_messages_acknowledged_total", "Messages acknowledged", counter, func(q *Queue) float64 { return float64(q.Acked) }},
}}}

// deaths are the totals that RabbitMQ labels with the type of queue and what it does with dead messages.
var deaths = []group[Queue]{{"", []column[Queue]{
	{"rabbitmq_global_messages_dead_lettered_rejected_total", "Messages that died because a consumer rejected them", counter, func(q *Queue) float64 { return float64(q.DeadLettered.Rejected) }},
	{"rabbitmq_global_messages_dead_lettered_expired_total", "Messages that died because their time was up", counter, func(q *Queue) float64 { return float64(q.DeadLettered.Expired) }},
	{"rabbitmq_global_messages_dead_lettered_maxlen_total", "Messages that died because the queue was too long", counter, func(q *Queue) float64 { return float64(q.DeadLettered.TooLong) }},
	{"rabbitmq_global_messages_dead_lettered_delivery_limit_total", "Messages that died because they came back too often", counter, func(q *Queue) float64 { return float64(q.DeadLettered.DeliveryLimit) }},
}}}

func (d *Deaths) sum() float64 { return float64(d.Rejected + d.Expired + d.TooLong + d.DeliveryLimit) }

func (d *Deaths) add(other *Deaths) {
	d.Rejected += other.Rejected
	d.Expired += other.Expired
	d.TooLong += other.TooLong
	d.DeliveryLimit += other.DeliveryLimit
}

// delivered is all that left the queue towards a client.
func (q *Queue) delivered() float64 {
	return float64(q.DeliveredManualAck + q.DeliveredAutoAck + q.GotManualAck + q.GotAutoAck)
}

// Add adds another queue's numbers.
func (q *Queue) Add(other *Queue) {
	q.Ready += other.Ready
	q.Unacked += other.Unacked
	q.Consumers += other.Consumers
	q.ReadyBytes += other.ReadyBytes
	q.MemoryBytes += other.MemoryBytes
	q.Bodies += other.Bodies
	q.UnackedBytes += other.UnackedBytes
	q.Persistent += other.Persistent
	q.PersistentBytes += other.PersistentBytes
	q.UnackedInMemory += other.UnackedInMemory
	q.InMemoryBytes += other.InMemoryBytes
	q.Utilisation += other.Utilisation
	q.DiskWrites += other.DiskWrites
	q.DiskReads += other.DiskReads
	q.InMemory += other.InMemory
	q.Pending += other.Pending
	q.OldestAge = max(q.OldestAge, other.OldestAge)
	q.OldestUnackedAge = max(q.OldestUnackedAge, other.OldestUnackedAge)
	q.MostUnacked = max(q.MostUnacked, other.MostUnacked)
	q.Unattended += other.Unattended
	q.Published += other.Published
	q.DeliveredManualAck += other.DeliveredManualAck
	q.DeliveredAutoAck += other.DeliveredAutoAck
	q.GotManualAck += other.GotManualAck
	q.GotAutoAck += other.GotAutoAck
	q.GotEmpty += other.GotEmpty
	q.Redelivered += other.Redelivered
	q.Acked += other.Acked
	q.Requeued += other.Requeued
	q.Rejected += other.Rejected
	q.Purged += other.Purged
	q.DeadLettered.add(&other.DeadLettered)
	q.Dropped.add(&other.Dropped)
}

// queueLabels sorts queues by virtual host and name, and returns their labels, those of the metrics and those of the info about each.
func queueLabels(list []Queue) (of, info []labels) {
	slices.SortFunc(list, func(a, b Queue) int { return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Name, b.Name)) })
	of, info = make([]labels, len(list)), make([]labels, len(list))
	for i, q := range list {
		of[i] = labelled("queue", q.Name, "vhost", q.VHost)
		info[i] = labelled("membership", "leader", "queue", q.Name, "queue_type", typeLabel(q.Type), "vhost", q.VHost)
	}
	return of, info
}

// typeLabel is RabbitMQ's own name for a type of queue.
func typeLabel(kind string) string { return "rabbit_" + kind + "_queue" }
