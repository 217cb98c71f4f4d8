package queue

import "leveret/store"

const (
	// quorumLevels is how many priorities a quorum queue tells apart, and
	quorumLevels = 32
	// quorumStandard is that of a message without one.
	quorumStandard = 4
)

// comebacks puts the messages that came back before all others, in the order in which they came back, whatever their priority was.
//
// [quorum queues]: RabbitMQ's rule for returned messages.
type comebacks struct {
	order
	waiting Set
	fifo    []uint64 // those in waiting, and some that are not any more
}

func (o *comebacks) back(n uint64, _ uint32) {
	o.waiting.Add(n)
	o.fifo = append(o.fifo, n)
}

func (o *comebacks) remove(n uint64, tag uint32) {
	if o.waiting.Len() == 0 || !o.waiting.Remove(n) {
		o.order.remove(n, tag)
		return
	}
	o.trim()
}

// trim drops from the front what is not waiting any more. A message that came back twice stands there twice at most for a moment: the first
// stands for nothing since the second came.
func (o *comebacks) trim() {
	for len(o.fifo) > 0 && !o.waiting.Has(o.fifo[0]) {
		o.fifo = o.fifo[1:]
	}
	if len(o.fifo) == 0 {
		o.fifo = nil
	}
}

func (o *comebacks) first() (n uint64, ok bool) {
	if len(o.fifo) > 0 {
		return o.fifo[0], true
	}
	return o.order.first()
}

func (o *comebacks) heads(each func(n uint64) bool) {
	if len(o.fifo) > 0 && !each(o.fifo[0]) {
		return
	}
	o.order.heads(each)
}

func (o *comebacks) each(each func(store.Range) bool) {
	for _, n := range o.fifo {
		if o.waiting.Has(n) && !each(store.Range{First: n, Last: n}) {
			return
		}
	}
	o.order.each(each)
}

func (o *comebacks) forget(n uint64) {
	if o.waiting.Remove(n) {
		o.trim()
		return
	}
	o.order.forget(n)
}

func (o *comebacks) filter(keep func(n uint64) bool) {
	for _, n := range o.fifo {
		if !keep(n) {
			o.waiting.Remove(n)
		}
	}
	o.trim()
	o.order.filter(keep)
}
