package vhost

import (
	"sync/atomic"

	"leveret/amqp"
)

// Census counts the queues and exchanges of all virtual hosts of a broker together, and says how many there may be. The zero value is
// without limits. Virtual hosts share one; it is safe for use by any goroutine.
type Census struct {
	// MaxQueues and MaxExchanges are the limits, set before the first use; 0 is none.
	MaxQueues, MaxExchanges int

	queues, exchanges atomic.Int64
}

// checkQueueLimits refuses one more queue where there are enough. Declares that come at the same moment may pass together: a limit is a
// guard and no exact account.
//
// [queue.declare]: the limit of the virtual host comes before that of the broker, and both after the arguments.
func (v *VHost) checkQueueLimits(name string) error {
	if limit, ok := v.limit(MaxQueues); ok && int64(v.queues.len()) >= limit {
		return amqp.VHostQueueLimit(name, v.opts.Name, int(limit))
	}
	if c := v.opts.Census; c.MaxQueues > 0 && c.queues.Load() >= int64(c.MaxQueues) {
		return amqp.ClusterQueueLimit(name, c.MaxQueues)
	}
	return nil
}

// checkExchangeLimit refuses one more exchange where the broker has enough. Those that every virtual
// host is born with count too, as in RabbitMQ.
func (v *VHost) checkExchangeLimit(name string) error {
	if c := v.opts.Census; c.MaxExchanges > 0 && c.exchanges.Load() >= int64(c.MaxExchanges) {
		return amqp.ExchangeLimit(name, v.opts.Name, c.MaxExchanges)
	}
	return nil
}
