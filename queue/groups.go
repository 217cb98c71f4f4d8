package queue

import (
	"math"
	"math/bits"

	"leveret/store"
)

const (
	groupLanes = 256
	// groupAhead is how many messages are sorted into their groups before it is their turn, in steps of so many numbers, and
	groupAhead = 4 << 10
	groupStep  = 1 << 10
	// groupPast is the step when the groups of all that are sorted are with consumers.
	groupPast = 64
	// groupMost is how many are sorted at most, but for groupLeast of each lane.
	groupMost  = 32 << 10
	groupLeast = 16
	// groupLook is how many messages of a lane the queue sorts at most, if their groups are with consumers that have no room.
	groupLook = 1000
	// groupWindow is how many times as long as usual the head of such a queue may be in memory.
	groupWindow = 8
	// groupIdle is how many numbers a group that has none keeps room for.
	groupIdle = 16
	// groupsIdle is how many groups that have no messages are remembered: those of a queue that is kept busy come again in a moment.
	groupsIdle = 1024
)

// groups is the order of a queue whose messages belong to groups: those of one group go to one consumer at a time, in their order. The group
// is the consumer's as long as it holds one of its messages, and anybody's after. Messages of no group are free.
//
// A long queue does not know the group of each message, but only its lane, of which there are few. The first messages of each lane are sorted into
// their groups ahead of need. Groups whose messages may go stand in rings: those that nobody holds in one, those that a consumer holds in one of that
// consumer. So what goes next is found at once, however many groups wait for somebody who has no room.
type groups struct {
	queue    *Queue
	lanes    [groupLanes]groupLane   // by the groups' tags
	unsorted [groupLanes / 64]uint64 // a bit for each lane that has messages
	all      tagTable[group]         // those that are held or have sorted messages, and the idle ones
	free     groupList               // that have sorted messages, and that nobody holds
	absent   groupList               // whose first message is to be read from disk
	idle     groupList               // that have no sorted messages, and that nobody holds
	holders  holders
	run      groupRun
	chosen   *group // that is likely to be asked for next
	turn     uint8  // lane that is sorted next
	horizon  uint64 // messages below are to be sorted, of all lanes that do not have too many
	sorted   int    // messages that are
	full     bool   // these are too many
	waiting  bool   // nothing can go before something else happens
	unread   bool   // a message that is to be sorted is on disk
}

// groupLane is the messages of some groups that are not sorted.
type groupLane struct {
	lane
	from   uint64 // those below are sorted
	sorted int    // how many these are
}

func newGroups() *groups { return new(groups) }

func (o *groups) add(n uint64, tag uint32) {
	l := &o.lanes[tag%groupLanes]
	if n < l.from || l.Len() == 0 && o.sortable(l) { // which costs least now that it is at hand
		o.assign(n, tag)
		o.waiting = false
		return
	}
	o.addTail(n, tag)
}

// addTail is add for a message that may go to disk before it is its turn.
func (o *groups) addTail(n uint64, tag uint32) {
	o.lanes[tag%groupLanes].Add(n)
	o.mark(tag % groupLanes)
	o.waiting = false
}

func (o *groups) back(n uint64, tag uint32) { o.add(n, tag) }

// mark notes whether a lane has messages.
func (o *groups) mark(i uint32) {
	bit := uint64(1) << (i % 64)
	if o.unsorted[i/64] &^= bit; o.lanes[i].Len() > 0 {
		o.unsorted[i/64] |= bit
	}
}

// find returns the group with a tag, nil if it is not known.
func (o *groups) find(tag uint32) *group {
	if g := o.chosen; g != nil && g.tag == tag {
		return g
	}
	return o.all.find(tag)
}

// group returns the group with a tag, made if need be.
func (o *groups) group(tag uint32) *group {
	g := o.find(tag)
	if g == nil {
		if g = o.idle.front; o.idle.count >= groupsIdle { // take the place of the one that has been idle for longest
			o.idle.remove(g)
			o.all.remove(g.tag)
			g.tag = tag
		} else {
			g = &group{tag: tag}
		}
		o.all.put(tag, g)
	}
	o.chosen = g
	return g
}

// assign sorts a message of a lane into its group.
func (o *groups) assign(n uint64, tag uint32) {
	g, l := o.group(tag), &o.lanes[tag%groupLanes]
	g.ready.add(n)
	g.absent = g.absent && g.ready.first() != n
	l.from = max(l.from, n+1)
	o.weighSorted(l, 1)
	o.place(g)
}

