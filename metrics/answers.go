package metrics

import (
	"maps"
	"net/http"
	"slices"
)

// all wants every group.
func all[T any](T) bool { return true }

// aggregated is of constant size, however many objects there are.
func (h *handler) aggregated(e *exposition, _ *http.Request) {
	n := h.source.Node()
	sum := []Queue{n.sum()}
	writeAll(e, queues, all, sum, nil)
	writeAll(e, ofChannels, all, sum, nil)
	writeAll(e, intoQueues, all, sum, nil)
	writeAll(e, channels, all, []Channel{n.Channels}, nil)
	writeAll(e, connections, all, []Connection{n.Connections}, nil)
	writeAll(e, exchanges, all, []Exchange{{Published: n.Published, Confirmed: n.Confirmed, Returned: n.Returned, Dropped: n.Unroutable}}, nil)
	writeAll(e, published, all, []Node{n}, nil)
	h.whole(e, &n)
}

// perObject has a line for each object instead of their sum.
func (h *handler) perObject(e *exposition, _ *http.Request) {
	h.objects(e, all, all)
	n := h.source.Node()
	h.whole(e, &n)
}

// whole writes what is of the broker as a whole.
func (h *handler) whole(e *exposition, n *Node) {
	one := []Node{*n}
	writeAll(e, node, all, one, nil)
	writeAll(e, h.process, all, one, nil)
	writeAll(e, logins, all, n.Logins, loginLabels(n.Logins))
	writeAll(e, global, all, one, protocol)
	ofTypes := labelsOf(n.QueueTypes, func(q *Queue) labels { return labelled("protocol", "amqp091", "queue_type", typeLabel(q.Type)) })
	writeAll(e, byType, all, n.QueueTypes, ofTypes)
	e.histogram("leveret_message_wait_seconds", "Time from a message's publish to its first delivery", nil, &n.Wait)
	e.histogram("leveret_message_processing_seconds", "Time from a delivery to its ack", nil, &n.Processing)
	e.histogram("rabbitmq_message_size_bytes", "Size of published messages", protocol[0], &n.Sizes)
	e.writeDeaths(n)
	e.writeDropped(n)
	e.gathered(h.library.Gather())
}

// objects writes the families of single objects, of the groups and the queues that are wanted.
func (h *handler) objects(e *exposition, group func(string) bool, queue func(*Queue) bool) {
	if wantsAny(queues, group) {
		list := slices.DeleteFunc(h.source.Queues(), func(q Queue) bool { return !queue(&q) })
		of, info := queueLabels(list)
		writeAll(e, queues, group, list, of)
		writeAll(e, ofOneQueue, group, list, of)
		h.times(e, group, list, of)
		write(e, column[Queue]{e.prefix + "queue_info", "1 for each queue, with its type", gauge, func(*Queue) float64 { return 1 }}, list, info)
	}
	if wantsAny(exchanges, group) {
		list := h.source.Exchanges()
		of, _ := exchangeLabels(list)
		writeAll(e, exchanges, group, list, of)
	}
	if wantsAny(channels, group) {
		list := h.source.Channels()
		of := channelLabels(list)
		writeAll(e, channels, group, list, of)
	}
	h.pairs(e, group, queue)
	if wantsAny(connections, group) {
		list := h.source.Connections()
		of := connectionLabels(list)
		writeAll(e, connections, group, list, of)
	}
}

// times writes how long messages waited and took.
func (h *handler) times(e *exposition, group func(string) bool, list []Queue, of []labels) {
	if !wantsAny(waits, group) {
		return
	}
	some, labels := measured(list, of, func(q *Queue) *Quantiles { return &q.Wait })
	writeAll(e, waits, group, some, labels)
	some, labels = measured(list, of, func(q *Queue) *Quantiles { return &q.Processing })
	writeAll(e, processing, group, some, labels)
}

// writeDeaths writes what died, by type of queue and what became of it.
func (e *exposition) writeDeaths(n *Node) {
	types := slices.Concat(n.QueueTypes, n.QueueTypes)
	var of []labels
	for i := range types {
		strategy := "at_most_once"
		if i >= len(n.QueueTypes) {
			types[i].DeadLettered, strategy = types[i].Dropped, "disabled"
		}
		of = append(of, labelled("dead_letter_strategy", strategy, "queue_type", typeLabel(types[i].Type)))
	}
	writeAll(e, deaths, all, types, of)
	for i := range n.QueueTypes {
		if q := &n.QueueTypes[i]; q.Type == "quorum" {
			write(e, confirmedDeaths, []Queue{*q}, []labels{labelled("dead_letter_strategy", "at_least_once", "queue_type", typeLabel(q.Type))})
		}
	}
}

// confirmedDeaths are what RabbitMQ has for quorum queues alone. A message leaves no queue before the others have it.
var confirmedDeaths = column[Queue]{"rabbitmq_global_messages_dead_lettered_confirmed_total", "Dead letters that the queues they went to have", counter,
	func(q *Queue) float64 { return q.DeadLettered.sum() }}

// detailed answers for the families that are asked for, and tells nothing but who the broker is when there are none. Queues can be narrowed
// down to a virtual host and to one queue.
func (h *handler) detailed(e *exposition, r *http.Request) {
	asked := r.URL.Query()
	group := func(name string) bool { return slices.Contains(asked["family"], name) }
	queue := func(q *Queue) bool { return matches(asked["vhost"], q.VHost) && matches(asked["queue"], q.Name) }
	h.objects(e, group, queue)
	if wantsAny(exchangeNames, group) || wantsAny(exchangeBindings, group) {
		list := h.source.Exchanges()
		_, info := exchangeLabels(list)
		writeAll(e, exchangeNames, group, list, info)
		writeAll(e, exchangeBindings, group, list, info)
	}
	if wantsAny(vhosts, group) {
		list := slices.Sorted(slices.Values(h.source.VHosts()))
		writeAll(e, vhosts, group, list, labelsOf(list, func(name *string) labels { return labelled("vhost", *name) }))
	}
	if wantsAny(node, group) || wantsAny(h.process, group) || wantsAny(logins, group) {
		one := []Node{h.source.Node()}
		writeAll(e, node, group, one, nil)
		writeAll(e, h.process, group, one, nil)
		writeAll(e, logins, group, one[0].Logins, loginLabels(one[0].Logins))
	}
}

// matches: one value has to be met, none means all, and of several no object meets each.
func matches(values []string, value string) bool {
	return len(values) == 0 || len(values) == 1 && values[0] == value
}

// wantsAny reports whether any of the groups is wanted.
func wantsAny[T any](groups []group[T], wanted func(string) bool) bool {
	return slices.ContainsFunc(groups, func(g group[T]) bool { return g.name != "" && wanted(g.name) })
}

// memory tells what takes the memory.
func (h *handler) memory(e *exposition, _ *http.Request) {
	parts := h.source.Node().Memory
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		single(e, "leveret_memory_"+part+"_bytes", "Memory of "+part, gauge, []float64{float64(parts[part])}, []labels{nil})
	}
}
