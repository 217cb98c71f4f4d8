package amqp

// This file holds the errors of names that are not there, rights that lack, and resources that are taken.

// NoQueue is the error of naming a queue that is not there.
func NoQueue(name, vhost string) *Error {
	return newErrorf(CodeNotFound, "no %s", QueueIn(name, vhost))
}

// NoExchange is the error of naming an exchange that is not there.
func NoExchange(name, vhost string) *Error {
	return newErrorf(CodeNotFound, "no %s", ExchangeIn(name, vhost))
}

// NoPreviousQueue is the error of an empty queue name on a channel that has declared none.
func NoPreviousQueue() *Error {
	return newError(CodeNotFound, "no previously declared queue")
}

// AccessRefused is the error of a user without that right on the resource.
func AccessRefused(right Right, kind ResourceKind, name, vhost, user string) *Error {
	return newErrorf(CodeAccessRefused, "%s access to %s refused for user '%s'", right, Resource{kind, name, vhost}, user)
}

// TopicRefused is the error of a user without that right on a routing key of a topic exchange.
func TopicRefused(right Right, key, exchange, vhost, user string) *Error {
	return newErrorf(CodeAccessRefused, "%s access to topic '%s' in %s refused for user '%s'", right, key, ExchangeIn(exchange, vhost), user)
}

// ReservedName is the error of declaring a name that begins with "amq.".
func ReservedName(kind ResourceKind, name string) *Error {
	return newErrorf(CodeAccessRefused, "%s name '%s' contains reserved prefix 'amq.*'", kind, name)
}

// DefaultExchange is the error of declaring, deleting, binding or unbinding the default exchange.
func DefaultExchange() *Error {
	return newError(CodeAccessRefused, "operation not permitted on the default exchange")
}

// SystemExchange is the error of deleting an exchange whose name begins with "amq.".
func SystemExchange(name, vhost string) *Error {
	return newErrorf(CodeAccessRefused, "deletion of system %s not allowed", ExchangeIn(name, vhost))
}

// InternalExchange is the error of publishing to an internal exchange.
func InternalExchange(name, vhost string) *Error {
	return newErrorf(CodeAccessRefused, "cannot publish to internal %s", ExchangeIn(name, vhost))
}

// ExclusiveUse is the error of a consumer that conflicts with an exclusive one.
func ExclusiveUse(queue, vhost string) *Error {
	return newErrorf(CodeAccessRefused, "%s in exclusive use", QueueIn(queue, vhost))
}

// VolatileBinding is the error of binding a direct reply queue.
func VolatileBinding() *Error {
	return newError(CodeAccessRefused, "cannot bind or unbind to a volatile (direct reply-to) queue")
}

// LockedQueue is the error of using another connection's exclusive queue, or of declaring a queue with another exclusive flag.
func LockedQueue(queue, vhost string) *Error {
	return newErrorf(CodeResourceLocked, "cannot obtain exclusive access to locked %s. It could be originally declared on another connection "+
		"or the exclusive property value does not match that of the original declaration.", QueueIn(queue, vhost))
}

// GetFromSingleActive is the error of basic.get from a quorum queue with a single active consumer.
func GetFromSingleActive(queue, vhost string) *Error {
	return newErrorf(CodeResourceLocked, "cannot obtain access to locked %s. basic.get operations are not supported by quorum queues "+
		"with single active consumer", QueueIn(queue, vhost))
}

// ProtectedQueue is the error of deleting a queue that the broker keeps for itself.
func ProtectedQueue(queue, vhost string) *Error {
	return newErrorf(CodeResourceLocked, "Cannot delete protected %s.", QueueIn(queue, vhost))
}

// QueueInUse is the error of queue.delete if-unused of a queue that has consumers.
func QueueInUse(name, vhost string) *Error {
	return newErrorf(CodePreconditionFailed, "%s in use", QueueIn(name, vhost))
}

// QueueNotEmpty is the error of queue.delete if-empty of a queue that has ready messages.
func QueueNotEmpty(name, vhost string) *Error {
	return newErrorf(CodePreconditionFailed, "%s not empty", QueueIn(name, vhost))
}

// ExchangeInUse is the error of exchange.delete if-unused of an exchange that has bindings.
func ExchangeInUse(name, vhost string) *Error {
	return newErrorf(CodePreconditionFailed, "%s in use", ExchangeIn(name, vhost))
}

// VHostQueueLimit is the error of queue.declare when the virtual host has its most queues.
func VHostQueueLimit(queue, vhost string, limit int) *Error {
	return newErrorf(CodePreconditionFailed, "cannot declare queue '%s': queue limit in vhost '%s' (%d) is reached", queue, vhost, limit)
}

// ClusterQueueLimit is the error of queue.declare when the broker has its most queues.
func ClusterQueueLimit(queue string, limit int) *Error {
	return newErrorf(CodePreconditionFailed, "cannot declare queue '%s': queue limit in cluster (%d) is reached", queue, limit)
}

// ExchangeLimit is the error of exchange.declare when the broker has its most exchanges.
func ExchangeLimit(name, vhost string, limit int) *Error {
	return newErrorf(CodePreconditionFailed, "cannot declare %s: exchange limit of %d is reached", ExchangeIn(name, vhost), limit)
}