// unassign takes a message out of the group that it was sorted into; false: it is not there.
func (o *groups) unassign(n uint64, g *group) bool {
	if !g.ready.remove(n) {
		return false
	}
	o.weighSorted(&o.lanes[g.tag%groupLanes], -1)
	g.absent = false
	o.place(g)
	return true
}

// place moves a group to the list that it belongs to.
func (o *groups) place(g *group) {
	var l *groupList
	switch {
	case g.ready.len() == 0 && g.held == 0:
		l = &o.idle
	case g.ready.len() == 0:
	case g.absent:
		l = &o.absent
	case g.held == 0:
		l = &o.free
	case g.holder != nil:
		l = &g.holder.groups
		o.holders.push(g.holder)
	}
	if l == g.list {
		return
	}
	if g.list != nil {
		g.list.remove(g)
	}
	if l != nil {
		l.push(g)
	}
	if l == &o.idle {
		o.rest(g)
	}
}

// rest bounds what is remembered of groups that are idle, one of which has just become so.
func (o *groups) rest(g *group) {
	if cap(g.ready.list) > groupIdle {
		g.ready = numbers{}
	}
	if o.idle.count > 2*groupsIdle {
		oldest := o.idle.front
		o.idle.remove(oldest)
		o.all.remove(oldest.tag)
		if o.chosen == oldest {
			o.chosen = nil
		}
	}
}

func (o *groups) remove(n uint64, tag uint32) {
	i := tag % groupLanes
	l := &o.lanes[i]
	if n < l.from {
		if g := o.find(tag); g == nil || !o.unassign(n, g) {
			o.forget(n)
		}
		return
	}
	if !l.Remove(n) {
		o.forget(n)
	}
	o.mark(i)
}

// served ends the turn of a group, and of the consumer that holds it.
func (o *groups) served(_ uint64, tag uint32, _ int) {
	g := o.find(tag)
	if g == nil || g.list == nil || g.list.front != g {
		return
	}
	g.list.front = g.next
	if c := o.holders.front(); c != nil && g.list == &c.groups {
		o.holders.rotate()
	}
}

// first is the oldest message of all.
func (o *groups) first() (n uint64, ok bool) { return o.queue.oldest() }

// eachLane calls each for the lanes that have messages until it returns false.
func (o *groups) eachLane(each func(i int, l *groupLane) bool) {
	for w, word := range o.unsorted {
		for ; word != 0; word &= word - 1 {
			if i := w*64 + bits.TrailingZeros64(word); !each(i, &o.lanes[i]) {
				return
			}
		}
	}
}

// heads are the first messages of the groups that wait for the disk, the oldest of all, and the oldest that are not sorted.
func (o *groups) heads(each func(n uint64) bool) {
	g := o.absent.front
	for range o.absent.count {
		if !each(g.ready.first()) {
			return
		}
		g = g.next
	}
	if n, ok := o.first(); ok && each(n) {
		o.eachLane(func(_ int, l *groupLane) bool { return each(l.First()) })
	}
}

// each calls each for the messages that are sorted next, of all lanes step by step: what is near each other is read from disk at once.
func (o *groups) each(each func(store.Range) bool) {
	var from [groupLanes]uint64
	var count [groupLanes]int
	for limit := uint64(0); ; {
		next, more := uint64(math.MaxUint64), true
		o.eachLane(func(i int, l *groupLane) bool {
			from[i] = max(from[i], l.from)
			for o.sortable(l) && count[i] < groupLook-l.sorted {
				n, ok := l.From(from[i])
				if !ok || n >= limit {
					if ok {
						next = min(next, n)
					}
					break
				}
				from[i] = n + 1
				count[i]++
				if more = each(store.Range{First: n, Last: n}); !more {
					break
				}
			}
			return more
		})
		if !more || next == math.MaxUint64 {
			return
		}
		limit = max(limit, next) + groupStep
	}
}

func (o *groups) forget(n uint64) {
	for i := range o.lanes {
		if o.lanes[i].Remove(n) {
			o.mark(uint32(i))
			return
		}
	}
	o.all.each(func(g *group) bool { return !o.unassign(n, g) })
}

func (o *groups) filter(keep func(n uint64) bool) {
	for i := range o.lanes {
		o.lanes[i].filter(keep)
		o.mark(uint32(i))
	}
	for _, g := range o.all.values() {
		had := g.ready.len()
		o.weighSorted(&o.lanes[g.tag%groupLanes], g.ready.filter(keep)-had)
		g.absent = false
		if o.all.find(g.tag) == g { // else it was idle, and too many others have become so just now
			o.place(g)
		}
	}
}
