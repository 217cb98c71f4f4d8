package queue

import "sync"

// Pause stops, or resumes, that the queue delivers to consumers: it takes messages all the while, and basic.get works. Any goroutine may call it; it
// blocks until the queue has obeyed.
func (q *Queue) Pause(on bool) error {
	p := &pause{on: on}
	q.call(p, &p.done)
	return p.err
}

type pause struct {
	on   bool
	err  error
	done sync.WaitGroup
}

func (p *pause) run(q *Queue) {
	defer p.done.Done()
	if q.closed {
		p.err = ErrClosed
		return
	}
	q.consumers.paused = p.on
	q.stats.paused.Store(p.on)
	q.look(nil)
}
