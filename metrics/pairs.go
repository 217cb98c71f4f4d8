package metrics

import (
	"cmp"
	"slices"
)

// channelQueues are the families of what channels got of queues.
var channelQueues = []group[ChannelQueue]{{"channel_queue_metrics", []column[ChannelQueue]{
	{"rabbitmq_channel_messages_delivered_ack_total", "Deliveries that the client acknowledges", counter, func(c *ChannelQueue) float64 { return float64(c.DeliveredManualAck) }},
	{"rabbitmq_channel_messages_delivered_total", "Deliveries in automatic acknowledgement mode", counter, func(c *ChannelQueue) float64 { return float64(c.DeliveredAutoAck) }},
	{"rabbitmq_channel_messages_redelivered_total", "Deliveries of messages that were delivered before", counter, func(c *ChannelQueue) float64 { return float64(c.Redelivered) }},
	{"rabbitmq_channel_messages_acked_total", "Messages acknowledged", counter, func(c *ChannelQueue) float64 { return float64(c.Acked) }},
	{"rabbitmq_channel_get_ack_total", "Messages got by basic.get that the client acknowledges", counter, func(c *ChannelQueue) float64 { return float64(c.GotManualAck) }},
	{"rabbitmq_channel_get_total", "Messages got by basic.get in automatic acknowledgement mode", counter, func(c *ChannelQueue) float64 { return float64(c.GotAutoAck) }},
	{"rabbitmq_channel_get_empty_total", "basic.get on an empty queue", counter, func(c *ChannelQueue) float64 { return float64(c.GotEmpty) }},
}}}

// channelExchanges are the families of what channels published to exchanges.
var channelExchanges = []group[ChannelExchange]{{"channel_exchange_metrics", []column[ChannelExchange]{
	{"rabbitmq_channel_messages_published_total", "Messages published", counter, func(c *ChannelExchange) float64 { return float64(c.Published) }},
	{"rabbitmq_channel_messages_confirmed_total", "Messages published that want confirms", counter, func(c *ChannelExchange) float64 { return float64(c.Confirmed) }},
	{"rabbitmq_channel_messages_unroutable_returned_total", "Mandatory messages returned as unroutable", counter, func(c *ChannelExchange) float64 { return float64(c.Returned) }},
	{"rabbitmq_channel_messages_unroutable_dropped_total", "Messages dropped as unroutable", counter, func(c *ChannelExchange) float64 { return float64(c.Dropped) }},
}}}

// queueExchanges and channelQueueExchanges are the families of what went through exchanges into queues.
var (
	queueExchanges = []group[QueueExchange]{{"queue_exchange_metrics", []column[QueueExchange]{
		{"rabbitmq_queue_exchange_messages_published_total", "Messages put into queues", counter, func(q *QueueExchange) float64 { return float64(q.Published) }},
	}}}
	channelQueueExchanges = []group[ChannelQueueExchange]{{"channel_queue_exchange_metrics", []column[ChannelQueueExchange]{
		{"rabbitmq_queue_messages_published_total", "Messages put into queues", counter, func(c *ChannelQueueExchange) float64 { return float64(c.Published) }},
	}}}
)

// pairs writes the families of two or three objects together, of the groups and the queues that are wanted.
func (h *handler) pairs(e *exposition, group func(string) bool, queue func(*Queue) bool) {
	of := func(vhost, name string) bool { return !queue(&Queue{VHost: vhost, Name: name}) }
	if wantsAny(channelQueues, group) {
		list := slices.DeleteFunc(h.source.ChannelQueues(), func(c ChannelQueue) bool { return of(c.VHost, c.Queue) })
		writeAll(e, channelQueues, group, list, channelQueueLabels(list))
	}
	if wantsAny(channelExchanges, group) {
		list := h.source.ChannelExchanges()
		writeAll(e, channelExchanges, group, list, channelExchangeLabels(list))
	}
	if wantsAny(queueExchanges, group) {
		list := slices.DeleteFunc(h.source.QueueExchanges(), func(q QueueExchange) bool { return of(q.VHost, q.Queue) })
		writeAll(e, queueExchanges, group, list, queueExchangeLabels(list))
	}
	if wantsAny(channelQueueExchanges, group) {
		list := slices.DeleteFunc(h.source.ChannelQueueExchanges(), func(c ChannelQueueExchange) bool { return of(c.VHost, c.Queue) })
		writeAll(e, channelQueueExchanges, group, list, channelQueueExchangeLabels(list))
	}
}

func channelQueueLabels(list []ChannelQueue) []labels {
	slices.SortFunc(list, func(a, b ChannelQueue) int {
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), cmp.Compare(a.Queue, b.Queue))
	})
	return labelsOf(list, func(c *ChannelQueue) labels {
		return labelled("channel", c.ChannelID, "queue", c.Queue, "vhost", c.VHost)
	})
}

func channelExchangeLabels(list []ChannelExchange) []labels {
	slices.SortFunc(list, func(a, b ChannelExchange) int {
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), cmp.Compare(a.Exchange, b.Exchange))
	})
	return labelsOf(list, func(c *ChannelExchange) labels {
		return labelled("channel", c.ChannelID, "exchange", c.Exchange, "vhost", c.VHost)
	})
}

func queueExchangeLabels(list []QueueExchange) []labels {
	slices.SortFunc(list, func(a, b QueueExchange) int {
		return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Exchange, b.Exchange))
	})
	return labelsOf(list, func(q *QueueExchange) labels {
		return labelled("exchange", q.Exchange, "queue", q.Queue, "vhost", q.VHost)
	})
}

// RabbitMQ names the virtual host twice: its tables have both names whole.
func channelQueueExchangeLabels(list []ChannelQueueExchange) []labels {
	slices.SortFunc(list, func(a, b ChannelQueueExchange) int {
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Exchange, b.Exchange))
	})
	return labelsOf(list, func(c *ChannelQueueExchange) labels {
		return labelled("channel", c.ChannelID, "exchange", c.Exchange, "exchange_vhost", c.VHost, "queue", c.Queue, "queue_vhost", c.VHost)
	})
}
