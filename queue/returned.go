package queue

import (
	"sync"

	"leveret/store"
)

type returned struct {
	ranges []store.Range
	done   sync.WaitGroup
}

func (r *returned) run(q *Queue) {
	defer r.done.Done()
	for n, e, ok := q.window.NextFrom(0); ok; n, e, ok = q.window.NextFrom(n + 1) {
		if !e.logged || !e.redelivered {
			continue
		}
		if last := len(r.ranges) - 1; last >= 0 && r.ranges[last].Last+1 == n {
			r.ranges[last].Last = n
		} else {
			r.ranges = append(r.ranges, store.Range{First: n, Last: n})
		}
	}
}
