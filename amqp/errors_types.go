package amqp

// This file holds the errors of what queues of one type or the other can't do.

// GetOfSingleActive is the error of basic.get from a quorum queue that serves one consumer at a time.
func GetOfSingleActive(queue, vhost string) *Error {
	return newErrorf(CodeResourceLocked, "cannot obtain access to locked %s. basic.get operations are not supported by quorum queues "+
		"with single active consumer", QueueIn(queue, vhost))
}

// StreamsNotImplemented is the error of declaring a stream.
func StreamsNotImplemented() *Error { return NotImplemented("queues of type stream") }
