package perf

// counts are sums over all producers and consumers.
type counts struct {
	published, confirmed, nacked, returned, received, redelivered, foreign uint64

	last    int64 // time of the last delivery
	blocked bool  // the broker holds a producer back
}

// settled is how many of the published messages need not be waited for.
func (c *counts) settled() uint64 { return c.received - c.foreign + c.returned + c.nacked }

// count adds everything up. It locks each producer and consumer for a moment.
func (r *run) count() counts {
	var c counts
	for _, p := range r.producers {
		c.published += p.sent.Load()
		c.blocked = c.blocked || p.blocked.Load()
		p.mu.Lock()
		c.returned += p.returned
		if p.window != nil {
			c.confirmed += p.window.confirms.acked
			c.nacked += p.window.confirms.nacked
		}
		p.mu.Unlock()
	}
	for _, s := range r.consumers {
		c.received += s.received.Load()
		c.last = max(c.last, s.last.Load())
		s.mu.Lock()
		c.redelivered += s.redelivered
		c.foreign += s.foreign
		s.mu.Unlock()
	}
	if r.options.Size < stampSize || r.options.Producers == 0 {
		c.foreign = 0 // there is nothing to tell them by
	}
	return c
}

// latencies are the distributions of all producers and consumers.
type latencies struct{ delivery, confirm histogram }

// latencies merges them into a copy. It is made for progress and report alone: a histogram is 30 KB.
func (r *run) latencies() *latencies {
	l := new(latencies)
	for _, p := range r.producers {
		if p.window != nil {
			p.mu.Lock()
			l.confirm.merge(&p.window.confirms.latency)
			p.mu.Unlock()
		}
	}
	for _, s := range r.consumers {
		s.mu.Lock()
		l.delivery.merge(&s.latency)
		s.mu.Unlock()
	}
	return l
}
