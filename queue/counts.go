package queue

import "sync"

type count struct {
	counts Counts
	err    error
	done   sync.WaitGroup
}

// Counts asks the queue what it holds, so that the answer includes what the caller pushed before. It blocks until the queue has answered;
// a closed queue answers ErrClosed.
func (q *Queue) Counts() (Counts, error) {
	c := new(count)
	q.call(c, &c.done)
	return c.counts, c.err
}

func (c *count) run(q *Queue) {
	defer c.done.Done()
	if q.closed {
		c.err = ErrClosed
		return
	}
	q.used()
	q.expire()
	q.dropHead()
	c.counts = Counts{Ready: q.ready(), Unacked: q.unacked, Consumers: len(q.consumers.all)}
}
