package queue

import "sync/atomic"

// setPrefetch gives all consumers the prefetch that the settings leave of what they asked for.
func (q *Queue) setPrefetch() {
	for _, c := range q.consumers.all {
		q.limitPrefetch(c)
		q.consumers.update(c)
	}
	q.look(nil)
}

// limitPrefetch is setPrefetch for one consumer: one that asked for no limit gets the queue's default, and nobody gets more than the most.
func (q *Queue) limitPrefetch(c *Consumer) {
	limit := c.asked
	if limit == 0 {
		limit = q.set.DefaultPrefetch
	}
	if most := q.set.MaxPrefetch; most > 0 && (limit == 0 || limit > most) {
		limit = most
	}
	c.Prefetch = limit
	atomic.StoreInt32(&c.effective, int32(limit))
}

// EffectivePrefetch is the consumer's prefetch as the queue has it now, 0 for no limit. Any goroutine may ask.
func (c *Consumer) EffectivePrefetch() int { return int(atomic.LoadInt32(&c.effective)) }

// SetPrefetch changes what a running consumer asked for. Any goroutine may call it; it does not wait.
func (c *Consumer) SetPrefetch(prefetch int) {
	if c.queue.post(prefetchChange{c, prefetch}) {
		go c.queue.Run()
	}
}

type prefetchChange struct {
	consumer *Consumer
	prefetch int
}

func (p prefetchChange) run(q *Queue) {
	p.consumer.asked = p.prefetch
	q.limitPrefetch(p.consumer)
	q.consumers.update(p.consumer)
	q.look(nil)
}
