package management

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/server"
	"leveret/vhost"
)

// queueIn is a queue with its virtual host.
type queueIn struct {
	vhost *vhost.VHost
	*queue.Queue
}

// queueForm is how much of a queue is shown.
type queueForm uint8

const (
	definition queueForm = iota // disable_stats: what it was declared with
	totals                      // disable_stats and enable_queue_totals: and how many messages it holds
	reduced                     // lists: what is null is left out
	detailed
	single // and the consumers
)

// lighter is the form that the query asks for instead.
func (c *call) lighter(form queueForm) queueForm {
	switch {
	case !c.asked("disable_stats"):
		return form
	case c.asked("enable_queue_totals"):
		return totals
	}
	return definition
}

// queueView shows queues in one form, with what it knows of all consumers of one moment.
type queueView struct {
	api       *API
	form      queueForm
	windows   windows
	consumers map[*queue.Queue][]server.ConsumerStatus
	oldest    map[*queue.Queue]time.Duration // that clients have held messages
	owners    map[uint64]object              // connections by number; nil until an exclusive queue is shown
}

// queueView makes a view, for one answer.
func (a *API) queueView(form queueForm, w windows) *queueView {
	view := &queueView{api: a, form: form, windows: w}
	// All consumers are asked for once, not once a queue: a list of ten thousand queues would look at all consumers as often.
	if form >= reduced {
		view.oldest = a.server.OldestUnacked()
		view.consumers = make(map[*queue.Queue][]server.ConsumerStatus)
		for _, consumer := range a.server.Consumers() {
			view.consumers[consumer.Queue] = append(view.consumers[consumer.Queue], consumer)
		}
	}
	return view
}

// show makes the object of a queue. The room is for its fields, which are many.
func (view *queueView) show(q queueIn) object {
	o := make(object, 0, queueFields)
	o = view.declared(o, q)
	switch view.form {
	// Without statistics nothing is asked of a queue but what stands in its options.
	case definition:
		return view.policies(view.members(o, q), q)
	case totals:
		o = view.policies(view.members(o, q), q)
		s := q.Stats()
		for i, n := range lengths(&s) {
			o.add(lengthCounters[i], n)
		}
		return o
	}
	o = view.policies(view.members(o, q), q)
	o = view.numbers(o, q)
	if view.form == single {
		o = view.holders(o, q)
	}
	// RabbitMQ's list leaves out what a single queue shows as null, and lists are most of what the API sends.
	if view.form == reduced {
		return withoutNull(o)
	}
	return o
}

// queueFields is about how many fields a queue has.
const queueFields = 88

// declared adds what a queue was declared with.
func (view *queueView) declared(o object, q queueIn) object {
	opts := q.Options()
	o = append(o,
		field{"name", opts.Name}, field{"vhost", q.vhost.Name()}, field{"type", typeOf(opts)}, field{"durable", opts.Durable},
		field{"auto_delete", opts.AutoDelete}, field{"exclusive", opts.Exclusive}, field{"arguments", opts.Arguments},
		field{"node", view.api.options.Node}, field{"state", stateOf(q)},
	)
	if opts.Exclusive {
		o.add("owner_pid_details", view.owner(opts.Owner))
	}
	return o
}

// stateOf is whether a queue delivers.
func stateOf(q queueIn) string {
	if q.Stats().Paused {
		return "paused"
	}
	return "running"
}

// owner shows the connection that an exclusive queue belongs to. All connections are looked at once, when the first such queue is shown: there may be
// as many of these as of those.
func (view *queueView) owner(id uint64) object {
	if view.owners == nil {
		view.owners = make(map[uint64]object)
		for _, c := range view.api.server.OpenConnections() {
			host, port := addressParts(c.Peer)
			view.owners[c.ID] = object{{"name", c.Name}, {"peer_host", host}, {"peer_port", port}}
		}
	}
	if o, found := view.owners[id]; found {
		return o
	}
	return object{}
}

// typeOf is the kind of queue, which stands in its arguments always.
func typeOf(opts queue.Options) string {
	v, _ := opts.Arguments.Get("x-queue-type")
	if kind, ok := v.(string); ok && kind != "" && kind != "undefined" {
		return kind
	}
	return "classic"
}

