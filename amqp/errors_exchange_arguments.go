package amqp

// This file holds the errors of arguments that RabbitMQ's exchanges do not have, or take without a look.

// HashHeaderType is the error of a consistent hash exchange over a header whose name is no string.
func HashHeaderType(v any) *Error {
	return newErrorf(CodePreconditionFailed, "Invalid header name to hash: %s", FormatValue(v))
}

// UnsupportedHashAlgorithm is the error of a consistent hash exchange with another algorithm than the known ones.
func UnsupportedHashAlgorithm(v any) *Error {
	return newErrorf(CodePreconditionFailed, "Unsupported hash algorithm: %s; expected jump or ring", FormatValue(v))
}

// InternalQueue is the error of using a queue that belongs to an exchange.
func InternalQueue(queue, vhost string) *Error {
	return newErrorf(CodeAccessRefused, "%s is internal: its messages wait for an exchange", QueueIn(queue, vhost))
}
