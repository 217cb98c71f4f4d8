package vhost

import (
	"sync/atomic"
	"time"

	"leveret/queue"
)

// dropLogPause is how long nothing is logged of dead letters that are dropped for a reason, after something was.
const dropLogPause = 10 * time.Second

// drops counts dead letters that were dropped for a reason, and says now and then that they were.
type drops struct {
	dropped atomic.Uint64
	logged  atomic.Int64 // Unix ns
}

// note counts some. It reports whether it is time to log that, and how many there were.
func (d *drops) note(messages int) (log bool, dropped uint64) {
	dropped = d.dropped.Add(uint64(messages))
	now, last := time.Now().UnixNano(), d.logged.Load()
	return now-last >= int64(dropLogPause) && d.logged.CompareAndSwap(last, now), dropped
}

// noteCycle counts a dead letter that was not sent to a queue since it would go in circles for ever.
func (v *VHost) noteCycle(source, target *queue.Queue) {
	if log, dropped := v.cycles.note(1); log {
		v.opts.Log.Warn("a dead letter would go in circles and is dropped",
			"vhost", v.opts.Name, "from", source.Name(), "to", target.Name(), "dropped", dropped)
	}
}

// Cycles is how many dead letters were dropped because they would have gone in circles.
func (v *VHost) Cycles() uint64 { return v.cycles.dropped.Load() }

// noteOverrun counts transient messages that a queue dropped: they could not go where they were to go, and there were too many of them.
func (v *VHost) noteOverrun(source *queue.Queue, messages int) {
	if log, dropped := v.overruns.note(messages); log {
		v.opts.Log.Warn("transient dead letters can't go where they should, are too many for the memory and dropped",
			"vhost", v.opts.Name, "from", source.Name(), "dropped", dropped)
	}
}

// warnDeadLetters says that a queue's dead letters may get lost though it was asked for more.
func (v *VHost) warnDeadLetters(name string, w wishes, s queue.Settings) {
	if s.DeadLetter && w.wantsAtLeastOnce() && !s.AtLeastOnce {
		v.opts.Log.Warn("dead letters are sent at most once: at-least-once needs the overflow reject-publish", "vhost", v.opts.Name, "queue", name)
	}
}
