package vhost

import (
	"sync/atomic"
	"time"

	"leveret/queue"
)

// cycleLogPause is how long nothing is logged of dead letters that go in circles, after it was.
const cycleLogPause = 10 * time.Second

// cycles counts dead letters that were not sent to a queue since they would go in circles for ever.
type cycles struct {
	dropped atomic.Uint64
	logged  atomic.Int64 // Unix ns
}

// noteCycle counts one, and says so now and then.
func (v *VHost) noteCycle(source, target *queue.Queue) {
	c := &v.cycles
	dropped := c.dropped.Add(1)
	now, last := time.Now().UnixNano(), c.logged.Load()
	if now-last < int64(cycleLogPause) || !c.logged.CompareAndSwap(last, now) {
		return
	}
	v.opts.Log.Warn("a dead letter would go in circles and is dropped", "vhost", v.opts.Name, "from", source.Name(), "to", target.Name(), "dropped", dropped)
}

// Cycles is how many dead letters were dropped because they would have gone in circles.
func (v *VHost) Cycles() uint64 { return v.cycles.dropped.Load() }
