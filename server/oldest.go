package server

import (
	"time"

	"leveret/queue"
)

// oldestLook is how many deliveries of a channel are looked at, from the oldest on, to find the oldest of each queue that it has messages of.
const oldestLook = 1000

// OldestUnacked finds out for how long clients have held messages of which queues. Of a channel that holds many messages of one queue and few, newer ones,
// of another, the other's may be missed. Any goroutine may call it.
func (s *Server) OldestUnacked() map[*queue.Queue]time.Duration {
	all := make(map[*queue.Queue]time.Duration)
	for _, c := range s.snapshot() {
		if c.visible.open.Load() {
			c.oldestUnacked(all)
		}
	}
	return all
}

// oldestUnacked looks at all channels in one hold of the outbox; what it looks at is bounded for each.
func (c *connection) oldestUnacked(all map[*queue.Queue]time.Duration) {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ch := range o.channels {
		ch.oldestUnackedLocked(all)
	}
}

// oldestUnackedLocked stops early when the channel got messages of one queue only, as most do.
func (ch *channel) oldestUnackedLocked(all map[*queue.Queue]time.Duration) {
	server, look := ch.conn.server, oldestLook
	if len(ch.delivered.by) == 1 {
		look = 1
	}
	var last *queue.Queue
	for n, u, ok := ch.unacked.NextFrom(0); ok && look > 0; n, u, ok = ch.unacked.NextFrom(n + 1) {
		look--
		if u.queue != last {
			last = u.queue
			all[last] = max(all[last], time.Millisecond, server.age(u.at))
		}
	}
}
