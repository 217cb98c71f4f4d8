package queue

import "sync"

// Held is what a queue knows of the past of a message that a client holds.
type Held struct {
	Redelivered bool // it had been delivered before
	Acquired    int  // times that it had come back
	Failed      int  // and of these, times that its delivery had failed
}

// Held returns the past of unacked messages, by their numbers. Queues without a delivery limit and without retries do not count how often a message
// came back: Acquired is 1 for those that did. Any goroutine may call it; it blocks until the queue has answered.
func (q *Queue) Held(numbers []uint64) ([]Held, error) {
	l := &lookAtHeld{numbers: numbers}
	q.call(l, &l.done)
	return l.found, l.err
}

type lookAtHeld struct {
	numbers []uint64
	found   []Held
	err     error
	done    sync.WaitGroup
}

func (l *lookAtHeld) run(q *Queue) {
	defer l.done.Done()
	if q.closed {
		l.err = ErrClosed
		return
	}
	l.found = make([]Held, len(l.numbers))
	for i, n := range l.numbers {
		h := Held{Redelivered: q.service != nil && q.service.holding.again.Has(n), Acquired: int(q.attempts.acquired.of(n)), Failed: int(q.attempts.failed.of(n))}
		if h.Redelivered {
			h.Acquired = max(h.Acquired, 1)
		}
		l.found[i] = h
	}
}
