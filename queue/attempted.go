package queue

import "sync"

// Attempts tells of messages, by their numbers, how often each came back and how often its delivery had failed; zeros for a queue that does not count,
// and a closed one. It blocks until the queue has answered.
func (q *Queue) Attempts(messages []uint64) (acquired, failed []int) {
	a := &attempted{messages: messages, acquired: make([]int, len(messages)), failed: make([]int, len(messages))}
	q.call(a, &a.done)
	return a.acquired, a.failed
}

type attempted struct {
	messages         []uint64
	acquired, failed []int
	done             sync.WaitGroup
}

func (a *attempted) run(q *Queue) {
	defer a.done.Done()
	for i, n := range a.messages {
		a.acquired[i], a.failed[i] = int(q.attempts.acquired.of(n)), int(q.attempts.failed.of(n))
	}
}
