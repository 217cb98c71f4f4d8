package queue

// adjust is the command that changes a consumer's prefetch.
type adjust struct {
	consumer *Consumer
	prefetch int
}

// SetPrefetch changes how many unacked messages a running consumer may have, 0: no limit. It does not wait; what the consumer holds already stays
// with it, and the queue runs on a goroutine of its own if it was idle.
func (c *Consumer) SetPrefetch(n int) {
	if c.queue.post(adjust{c, n}) {
		go c.queue.Run()
	}
}

func (a adjust) run(q *Queue) {
	a.consumer.Prefetch = a.prefetch
	if a.consumer.registered {
		q.consumers.update(a.consumer)
	}
}
