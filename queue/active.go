package queue

// Active is the consumer that a queue with a single active consumer delivers to, as of its last turn; nil if there is none, or the queue is no such
// one. Any goroutine may call it.
func (q *Queue) Active() *Consumer { return q.stats.active.Load() }

// showActive makes a change of the active consumer visible; called at the end of a turn.
func (q *Queue) showActive() {
	if q.opts.SingleActiveConsumer && q.stats.active.Load() != q.consumers.active {
		q.stats.active.Store(q.consumers.active)
	}
}
