package vhost

import (
	"sync/atomic"

	"leveret/amqp"
	"leveret/queue"
)

// Census counts the queues and exchanges of all virtual hosts of a broker together, and says how many there may be. The zero value is
// without limits. Virtual hosts share one; it is safe for use by any goroutine.
type Census struct {
	// MaxQueues and MaxExchanges are the limits, set before the first use; 0 is none.
	MaxQueues, MaxExchanges int

	queues, exchanges atomic.Int64
}

// Recount compares what the queues hold with the limits on it. It is called once a second, so a limit may be passed by what comes in that
// time: it keeps one virtual host from taking the broker's disk and memory, and is no exact account.
func (v *VHost) Recount() {
	messages, limitedMessages := v.limit(MaxMessages)
	bytes, limitedBytes := v.limit(MaxBytes)
	if !limitedMessages && !limitedBytes {
		v.full.Store(false)
		return
	}
	var held queue.Stats
	v.Queues(func(q *queue.Queue) bool {
		held.Add(q.Stats())
		return true
	})
	full := limitedMessages && int64(held.Ready+held.Unacked) >= messages || limitedBytes && int64(held.ReadyBytes) >= bytes
	if full && !v.full.Load() {
		v.opts.Log.Warn("virtual host is full, publishes are refused", "vhost", v.opts.Name,
			"messages", held.Ready+held.Unacked, "bytes", held.ReadyBytes)
	}
	v.full.Store(full)
}

// Full reports whether the virtual host held as much as it may at the last Recount: publishers are refused then.
func (v *VHost) Full() bool { return v.full.Load() }

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
