package queue

import (
	"container/heap"

	"leveret/store"
)

// fairLeast is what serving a message costs its key at least, in bytes: small ones count by their number, large ones by their size.
const fairLeast = 1 << 10

// fair is the order of a queue that is fair to the keys of its messages: a lane a key, and the key that has got least is served next. A key that
// was away does not get what it missed.
type fair struct {
	lanes map[uint32]*fairLane
	heap  fairHeap
	clock uint64 // what the key served last had got before
}

// fairLane is the messages of one key.
type fairLane struct {
	lane
	tag uint32
	got uint64 // bytes served, counted from where the others stood when the key came
	at  int    // in the heap
}

func newFair() *fair { return &fair{lanes: make(map[uint32]*fairLane)} }

type fairHeap []*fairLane

func (h fairHeap) Len() int { return len(h) }
func (h fairHeap) Less(i, j int) bool {
	return h[i].got < h[j].got || h[i].got == h[j].got && h[i].First() < h[j].First()
}
func (h fairHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *fairHeap) Push(x any) {
	l := x.(*fairLane)
	l.at = len(*h)
	*h = append(*h, l)
}
func (h *fairHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return l
}

func (o *fair) add(n uint64, tag uint32) {
	l := o.lanes[tag]
	if l == nil {
		l = &fairLane{tag: tag, got: o.clock}
		o.lanes[tag] = l
		l.Add(n)
		heap.Push(&o.heap, l)
		return
	}
	l.Add(n)
}

func (o *fair) back(n uint64, tag uint32) { o.add(n, tag) }

func (o *fair) remove(n uint64, tag uint32) {
	if l := o.lanes[tag]; l != nil {
		o.removeFrom(l, n)
	}
}

func (o *fair) removeFrom(l *fairLane, n uint64) {
	if l.Remove(n) && l.Len() == 0 {
		heap.Remove(&o.heap, l.at)
		delete(o.lanes, l.tag)
	}
}

func (o *fair) first() (n uint64, ok bool) {
	if len(o.heap) == 0 {
		return 0, false
	}
	return o.heap[0].First(), true
}

func (o *fair) served(_ uint64, tag uint32, size int) {
	if l := o.lanes[tag]; l != nil {
		o.clock = max(o.clock, l.got)
		l.got += uint64(max(size, fairLeast))
		heap.Fix(&o.heap, l.at)
	}
}

func (o *fair) heads(each func(n uint64) bool) {
	for _, l := range o.heap {
		if !each(l.First()) {
			return
		}
	}
}

func (o *fair) each(each func(store.Range) bool) {
	more := true
	for i := 0; more && i < len(o.heap); i++ {
		o.heap[i].Each(0, func(r store.Range) bool {
			more = each(r)
			return more
		})
	}
}

func (o *fair) forget(n uint64) (tag uint32) {
	for _, l := range o.lanes {
		if l.Has(n) {
			o.removeFrom(l, n)
			return l.tag
		}
	}
	return 0
}

func (o *fair) filter(keep func(n uint64) bool) {
	o.heap = o.heap[:0]
	for tag, l := range o.lanes {
		if l.filter(keep); l.Len() == 0 {
			delete(o.lanes, tag)
		} else {
			heap.Push(&o.heap, l)
		}
	}
}
