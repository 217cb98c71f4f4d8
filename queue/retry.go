package queue

import (
	"container/heap"
	"math"
	"math/rand/v2"

	"leveret/store"
)

// retries are messages that came back and wait before they are delivered again: neither ready nor unacked. Owned by whoever runs the queue.
type retries struct {
	heap retryHeap
	set  Set // the numbers of those that wait
}

// retry is one message that waits.
type retry struct {
	due  int64 // Unix ms
	n    uint64
	size int // about
	tag  uint32
}

type retryHeap []retry

func (h retryHeap) Len() int { return len(h) }
func (h retryHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].n < h[j].n
}
func (h retryHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *retryHeap) Push(x any)   { *h = append(*h, x.(retry)) }
func (h *retryHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// retryDelay is how long in milliseconds a message waits that came back; 0: not at all.
//
// [quorum queues, delayed retry]: the minimum times the delivery count, up to the maximum; ours: a factor from one to the next, and a share of chance.
func (q *Queue) retryDelay(n uint64, failed bool) int64 {
	s := &q.set
	if s.RetryMin <= 0 || s.RetryType == RetryDisabled || s.RetryType == RetryFailed && !failed || s.RetryType == RetryReturned && failed {
		return 0
	}
	most := float64(max(s.RetryMin, s.RetryMax))
	times := float64(max(1, q.deliveryCount(n)))
	wait := float64(s.RetryMin) * times
	if s.RetryMultiplier > 0 {
		wait = float64(s.RetryMin) * math.Pow(s.RetryMultiplier, times-1)
	}
	wait = min(wait, most)
	return int64(wait * (1 - s.RetryJitter*rand.Float64()))
}

// wait puts a message aside that came back, until it is due.
func (r *retries) wait(x retry) {
	heap.Push(&r.heap, x)
	r.set.Add(x.n)
}

// retryLater makes a message wait that a start found on disk.
func (q *Queue) retryLater(n uint64, due int64) {
	if q.away.Remove(n) {
		size := q.awayBytes / (q.away.Len() + 1)
		q.unweighAway()
		q.wasReturned(n)
		q.retries.wait(retry{due: due, n: n, size: size})
		q.wakeAt(due)
	}
}

// sortRetries gives those that a start found the tags that they had.
func (q *Queue) sortRetries(tags map[uint64]uint32) {
	for i := range q.retries.heap {
		q.retries.heap[i].tag = tags[q.retries.heap[i].n]
	}
}

// retryDue makes those ready whose wait is over; what one turn does not finish is left to the next.
func (q *Queue) retryDue() {
	h := &q.retries.heap
	if q.stopped {
		return
	}
	for len(*h) > 0 && (*h)[0].due <= q.now() {
		if q.spend(); q.budget < 0 {
			return
		}
		x := heap.Pop(h).(retry)
		if q.retries.set.Remove(x.n) {
			q.wake(x)
		}
	}
	if len(*h) > 0 {
		q.wakeAt((*h)[0].due)
	}
}

// wake makes a message ready again that waited.
func (q *Queue) wake(x retry) {
	e := q.window.At(x.n)
	if e == nil {
		q.giveBack(x.n, x.size, x.tag)
		return
	}
	q.wakeHere(x.n, e)
}

// wakeHere is wake for a message in memory.
func (q *Queue) wakeHere(n uint64, e *entry) {
	e.redelivered = true
	q.noteDeadline(n, e.message)
	q.window.Mark(n)
	q.weigh(e, e.size())
	q.enter(n, e.tag, false)
}

// dropRetries drops the messages that wait, and returns how many there were.
func (q *Queue) dropRetries() (count int) {
	count = q.retries.set.Len()
	q.retries.set.Each(0, func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			q.dropPending(n)
		}
		return true
	})
	q.retries = retries{}
	return count
}
