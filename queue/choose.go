package queue

import (
	"math"
	"math/bits"
)

// choose finds a message that may go, and the consumer that it goes to; c is nil for a get.
func (o *groups) choose(q *Queue, get bool) (n uint64, e *entry, c *Consumer, ok bool) {
	if !get && q.consumers.ready == 0 {
		o.waiting = true
		return 0, nil, nil, false
	}
	for {
		g, c := o.next(q, get)
		if g == nil {
			if o.search(q, get) {
				continue
			}
			o.waiting = o.waiting || !get
			return 0, nil, nil, false
		}
		n := g.ready.first()
		if e := q.window.At(n); e != nil {
			e.tag = g.tag // read back from the log, it may have lost that
			o.chosen, o.waiting = g, false
			return n, e, c, true
		}
		g.absent, o.unread = true, true
		o.place(g)
	}
}

// next is the group that is served next, nil if none can be, and the consumer that gets its message.
func (o *groups) next(q *Queue, get bool) (g *group, c *Consumer) {
	if get {
		o.lookAhead(q, 1)
		return o.free.front, nil
	}
	if g, c = o.run.next(); g != nil {
		return g, c
	}
	o.lookAhead(q, o.run.gone())
	if g, c = o.front(q); g != nil {
		o.run.begin(g, c)
	}
	return g, c
}

// front is the group whose turn begins next. Of the groups that nobody holds, and of those whose consumers have room, one is in front; the older message
// goes first.
func (o *groups) front(q *Queue) (*group, *Consumer) {
	free := o.free.front
	if c := o.holders.front(); c != nil {
		if own := c.groups.front; free == nil || own.ready.first() < free.ready.first() {
			return own, c
		}
	}
	if free == nil {
		return nil, nil
	}
	return free, q.consumers.next()
}

// lookAhead sorts messages of one lane after the other, up to the horizon: of as many lanes as messages have gone. The horizon is moved on when little
// is sorted; and when all of that is with consumers it is a little, to see what stands behind.
func (o *groups) lookAhead(q *Queue, lanes int) {
	if !o.hasUnsorted() {
		return
	}
	for range lanes {
		if o.unsorted[o.turn/64]>>(o.turn%64)&1 != 0 {
			o.sort(q, uint32(o.turn), false)
		}
		if o.turn++; o.turn == 0 && !o.unread {
			o.lookFurther()
		}
	}
}

// lookFurther moves the horizon on if it is time for that.
func (o *groups) lookFurther() {
	switch {
	case o.sorted < groupAhead:
		o.horizon += groupStep
	case o.free.front == nil:
		o.horizon += groupPast
	}
}

func (o *groups) hasUnsorted() bool { return o.unsorted != [len(o.unsorted)]uint64{} }

// search moves the horizon on until a message may go, or no more can be sorted: then it returns false.
func (o *groups) search(q *Queue, get bool) (found bool) {
	for o.unread = o.absent.count > 0; o.hasUnsorted(); {
		next := uint64(math.MaxUint64) // of the messages that can be sorted
		for w, word := range o.unsorted {
			for ; word != 0; word &= word - 1 {
				next = min(next, o.sort(q, uint32(w*64+bits.TrailingZeros64(word)), true))
			}
		}
		if o.free.front != nil || !get && o.holders.front() != nil {
			return true
		}
		if next == math.MaxUint64 {
			return false
		}
		o.horizon = max(o.horizon, next) + groupStep
	}
	return false
}

// sort sorts the messages of a lane up to the horizon, and returns the next one that can be sorted when the horizon has been moved on; above every
// number if there is none. Those of a tail, which may go to disk before it is their turn, are sorted only if nothing else is found.
func (o *groups) sort(q *Queue, i uint32, tail bool) (next uint64) {
	next = math.MaxUint64
	l := &o.lanes[i]
	for o.sortable(l) && l.Len() > 0 {
		n := l.First()
		if n >= o.horizon {
			next = n
			break
		}
		e := q.window.At(n)
		if e == nil {
			o.unread = true
			break
		}
		if e.tail && !tail && q.head+q.loose.head >= headWindow>>q.shifted/2 {
			break
		}
		l.Remove(n)
		if &o.lanes[e.tag%groupLanes] == l {
			o.assign(n, e.tag)
		} else { // read back from the log, it has lost its tag
			o.add(n, e.tag)
		}
	}
	o.mark(i)
	return next
}

// sortable reports whether messages of a lane may be sorted: there are not too many that are, in the lane or in all. A lane that has next to none is
// sorted all the same. Once there are too many in all, half of them go first: so what is to be read from disk is read in one piece.
func (o *groups) sortable(l *groupLane) bool {
	return l.sorted < groupLook && (!o.full || l.sorted < groupLeast)
}

// asTheyCame reports whether messages are wanted from disk in the order in which they came: no lane has enough, and no group waits for one of its own.
// Nor is half of the memory taken by messages, large ones, that can't go: it would be full before what can go is read, and nothing after.
func (o *groups) asTheyCame() bool {
	if o.queue.groupsHalfFull() {
		return false
	}
	for i := range o.lanes {
		if !o.sortable(&o.lanes[i]) {
			return false
		}
	}
	return !o.full && o.absent.count == 0
}

// weighSorted counts messages that are sorted, or are not any more.
func (o *groups) weighSorted(l *groupLane, count int) {
	l.sorted += count
	o.sorted += count
	o.full = o.sorted >= groupMost || o.full && o.sorted > groupMost/2
}

// arrived has the groups served again whose first message was on disk and is not any more.
func (o *groups) arrived(q *Queue) {
	g := o.absent.front
	for range o.absent.count {
		after := g.next
		if q.window.At(g.ready.first()) != nil {
			g.absent = false
			o.place(g)
		}
		g = after
	}
	o.unread, o.waiting = o.absent.count > 0, false
}

// missing reports whether a message has to be read before it can go, and can go then.
func (o *groups) missing() bool {
	g := o.absent.front
	for range o.absent.count {
		if g.held == 0 || g.holder != nil && g.holder.linked {
			return true
		}
		g = g.next
	}
	return false
}

// passTo is the consumer that a message with a tag goes to if none waits before it, nil if it can't go.
func (o *groups) passTo(q *Queue, tag uint32) *Consumer {
	g := o.find(tag)
	if g != nil {
		o.chosen = g
	}
	if g != nil && g.held > 0 {
		if c := g.holder; c != nil && c.linked && !q.consumers.paused {
			return c
		}
		return nil
	}
	return q.consumers.next()
}

// hold notes that a consumer, nil for a get, has a message of a group.
func (o *groups) hold(tag uint32, c *Consumer) {
	if tag == 0 {
		return
	}
	g := o.group(tag)
	if g.held == 0 {
		g.holder = c
	}
	g.held++
	o.place(g)
}

// release notes that a message of a group was settled.
func (o *groups) release(tag uint32) {
	o.waiting = false
	g := o.find(tag)
	if g == nil || g.held == 0 {
		return
	}
	if g.held--; g.held == 0 {
		g.holder = nil
		o.place(g)
	}
}

// look has the queue look again for what may go, since a consumer has room again.
func (o *groups) look(c *Consumer) {
	o.waiting = false
	if c.groups.front != nil {
		o.holders.push(c)
	}
}

// letGo forgets consumers that have gone: a queue that nobody uses any more would keep their connections, and all that these have in memory.
func (o *groups) letGo() {
	if c := o.run.consumer; c != nil && !c.registered {
		o.run = groupRun{}
	}
	o.holders.front() // drops those before it that have lost their room
}
