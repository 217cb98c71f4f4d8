package amqp

import "fmt"

// This file holds the errors of declaring queues and exchanges that are there already, or with arguments that do not fit.

// Inequivalent is the error of a declare that differs from what is there, in a flag or in an argument that both have; got and current are
// the two values.
func Inequivalent(arg string, r Resource, got, current any) *Error {
	return inequivalent(arg, r, fmt.Sprintf("received '%s' but current is '%s'", FormatValue(got), FormatValue(current)))
}

// InequivalentAdded is the error of a declare with an argument that what is there does not have.
func InequivalentAdded(arg string, r Resource, got any) *Error {
	return inequivalent(arg, r, fmt.Sprintf("received %s but current is none", typedValue(got)))
}

// InequivalentMissing is the error of a declare without an argument that what is there has.
func InequivalentMissing(arg string, r Resource, current any) *Error {
	return inequivalent(arg, r, fmt.Sprintf("received none but current is %s", typedValue(current)))
}

func inequivalent(arg string, r Resource, difference string) *Error {
	return newErrorf(CodePreconditionFailed, "inequivalent arg '%s' for %s: %s", arg, r, difference)
}

func typedValue(v any) string {
	return fmt.Sprintf("the value '%s' of type '%s'", FormatValue(v), TypeName(v))
}

// InvalidArgument is the error of an argument of a declare or a consumer with a value that it cannot have; reason is one of the Reason
// functions and constants.
func InvalidArgument(arg string, r Resource, reason string) *Error {
	return newErrorf(CodePreconditionFailed, "invalid arg '%s' for %s: %s", arg, r, reason)
}

// Reasons of InvalidArgument that stand for themselves, as Erlang prints them.
const (
	ReasonOverflow           = "invalid_overflow"
	ReasonDeadLetterStrategy = "invalid_dlx_strategy"
	ReasonMaxAge             = "invalid_max_age"
	ReasonRoutingKeyWithout  = "routing_key_but_no_dlx_defined"
	ReasonLeaderLocator      = "invalid_queue_locator_arg"
)

// ReasonNegative is the reason of a number below zero.
func ReasonNegative(n int64) string { return fmt.Sprintf("{value_negative,%d}", n) }

// ReasonZero is the reason of a zero that has no meaning.
func ReasonZero() string { return "{value_zero,0}" }

// ReasonTooLarge is the reason of a time that is too long.
func ReasonTooLarge(n int64) string { return fmt.Sprintf("{value_too_large,%d}", n) }

// ReasonMaxExceeded is the reason of a number above the most that the argument takes.
func ReasonMaxExceeded(n int64) string { return fmt.Sprintf("{max_value_exceeded,%d}", n) }

// ReasonType is the reason of a value that is no string or boolean where one must be.
func ReasonType(v any) string { return fmt.Sprintf("{unacceptable_type,%s}", TypeName(v)) }

// ReasonNoInteger is the reason of a value that is no integer where one must be.
func ReasonNoInteger(v any) string { return erlangString("expected integer, got " + TypeName(v)) }

// ReasonQueueVersion is the reason of a queue version that the broker does not have.
func ReasonQueueVersion(v any) string {
	return erlangString("unsupported queue version '" + FormatValue(v) + "'")
}

// ReasonQueueType is the reason of a queue type that the broker does not have.
func ReasonQueueType(name string) string {
	return erlangString("unsupported queue type '" + name + "'")
}

// ArgumentOfOtherType is the error of an argument that only other queue types know; module is RabbitMQ's name of the queue's type, such as
// "rabbit_classic_queue".
func ArgumentOfOtherType(arg string, r Resource, module string) *Error {
	return newErrorf(CodePreconditionFailed, "invalid arg '%s' for %s of queue type %s", arg, r, module)
}

// InvalidArgumentType is the error of a dead letter or alternate exchange whose name is no string.
func InvalidArgumentType(arg string, r Resource, v any) *Error {
	return newErrorf(CodePreconditionFailed, "invalid type '%s' for arg '%s' in %s", TypeName(v), arg, r)
}

// InvalidProperty is the error of a flag that the queue's type does not allow: "auto-delete", "exclusive-owner" or "non-durable".
func InvalidProperty(property string, r Resource) *Error {
	return newErrorf(CodePreconditionFailed, "invalid property '%s' for %s", property, r)
}

// ServerNamedType is the error of asking for a name for a queue of a type that must be named by clients; module as in ArgumentOfOtherType.
func ServerNamedType(module string) *Error {
	return newErrorf(CodePreconditionFailed, "Cannot declare a server-named queue for type %s", module)
}

// NamePrefixTooLong is the error of a server-named queue's prefix that is too long.
func NamePrefixTooLong(prefix string) *Error {
	return newErrorf(CodePreconditionFailed, "Queue name prefix '%s' exceeds the 64-byte limit", prefix)
}

// TransientQueueRefused is the error of a queue that is neither durable nor exclusive where the configuration forbids it.
func TransientQueueRefused() *Error {
	return newError(CodeInternalError, "Feature `transient_nonexcl_queues` is deprecated.")
}

// SegmentSizeTooLarge is the error of a stream's x-stream-max-segment-size-bytes.
func SegmentSizeTooLarge() *Error {
	return newError(CodePreconditionFailed, "Exceeded max value for x-stream-max-segment-size-bytes")
}

// InvalidFilterSize is the error of a stream's x-stream-filter-size-bytes.
func InvalidFilterSize() *Error {
	return newError(CodePreconditionFailed, "Invalid value for x-stream-filter-size-bytes")
}

// PurgeNotSupported is the error of purging a stream.
func PurgeNotSupported(queue, vhost string) *Error {
	return newErrorf(CodeNotImplemented, "queue.purge not supported by stream queues %s", QueueIn(queue, vhost))
}

// GetNotSupported is the error of basic.get from a stream.
func GetNotSupported(queue, vhost string) *Error {
	return newErrorf(CodeNotImplemented, "basic.get not supported by stream queues %s", QueueIn(queue, vhost))
}
