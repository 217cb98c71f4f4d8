package amqp

// This file holds the errors of channels: their state, consumers, deliveries, publishes and transactions.

// ExpectedChannelOpen is the error of any other method on a channel that is not open.
func ExpectedChannelOpen() *Error {
	return newError(CodeChannelError, "expected 'channel.open'")
}

// SecondChannelOpen is the error of channel.open on a channel that is open, or whose close is not answered yet.
func SecondChannelOpen() *Error {
	return newError(CodeChannelError, "second 'channel.open' seen")
}

// UnexpectedDuringCommit is the error of a method between tx.commit and its answer.
func UnexpectedDuringCommit() *Error {
	return newError(CodeChannelError, "unexpected command while processing 'tx.commit'")
}

// ChannelLimit is the error of channel.open when the connection has its negotiated number of channels.
func ChannelLimit(open, limit int) *Error {
	return newErrorf(CodeNotAllowed, "number of channels opened (%d) has reached the negotiated channel_max (%d)", open, limit)
}

// UserChannelLimit is the error of channel.open when the user has its most channels.
func UserChannelLimit(user string, limit int) *Error {
	return newErrorf(CodeNotAllowed, "number of channels opened for user '%s' has reached the maximum allowed user limit of %d", user, limit)
}

// NodeChannelLimit is the error of channel.open when the broker has its most channels.
func NodeChannelLimit(node string, limit int) *Error {
	return newErrorf(CodeNotAllowed, "number of channels opened on node '%s' has reached the maximum allowed limit of %d", node, limit)
}

// NotImplemented is the error of a field that asks for what the broker does not do; the text says which.
func NotImplemented(text string) *Error {
	return newError(CodeNotImplemented, text)
}

// ImmediateNotImplemented is the error of basic.publish with immediate set.
func ImmediateNotImplemented() *Error { return NotImplemented("immediate=true") }

// FlowNotImplemented is the error of channel.flow that asks the server to stop.
func FlowNotImplemented() *Error { return NotImplemented("active=false") }

// RecoverNotImplemented is the error of basic.recover and recover-async without requeue.
func RecoverNotImplemented() *Error { return NotImplemented("requeue=false") }

// PrefetchSizeNotImplemented is the error of basic.qos with a limit in octets.
func PrefetchSizeNotImplemented(size uint32) *Error {
	return newErrorf(CodeNotImplemented, "prefetch_size!=0 (%d)", size)
}

// GlobalQosNotImplemented is the error of a consumer of a queue whose type has no channel-wide prefetch on a channel that has one.
func GlobalQosNotImplemented(queue, vhost string) *Error {
	return newErrorf(CodeNotImplemented, "%s does not support global qos", QueueIn(queue, vhost))
}

// ReuseConsumerTag is the error of basic.consume with a tag that the channel has already.
func ReuseConsumerTag(tag string) *Error {
	return newErrorf(CodeNotAllowed, "attempt to reuse consumer tag '%s'", tag)
}

// ConsumerLimit is the error of basic.consume when the channel has its most consumers.
func ConsumerLimit(limit int) *Error {
	return newErrorf(CodeNotAllowed, "reached maximum (%d) of consumers per channel", limit)
}

// UnknownDeliveryTag is the error of settling what is not outstanding on the channel.
func UnknownDeliveryTag(tag uint64) *Error {
	return newErrorf(CodePreconditionFailed, "unknown delivery tag %d", tag)
}

// DeliveryTimeout is the error of a channel that did not settle a delivery in time; milliseconds is the limit, -1 when it is the queue's.
func DeliveryTimeout(channel uint16, milliseconds int64) *Error {
	return newErrorf(CodePreconditionFailed, "delivery acknowledgement on channel %d timed out. Timeout value used: %d ms. "+
		"This timeout value can be configured, see consumers doc guide to learn more", channel, milliseconds)
}

// maxMessageSize is the size that no configuration raises.
const maxMessageSize = 512 << 20

// MessageTooLarge is the error of a publish whose body is larger than the limit.
func MessageTooLarge(size, limit uint64) *Error {
	which := "configured max"
	if limit == maxMessageSize {
		which = "max"
	}
	return newErrorf(CodePreconditionFailed, "message size %d is larger than %s size %d", size, which, limit)
}

// InvalidExpiration is the error of a publish whose expiration is not a number of milliseconds in range; reason is an Erlang term.
func InvalidExpiration(text []byte, reason string) *Error {
	return newErrorf(CodePreconditionFailed, "invalid expiration '%s': %s", text, reason)
}

// UserIDMismatch is the error of a publish in the name of another user.
func UserIDMismatch(userID, user string) *Error {
	return newErrorf(CodePreconditionFailed, "user_id property set to '%s' but authenticated user was '%s'", userID, user)
}

// UnacceptableHeader is the error of a publish whose CC or BCC header is no array; typeName is the word for the type it has.
func UnacceptableHeader(name, typeName string) *Error {
	return newErrorf(CodePreconditionFailed, "invalid message: {unacceptable_type_in_header,%s,%s}", erlangString(name), typeName)
}

// ConfirmToTx is the error of tx.select on a channel with publisher confirms.
func ConfirmToTx() *Error {
	return newError(CodePreconditionFailed, "cannot switch from confirm to tx mode")
}

// TxToConfirm is the error of confirm.select on a transactional channel.
func TxToConfirm() *Error {
	return newError(CodePreconditionFailed, "cannot switch from tx to confirm mode")
}

// NotTransactional is the error of tx.commit and tx.rollback before tx.select.
func NotTransactional() *Error {
	return newError(CodePreconditionFailed, "channel is not transactional")
}

// PartialTx is the error of tx.commit when a queue refused one of the publishes.
func PartialTx() *Error {
	return newError(CodePreconditionFailed, "partial tx completion")
}

// TransactionTooLarge is the error of a publish that does not fit into its transaction any more; limit is in bytes.
func TransactionTooLarge(limit int) *Error {
	return newErrorf(CodePreconditionFailed, "transaction is larger than configured max size %d", limit)
}

// NoReplyConsumer is the error of a publish that asks for direct replies on a channel that does not consume them.
func NoReplyConsumer() *Error {
	return newError(CodePreconditionFailed, "fast reply consumer does not exist")
}

// ReplyConsumerAcks is the error of consuming direct replies with acknowledgements.
func ReplyConsumerAcks() *Error {
	return newError(CodePreconditionFailed, "reply consumer cannot acknowledge")
}

// ReplyConsumerSet is the error of consuming direct replies twice on a channel.
func ReplyConsumerSet() *Error {
	return newError(CodePreconditionFailed, "reply consumer already set")
}

// NoRouteText is the reply text of basic.return for a mandatory message that reached no queue.
const NoRouteText = "NO_ROUTE"