// members adds where the replicas are of queues that have some: here.
func (view *queueView) members(o object, q queueIn) object {
	node := view.api.options.Node
	o = append(o, field{"internal", false}, field{"internal_owner", false})
	kind := typeOf(q.Options())
	if kind != "quorum" && kind != "stream" {
		return o
	}
	o = append(o, field{"leader", node}, field{"members", []string{node}}, field{"online", []string{node}})
	if kind == "quorum" {
		o.add("delivery_limit", deliveryLimit(q.Options().Arguments))
	}
	return o
}

// defaultDeliveryLimit is how often a message of a quorum queue may come back when nobody says otherwise.
const defaultDeliveryLimit = 20

// deliveryLimit is a quorum queue's own, or the default. A policy may have set another, which stands in effective_policy_definition.
func deliveryLimit(arguments amqp.Table) int64 {
	v, _ := arguments.Get("x-delivery-limit")
	if n, ok := amqp.Integer(v); ok {
		return n
	}
	return defaultDeliveryLimit
}

// policies adds what policies make of a queue, and which of those that match it do not apply, and why.
func (view *queueView) policies(o object, q queueIn) object {
	applied := q.vhost.PolicyFor(q.Queue)
	o = append(o,
		field{"policy", nameOrNull(applied.Policy)}, field{"operator_policy", nameOrNull(applied.Operator)},
		field{"effective_policy_definition", applied.Effective},
	)
	if len(applied.Skipped) == 0 {
		return o
	}
	skipped := make([]object, len(applied.Skipped))
	for i, s := range applied.Skipped {
		skipped[i] = object{{"name", s.Name}, {"operator", s.Operator}, {"reason", s.Reason}}
	}
	return append(o, field{"policy_skipped", skipped})
}

// nameOrNull is null where no policy applies.
func nameOrNull(name string) any {
	if name == "" {
		return nil
	}
	return name
}

// numbers adds what a queue holds and did. All are there from the first moment, as autoscalers take what is missing for nothing.
func (view *queueView) numbers(o object, q queueIn) object {
	s := q.Stats()
	h := view.api.rates.past(q.Queue, view.windows.any())
	o = lengthCounters.addTo(o, lengths(&s), h, queueLengthAt, view.windows.lengths)
	o = append(o, field{"consumers", s.Consumers}, field{"memory", s.ReadyBytes})
	o = view.contents(o, q, &s)
	o = view.backlog(o, &s, h)
	o = view.timings(o, q, h)
	if view.form >= detailed {
		o.add("idle_since", idleSince(h))
	}
	if messages := view.messages(&s, h); len(messages) > 0 {
		o.add("message_stats", messages)
	}
	return o
}

// messages are a queue's message_stats: absent until something happened.
func (view *queueView) messages(s *queue.Stats, h history) object {
	var messages object
	w := view.windows.messages
	if s.Published > 0 {
		messages = counters{"publish"}.addTo(messages, []uint64{s.Published}, h, queuePublishAt, w)
	}
	if read := deliveries(&s.Totals); anyCount(read) {
		messages = deliveryCounters.addTo(messages, read, h, queueDeliverAt, w)
	}
	return messages
}

