package queue

import (
	"cmp"
	"slices"
	"sync"

	"leveret/store"
)

type returned struct {
	ranges []store.Range
	done   sync.WaitGroup
}

// Returned ends that the queue reads, and asks it which logged messages came back to it, so that they are known as redelivered after a clean
// stop. It is called when nobody uses the queue any more, and blocks until the queue has answered, its last read is over and nobody runs it.
func (q *Queue) Returned() []store.Range {
	r := new(returned)
	q.call(r, &r.done)
	q.reads.Wait()
	q.mailbox.awaitIdle()
	return r.ranges
}

func (r *returned) run(q *Queue) {
	defer r.done.Done()
	q.broken, q.full, q.stopped = true, true, true
	q.clock.stop()
	var found Set
	for n, e, ok := q.window.NextFrom(0); ok; n, e, ok = q.window.NextFrom(n + 1) {
		if e.logged && e.redelivered {
			found.Add(n)
		}
	}
	found.Each(0, r.add)
	q.returned.Each(0, r.add)
	q.away.Each(0, func(away store.Range) bool {
		if away.First >= q.doubtful {
			return false
		}
		away.Last = min(away.Last, q.doubtful-1)
		return r.add(away)
	})
	slices.SortFunc(r.ranges, func(a, b store.Range) int { return cmp.Compare(a.First, b.First) })
}

func (r *returned) add(found store.Range) bool {
	r.ranges = append(r.ranges, found)
	return true
}
