package server

import (
	"leveret/amqp"
	"leveret/queue"
)

// streamArguments are arguments of consumers that queues which are no streams refuse.
var streamArguments = [...]string{"x-stream-offset", "x-stream-filter", "x-stream-match-unfiltered"}

// takeArguments reads the arguments of basic.consume. Those that nobody knows are kept and shown.
//
// [basic.consume arguments]: RabbitMQ knows x-consumer-timeout on quorum queues only; here every queue does.
func (c *consumer) takeArguments(arguments amqp.Table, q *queue.Queue) error {
	o := q.Options()
	r := amqp.QueueIn(o.Name, o.VHost)
	for _, name := range streamArguments {
		if _, ok := arguments.Get(name); ok {
			return amqp.ArgumentOfOtherType(name, r, typeModule(o))
		}
	}
	c.Arguments = arguments
	if v, ok := arguments.Get("x-priority"); ok {
		n, ok := amqp.Integer(v)
		if !ok {
			return amqp.InvalidArgument("x-priority", r, amqp.ReasonNoInteger(v))
		}
		c.Priority = int(n)
	}
	v, ok := arguments.Get("x-consumer-timeout")
	if !ok {
		return nil
	}
	switch n, ok := amqp.Integer(v); {
	case !ok:
		return amqp.InvalidArgument("x-consumer-timeout", r, amqp.ReasonNoInteger(v))
	case n < 0:
		return amqp.InvalidArgument("x-consumer-timeout", r, amqp.ReasonNegative(n))
	default:
		c.timeout = n
	}
	return nil
}

// typeModule is RabbitMQ's own name of a queue's type.
func typeModule(o queue.Options) string {
	if o.Quorum {
		return "rabbit_quorum_queue"
	}
	return "rabbit_classic_queue"
}
