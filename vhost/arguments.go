package vhost

import (
	"cmp"
	"slices"

	"leveret/amqp"
	"leveret/queue"
)

// queueType is what a queue is by its argument x-queue-type.
type queueType string

const (
	classic queueType = "classic"
	quorum  queueType = "quorum"
	stream  queueType = "stream"
)

// module is RabbitMQ's own name of the type, which error texts show.
func (t queueType) module() string { return "rabbit_" + string(t) + "_queue" }

const (
	argQueueType            = "x-queue-type"
	argNamePrefix           = "x-name-prefix"
	argSingleActiveConsumer = "x-single-active-consumer"
	argDeadLetterExchange   = "x-dead-letter-exchange"
	argDeadLetterRoutingKey = "x-dead-letter-routing-key"
	argMaxPriority          = "x-max-priority"
	argMaxAge               = "x-max-age"

	// maxNamePrefix is how long, in bytes, the prefix of a server-named queue may be.
	maxNamePrefix = 64
	// tenYears is the longest time that an argument may give, in milliseconds.
	tenYears = 3650 * 24 * 60 * 60 * 1000
)

// argument is one that some type of queue knows.
type argument struct {
	name  string
	types []queueType // that know it: they take it at a declare, and compare it at the next
	// taken are types that take it too, as an extension, but do not compare it: clients that gave it in vain before are used to that.
	taken []queueType
	// check returns the error of a value that the argument can't have.
	check func(r amqp.Resource, name string, value any) error
	// comparable gives a table with the value as it is compared, if that is not just as it came.
	comparable func(amqp.Table) amqp.Table
}

// knownTo tells whether queues of a type take the argument at all; RabbitMQ refuses some of them for some types.
func (a *argument) knownTo(t queueType) bool { return slices.Contains(a.types, t) }

var (
	all       = []queueType{classic, quorum, stream}
	notStream = []queueType{classic, quorum}
	onClassic = []queueType{classic}
	onQuorum  = []queueType{quorum}
	onStream  = []queueType{stream}
)

// arguments are those that queues know, in the order in which they are compared. What is not here is kept with the queue, to no effect.
var arguments = []argument{
	{name: argQueueType, types: all, check: checkType},
	{name: "x-expires", types: notStream, check: integer(1, tenYears, tooLarge)},
	{name: "x-message-ttl", types: notStream, check: integer(0, tenYears, tooLarge)},
	{name: argDeadLetterExchange, types: notStream, check: anything}, // checked before, with the rights on it
	{name: argDeadLetterRoutingKey, types: notStream, check: text("")},
	{name: "x-dead-letter-strategy", types: onQuorum, taken: onClassic, check: text(amqp.ReasonDeadLetterStrategy, "at-most-once", "at-least-once")},
	{name: "x-max-length", types: notStream, check: integer(0, noLimit, nil)},
	{name: "x-max-length-bytes", types: all, check: integer(0, noLimit, nil)},
	{name: "x-max-in-memory-length", types: onQuorum, check: integer(0, noLimit, nil)},
	{name: "x-max-in-memory-bytes", types: onQuorum, check: integer(0, noLimit, nil)},
	{name: argMaxPriority, types: onClassic, check: integer(0, 255, maxExceeded)},
	{name: "x-overflow", types: notStream, check: text(amqp.ReasonOverflow, "drop-head", "reject-publish", "reject-publish-dlx")},
	{name: "x-queue-mode", types: onClassic, check: anything},
	{name: "x-queue-version", types: onClassic, check: checkVersion},
	{name: "x-queue-master-locator", types: onClassic, check: anything},
	{name: argSingleActiveConsumer, types: notStream, check: boolean},
	{name: "x-delivery-limit", types: onQuorum, taken: onClassic, check: anything},
	{name: "x-quorum-initial-group-size", types: onQuorum, check: integer(1, noLimit, nil)},
	{name: "x-consumer-timeout", types: onQuorum, taken: onClassic, check: integer(0, noLimit, nil)},
	{name: "x-consumer-disconnected-timeout", types: onQuorum, check: integer(0, noLimit, nil)},
	{name: "x-delayed-retry-type", types: onQuorum, taken: onClassic, check: anything},
	{name: "x-delayed-retry-min", types: onQuorum, taken: onClassic, check: anything},
	{name: "x-delayed-retry-max", types: onQuorum, taken: onClassic, check: anything},
	{name: argMaxAge, types: onStream, check: checkMaxAge, comparable: maxAgeInMilliseconds},
	{name: "x-stream-max-segment-size-bytes", types: onStream, check: integer(0, 3_000_000_000, segmentSizeTooLarge)},
	{name: "x-stream-filter-size-bytes", types: onStream, check: checkFilterSize},
	{name: "x-initial-cluster-size", types: onStream, check: integer(1, noLimit, nil)},
	{name: "x-queue-leader-locator", types: all, check: text(amqp.ReasonLeaderLocator, "client-local", "balanced", "random", "least-leaders")},
}

