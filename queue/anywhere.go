package queue

import (
	"container/heap"

	"leveret/amqp"
	"leveret/store"
)

// anywhere removes messages whose time is up wherever they stand, and not at the head only, so that the queue's counts are true within a second.
// Numbers of messages stand in sets by the second in which their time is up. Owned by whoever runs the queue.
type anywhere struct {
	seconds map[int64]*Set
	order   secondHeap
	scanned uint64 // those on disk below were looked at
	until   uint64 // and those from here on need not be, as they were seen when they came; the ones that a start found aside
	reading bool
}

type secondHeap []int64

func (h secondHeap) Len() int           { return len(h) }
func (h secondHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h secondHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *secondHeap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *secondHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// note notes when a ready message's time is up.
func (a *anywhere) note(n uint64, deadline int64) {
	second := (deadline + 999) / 1000
	s := a.seconds[second]
	if s == nil {
		if a.seconds == nil {
			a.seconds = make(map[int64]*Set)
		}
		s = new(Set)
		a.seconds[second] = s
		heap.Push(&a.order, second)
	}
	s.Add(n)
}

// noteDeadline is note for a message that has a time, if the queue removes messages anywhere.
func (q *Queue) noteDeadline(n uint64, m amqp.Message) {
	if !q.set.ExpireAnywhere {
		return
	}
	if at := q.deadline(n, m); at != never {
		q.anywhere.note(n, at)
		q.wakeAt((q.anywhere.order[0]) * 1000)
	}
}

// expireAnywhere removes the messages whose second has passed. Those that a consumer holds are looked at when they come back.
func (q *Queue) expireAnywhere() {
	a := &q.anywhere
	for len(a.order) > 0 {
		second := a.order[0]
		if second*1000 > q.now() {
			q.wakeAt(second * 1000)
			return
		}
		s := a.seconds[second]
		for s.Len() > 0 {
			if q.spend(); q.budget < 0 {
				return
			}
			n := s.First()
			s.Remove(n)
			q.expireOne(n)
		}
		heap.Pop(&a.order)
		delete(a.seconds, second)
	}
}

// expireOne removes a message whose time is up, if it is ready.
func (q *Queue) expireOne(n uint64) {
	if q.away.Has(n) {
		q.dieUnread(n, Expired)
		return
	}
	if e := q.window.At(n); e != nil && q.window.IsMarked(n) && q.deadline(n, e.message) <= q.now() {
		q.die(n, e, Expired)
	}
}

// noteDeadlines notes the deadlines of all that is there, when the queue begins to remove messages anywhere; of what is on disk in time.
func (q *Queue) noteDeadlines() {
	for n, e, ok := q.window.NextFrom(0); ok; n, e, ok = q.window.NextFrom(n + 1) {
		if q.window.IsMarked(n) {
			q.noteDeadline(n, e.message)
		}
	}
	q.anywhere.scanned, q.anywhere.until = 0, q.next
	q.untended.Store(true)
}

// scanDeadlines starts to look at messages on disk of which nothing else tells when their time is up.
func (q *Queue) scanDeadlines() {
	a := &q.anywhere
	if !q.set.ExpireAnywhere || a.reading || q.broken || q.stopped || q.opts.Log == nil {
		return
	}
	var wanted []store.Range
	q.away.Each(a.scanned, func(r store.Range) bool {
		wanted = append(wanted, r)
		return len(wanted) < readRanges
	})
	if len(wanted) == 0 || wanted[0].First >= max(q.keeper.recovered, a.until) {
		return
	}
	a.reading = true
	scan := new(deadlineScan)
	q.reads.Go(func() {
		scan.window, scan.err = q.opts.Log.Read(q.store, wanted, readBytes)
		if q.post(scan) {
			q.Run()
		}
	})
}

// deadlineScan is messages that were read for their deadlines alone.
type deadlineScan struct {
	window store.Window
	err    error
}

func (s *deadlineScan) run(q *Queue) {
	a := &q.anywhere
	a.reading = false
	if s.err != nil || q.closed {
		return
	}
	for _, m := range s.window.Messages {
		if body := amqp.Message(m.Body); q.away.Has(m.Seq) && body.Whole() {
			q.noteDeadline(m.Seq, body)
		}
	}
	a.scanned = s.window.Next
	q.expireAnywhere()
	q.scanDeadlines()
}
