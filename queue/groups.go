package queue

import (
	"math"

	"leveret/store"
)

const (
	groupLanes = 256
	// groupLook is how many messages of a lane the queue looks past, whose groups are with other consumers.
	groupLook = 1000
	// groupRead is how many messages of a lane in a row are read from disk before it is another lane's turn.
	groupRead = 32
	// groupWindow is how many times as long as usual the head of such a queue may be in memory.
	groupWindow = 8
)

// groups is the order of a queue whose messages belong to groups: those of one group go to one consumer at a time, in their order. The group
// is the consumer's as long as it holds one of its messages, and anybody's after. Messages of no group are free.
type groups struct {
	lanes   [groupLanes]lane // by the groups' tags
	turn    int              // lane that is looked at next
	held    map[uint32]*groupHold
	waiting bool // nothing can go before something else happens
	unread  bool // a message that is to be looked at is on disk
}

// groupHold is a group that a consumer holds messages of.
type groupHold struct {
	consumer *Consumer // nil: they were got
	count    int
}

func newGroups() *groups {
	return &groups{held: make(map[uint32]*groupHold)}
}

func (o *groups) laneOf(tag uint32) *lane { return &o.lanes[tag%groupLanes] }

func (o *groups) add(n uint64, tag uint32) {
	o.laneOf(tag).Add(n)
	o.waiting = false
}

func (o *groups) back(n uint64, tag uint32) { o.add(n, tag) }

func (o *groups) remove(n uint64, tag uint32) {
	if !o.laneOf(tag).Remove(n) {
		o.forget(n)
	}
}

func (o *groups) served(uint64, uint32, int) {}

// first is the oldest message of all.
func (o *groups) first() (n uint64, ok bool) {
	n = math.MaxUint64
	for i := range o.lanes {
		if o.lanes[i].Len() > 0 {
			n = min(n, o.lanes[i].First())
		}
	}
	return n, n != math.MaxUint64
}

func (o *groups) heads(each func(n uint64) bool) {
	for i := range o.lanes {
		if o.lanes[i].Len() > 0 && !each(o.lanes[i].First()) {
			return
		}
	}
}

// each calls each for the messages that the queue looks at: some of each lane in turn.
func (o *groups) each(each func(store.Range) bool) {
	var from [groupLanes]uint64
	for looked := 0; looked < groupLook; looked += groupRead {
		for i := range o.lanes {
			for range groupRead {
				n, ok := o.lanes[i].From(from[i])
				if !ok {
					break
				}
				from[i] = n + 1
				if !each(store.Range{First: n, Last: n}) {
					return
				}
			}
		}
	}
}

func (o *groups) forget(n uint64) {
	for i := range o.lanes {
		o.lanes[i].Remove(n)
	}
}

func (o *groups) filter(keep func(n uint64) bool) {
	for i := range o.lanes {
		o.lanes[i].filter(keep)
	}
}

// choose finds a message that may go, and the consumer that it goes to; c is nil for a get. The lanes have their turns.
func (o *groups) choose(q *Queue, get bool) (n uint64, e *entry, c *Consumer, ok bool) {
	o.unread = false
	for range groupLanes {
		if n, e, c, ok = o.chooseFrom(q, &o.lanes[o.turn], get); ok {
			o.waiting = false // there may be more
			return n, e, c, true
		}
		o.turn = (o.turn + 1) % groupLanes
	}
	o.waiting = true
	return 0, nil, nil, false
}

// chooseFrom is choose for one lane.
func (o *groups) chooseFrom(q *Queue, l *lane, get bool) (uint64, *entry, *Consumer, bool) {
	looked := 0
	for n, ok := l.From(0); ok && looked < groupLook; n, ok = l.From(n + 1) {
		looked++
		e := q.window.At(n)
		if e == nil {
			o.unread = true
			return 0, nil, nil, false // it is on its way from the disk
		}
		h := o.held[e.tag]
		var c *Consumer
		switch {
		case h != nil && (get || h.consumer == nil || !h.consumer.linked):
			continue
		case h != nil:
			c = h.consumer
		case !get:
			if c = q.consumers.next(); c == nil {
				return 0, nil, nil, false
			}
		}
		return n, e, c, true
	}
	return 0, nil, nil, false
}

// hold notes that a consumer, nil for a get, has a message of a group.
func (o *groups) hold(tag uint32, c *Consumer) {
	o.turn = (o.turn + 1) % groupLanes
	if tag == 0 {
		return
	}
	h := o.held[tag]
	if h == nil {
		h = &groupHold{consumer: c}
		o.held[tag] = h
	}
	h.count++
}

// release notes that a message of a group was settled.
func (o *groups) release(tag uint32) {
	o.waiting = false
	h := o.held[tag]
	if h == nil {
		return
	}
	if h.count--; h.count == 0 {
		delete(o.held, tag)
	}
}