// contents adds the fields that depend on the kind of queue.
func (view *queueView) contents(o object, q queueIn, s *queue.Stats) object {
	kind := typeOf(q.Options())
	if kind == "stream" {
		return append(o, field{"segments", 1}, field{"readers", object{{view.api.options.Node, s.Consumers}}}, field{"first_timestamp", 0})
	}
	use := s.Utilisation()
	o = append(o,
		field{"consumer_capacity", use}, field{"consumer_utilisation", use},
		field{"message_bytes", s.Bodies + s.UnackedBodies}, field{"message_bytes_ready", s.Bodies},
		field{"message_bytes_unacknowledged", s.UnackedBodies},
		field{"message_bytes_persistent", s.PersistentBodies}, field{"message_bytes_ram", s.InMemoryBodies},
		field{"messages_persistent", s.Persistent}, field{"messages_ram", s.InMemory + s.UnackedInMemory},
		field{"single_active_consumer_tag", view.activeTag(q)},
	)
	if kind == "quorum" {
		counts := q.ReadyByPriority()
		return append(o,
			field{"messages_dlx", s.Leaving}, field{"message_bytes_dlx", 0}, field{"messages_delayed", s.Pending},
			field{"delayed_retry", retryNames[q.Settings().RetryType]},
			field{"messages_ready_returned", 0}, field{"messages_by_priority", byPriority(counts)}, field{"messages_active_priorities", len(counts)},
			field{"publishers", 0}, field{"open_files", object{{view.api.options.Node, 0}}},
		)
	}
	return append(o,
		field{"messages_dlx", s.Leaving}, field{"messages_delayed", s.Pending}, field{"messages_ready_ram", s.InMemory}, field{"messages_unacknowledged_ram", s.UnackedInMemory},
		field{"exclusive_consumer_tag", view.exclusiveTag(q)}, field{"head_message_timestamp", headTimestamp(s)}, field{"storage_version", 2},
	)
}

// retryNames are those of what a queue does with messages that come back.
var retryNames = map[queue.Retry]string{
	queue.RetryDisabled: "disabled", queue.RetryAll: "all", queue.RetryFailed: "failed", queue.RetryReturned: "returned",
}

// byPriority shows counts by level.
func byPriority(counts map[int]int) object {
	o := object{}
	for _, level := range slices.Sorted(maps.Keys(counts)) {
		o.add(strconv.Itoa(level), counts[level])
	}
	return o
}

// backlog adds what tells whether a queue keeps up: how long the next message has waited, how much the busiest consumer holds, how long it takes at
// this rate until nothing waits any more (null: never), and why messages were dropped or left for other queues.
func (view *queueView) backlog(o object, s *queue.Stats, h history) object {
	var age int64
	// Clocks can go back; an age does not.
	if s.Head > 0 && s.Ready > 0 {
		age = max(0, time.Now().UnixMilli()-s.Head)
	}
	o = append(o, field{"oldest_ready_age", age}, field{"most_unacknowledged", s.MostUnacked}, field{"estimated_drain_seconds", drainTime(s, h)})
	if dropped := reasons(&s.Dropped); len(dropped) > 0 {
		o.add("messages_dropped", dropped)
	}
	if left := reasons(&s.DeadLettered); len(left) > 0 {
		o.add("messages_dead_lettered", left)
	}
	return o
}

// drainTime is in how many seconds nothing waits any more, null if the queue does not get shorter.
func drainTime(s *queue.Stats, h history) any {
	if s.Ready == 0 {
		return 0.0
	}
	if shrinking := -h.rate(queueLengthAt); shrinking > 0 {
		return float64(s.Ready) / shrinking
	}
	return nil
}

// reasons shows the counters of reasons that are not 0.
func reasons[A ~[queue.Reasons]uint64](counts *A) object {
	var o object
	for r, n := range *counts {
		if n > 0 {
			o.add(queue.Reason(r).String(), n)
		}
	}
	return o
}

// exclusiveTag is the tag of the consumer that has the queue for itself, null if there is none.
func (view *queueView) exclusiveTag(q queueIn) any {
	for _, c := range view.consumers[q.Queue] {
		if c.Exclusive {
			return c.Tag
		}
	}
	return nil
}

// activeTag is the tag of the single active consumer, null if there is none.
func (view *queueView) activeTag(q queueIn) any {
	for _, c := range view.consumers[q.Queue] {
		if c.Consumer == q.Active() {
			return c.Tag
		}
	}
	return nil
}

// holders adds the consumers.
func (view *queueView) holders(o object, q queueIn) object {
	list := make([]object, 0, len(view.consumers[q.Queue]))
	for i := range view.consumers[q.Queue] {
		list = append(list, view.api.consumer(&view.consumers[q.Queue][i]))
	}
	return append(o, field{"consumer_details", list}, field{"incoming", []any{}}, field{"deliveries", []any{}})
}

// withoutNull drops fields, in place.
func withoutNull(o object) object {
	kept := o[:0]
	for _, f := range o {
		if f.value != nil {
			kept = append(kept, f)
		}
	}
	return kept
}
