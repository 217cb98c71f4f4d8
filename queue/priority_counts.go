package queue

import "sync"

// byPriority is the command that counts ready messages by their level.
type byPriority struct {
	counts map[int]int
	done   sync.WaitGroup
}

// ReadyByPriority counts the ready messages of each level of priority that has some; nil for a queue without levels, and a closed one. It blocks
// until the queue has answered.
func (q *Queue) ReadyByPriority() map[int]int {
	b := new(byPriority)
	q.call(b, &b.done)
	return b.counts
}

func (b *byPriority) run(q *Queue) {
	defer b.done.Done()
	o := q.order
	if c, ok := o.(*comebacks); ok {
		o = c.order // what came back is served before any level, and stands in none
	}
	l, ok := o.(*levels)
	if !ok || q.closed {
		return
	}
	b.counts = make(map[int]int)
	for level := range l.lanes {
		if n := l.lanes[level].Len(); n > 0 {
			b.counts[level] = n
		}
	}
}
