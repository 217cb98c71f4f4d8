package queue

import (
	"container/heap"

	"leveret/store"
)

// fairLeast is what serving a message costs its key at least, in bytes: small ones count by their number, large ones by their size.
const fairLeast = 1 << 10

// fair is the order of a queue that is fair to the keys of its messages: a lane a key, and the key that has got least is served next. A key that
// was away does not get what it missed, nor is it forgiven what it got ahead of the others.
type fair struct {
	lanes map[uint32]*fairLane
	heap  fairHeap // of those that have messages
	owing fairHeap // of those that have none, and have got more than the key served last: they keep that in case they come again
	clock uint64   // what the key served last had got before
	came  uint64   // lanes that there were, ever
	gone  Set      // messages that were forgotten, and stand in their lanes until they come to the front
}

// fairLane is the messages of one key.
type fairLane struct {
	lane
	tag  uint32
	got  uint64 // bytes served, counted from where the others stood when the key came
	came uint64 // of two keys that got as much, the one is next that came first: or one whose only message comes back would be next for ever
	at   int    // in its heap
}

func newFair() *fair { return &fair{lanes: make(map[uint32]*fairLane)} }

type fairHeap []*fairLane

func (h fairHeap) Len() int { return len(h) }
func (h fairHeap) Less(i, j int) bool {
	return h[i].got < h[j].got || h[i].got == h[j].got && h[i].came < h[j].came
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
	if o.gone.Len() > 0 && o.gone.Remove(n) { // it is back, perhaps with another tag
		o.removeAnywhere(n)
	}
	l := o.lanes[tag]
	switch {
	case l == nil:
		l = &fairLane{tag: tag, got: o.clock}
		o.lanes[tag] = l
	case l.Len() > 0:
		l.Add(n)
		return
	default:
		heap.Remove(&o.owing, l.at)
	}
	o.came++
	l.came = o.came
	l.Add(n)
	heap.Push(&o.heap, l)
}

func (o *fair) back(n uint64, tag uint32) { o.add(n, tag) }

func (o *fair) remove(n uint64, tag uint32) {
	if l := o.lanes[tag]; l == nil || !o.removeFrom(l, n) {
		o.removeAnywhere(n)
	}
	o.clean()
}

// removeAnywhere looks for a message in all lanes.
func (o *fair) removeAnywhere(n uint64) {
	for _, l := range o.lanes {
		if o.removeFrom(l, n) {
			return
		}
	}
}

// clean takes what is forgotten off the front of the lane that is served next.
func (o *fair) clean() {
	for o.gone.Len() > 0 && len(o.heap) > 0 && o.gone.Remove(o.heap[0].First()) {
		o.removeFrom(o.heap[0], o.heap[0].First())
	}
}

func (o *fair) removeFrom(l *fairLane, n uint64) (found bool) {
	if found = l.Remove(n); found && l.Len() == 0 {
		heap.Remove(&o.heap, l.at)
		heap.Push(&o.owing, l)
		o.forgive()
	}
	return found
}

// forgive forgets the keys without messages that the others have caught up with; all of them when nobody waits.
func (o *fair) forgive() {
	for len(o.owing) > 0 && (o.owing[0].got <= o.clock || len(o.heap) == 0) {
		delete(o.lanes, heap.Pop(&o.owing).(*fairLane).tag)
	}
}

func (o *fair) first() (n uint64, ok bool) {
	if len(o.heap) == 0 {
		return 0, false
	}
	return o.heap[0].First(), true
}

func (o *fair) served(_ uint64, tag uint32, size int) {
	if l := o.lanes[tag]; l != nil && l.Len() > 0 {
		o.clock = max(o.clock, l.got)
		l.got += uint64(max(size, fairLeast))
		heap.Fix(&o.heap, l.at)
		o.forgive()
		o.clean()
	}
}

func (o *fair) heads(each func(n uint64) bool) {
	for _, l := range o.heap {
		if n := l.First(); !o.gone.Has(n) && !each(n) {
			return
		}
	}
}

func (o *fair) each(each func(store.Range) bool) {
	more := true
	visit := func(r store.Range) bool {
		more = each(r)
		return more
	}
	for i := 0; more && i < len(o.heap); i++ {
		o.heap[i].Each(0, func(r store.Range) bool {
			if o.gone.Len() == 0 {
				return visit(r)
			}
			for n := r.First; more && n <= r.Last; n++ {
				more = o.gone.Has(n) || visit(store.Range{First: n, Last: n})
			}
			return more
		})
	}
}

func (o *fair) forget(n uint64) {
	o.gone.Add(n)
	o.clean()
}

func (o *fair) filter(keep func(n uint64) bool) {
	o.heap, o.owing = o.heap[:0], o.owing[:0]
	for tag, l := range o.lanes {
		if l.filter(func(n uint64) bool { return keep(n) && !o.gone.Has(n) }); l.Len() == 0 {
			delete(o.lanes, tag)
		} else {
			heap.Push(&o.heap, l)
		}
	}
	o.gone.Clear()
}