// typeOf is the type that the arguments ask for. It may be one that does not exist.
func (v *VHost) typeOf(d *QueueDeclare) queueType {
	switch name := get[string](d.Arguments, argQueueType); name {
	case "", "undefined":
		return v.defaultType(d)
	default:
		return queueType(name)
	}
}

// kindOf is the type of a queue that is there.
func (v *VHost) kindOf(q queue.Options) queueType {
	return v.typeOf(&QueueDeclare{Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive, Arguments: q.Arguments})
}

// defaultType is the type of a queue that is declared without one.
func (v *VHost) defaultType(d *QueueDeclare) queueType {
	if !d.Durable || d.Exclusive || d.AutoDelete {
		return classic
	}
	return queueType(cmp.Or(v.metadata.Load().DefaultQueueType, v.opts.DefaultQueueType, string(classic)))
}

// addType writes the default type into the arguments of a declare without a type; it is kept with them.
func (v *VHost) addType(d *QueueDeclare) {
	if _, ok := d.Arguments.Get(argQueueType); !ok {
		d.Arguments = append(slices.Clip(d.Arguments), amqp.Field{Name: argQueueType, Value: string(v.defaultType(d))})
	}
}

// validate checks the arguments and flags of a new queue. Those that no type knows are left alone, for clients of other brokers and of later
// versions send them.
func (v *VHost) validate(d QueueDeclare) error {
	r, kind := v.queueResource(d.Name), v.typeOf(&d)
	for i := range arguments {
		a := &arguments[i]
		value, ok := d.Arguments.Get(a.name)
		if !ok {
			continue
		}
		if a.name != argQueueType && !a.knownTo(kind) && !slices.Contains(a.taken, kind) {
			return amqp.ArgumentOfOtherType(a.name, r, kind.module())
		}
		if err := a.check(r, a.name, value); err != nil {
			return err
		}
	}
	_, hasKey := d.Arguments.Get(argDeadLetterRoutingKey)
	_, hasExchange := d.Arguments.Get(argDeadLetterExchange)
	if hasKey && !hasExchange {
		return amqp.InvalidArgument(argDeadLetterRoutingKey, r, amqp.ReasonRoutingKeyWithout)
	}
	if err := validateExtensions(r, kind, d.Arguments); err != nil {
		return err
	}
	if kind == classic {
		return nil
	}
	// Queues of the other types are made to last: nothing may end them but a client that deletes them.
	switch {
	case d.AutoDelete:
		return amqp.InvalidProperty("auto-delete", r)
	case d.Exclusive:
		return amqp.InvalidProperty("exclusive-owner", r)
	case !d.Durable:
		return amqp.InvalidProperty("non-durable", r)
	case kind == stream && !v.opts.Streams:
		return amqp.StreamsNotImplemented()
	}
	return nil
}

// without is a table without the fields of that name.
func without(t amqp.Table, name string) amqp.Table {
	return slices.DeleteFunc(slices.Clone(t), func(f amqp.Field) bool { return f.Name == name })
}
