package queue

import (
	"math"
	"math/bits"

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
	lanes   [groupLanes]groupLane   // by the groups' tags
	filled  [groupLanes / 64]uint64 // a bit for each lane that has messages
	turn    int                     // lane that is looked at next
	held    map[uint32]groupHold
	waiting bool // nothing can go before something else happens
	unread  bool // a message that is to be looked at is on disk
}

// groupLane is a lane whose first messages need not be looked at again and again: their groups are with consumers that have no room. Of a lane with
// messages of one group only, as a hot one is apt to be, no message needs to be looked at.
type groupLane struct {
	lane
	from   uint64 // none below can go
	passed int    // how many these are
	main   uint32 // a group
	others int    // messages that came in of other groups
	mixed  bool   // that is not known
}

// again has all messages of the lane looked at again.
func (l *groupLane) again() { l.from, l.passed = 0, 0 }

// first is the first message of the lane that may go.
func (l *groupLane) first() (n uint64, ok bool) {
	if l.from == 0 && l.Len() > 0 {
		return l.First(), true
	}
	return l.From(l.from)
}

// groupHold is a group that a consumer holds messages of.
type groupHold struct {
	consumer *Consumer // nil: they were got
	count    int
}

func newGroups() *groups {
	return &groups{held: make(map[uint32]groupHold)}
}

func (o *groups) add(n uint64, tag uint32) {
	i := tag % groupLanes
	l := &o.lanes[i]
	if l.Len() == 0 {
		l.main, l.others, l.mixed = tag, 0, false
	} else if tag != l.main {
		l.others++
	}
	l.Add(n)
	o.filled[i/64] |= 1 << (i % 64)
	if n < l.from {
		l.again()
	}
	o.waiting = false
}

func (o *groups) back(n uint64, tag uint32) { o.add(n, tag) }

func (o *groups) remove(n uint64, tag uint32) {
	l := &o.lanes[tag%groupLanes]
	if !o.removeFrom(int(tag%groupLanes), n) {
		o.forget(n)
	} else if tag != l.main {
		l.others--
	}
}

func (o *groups) removeFrom(i int, n uint64) (found bool) {
	l := &o.lanes[i]
	if found = l.Remove(n); !found {
		return false
	}
	if n < l.from {
		l.passed--
	}
	o.emptied(i)
	return true
}

// emptied notes that a lane may have no messages any more.
func (o *groups) emptied(i int) {
	if l := &o.lanes[i]; l.Len() == 0 {
		l.again()
		o.filled[i/64] &^= 1 << (i % 64)
	}
}

// served ends the lane's turn.
func (o *groups) served(uint64, uint32, int) { o.turn = (o.turn + 1) % groupLanes }

// first is the oldest message of all.
func (o *groups) first() (n uint64, ok bool) {
	n = math.MaxUint64
	o.eachLane(0, func(_ int, l *groupLane) bool {
		n = min(n, l.First())
		return true
	})
	return n, n != math.MaxUint64
}

// eachLane calls each for the lanes that have messages, from one on and round, until it returns false.
func (o *groups) eachLane(from int, each func(i int, l *groupLane) bool) {
	for step := range len(o.filled) + 1 {
		w := (from/64 + step) % len(o.filled)
		word := o.filled[w]
		switch step {
		case 0:
			word &= math.MaxUint64 << (from % 64)
		case len(o.filled):
			word &= 1<<(from%64) - 1
		}
		for ; word != 0; word &= word - 1 {
			if i := w*64 + bits.TrailingZeros64(word); !each(i, &o.lanes[i]) {
				return
			}
		}
	}
}

func (o *groups) heads(each func(n uint64) bool) {
	o.eachLane(0, func(_ int, l *groupLane) bool {
		n, ok := l.first()
		return !ok || each(n)
	})
}

// each calls each for the messages that the queue looks at: some of each lane in turn.
func (o *groups) each(each func(store.Range) bool) {
	var from [groupLanes]uint64
	more := true
	for looked := 0; looked < groupLook && more; looked += groupRead {
		o.eachLane(0, func(i int, l *groupLane) bool {
			from[i] = max(from[i], l.from)
			for range groupRead {
				n, ok := l.From(from[i])
				if !ok {
					break
				}
				from[i] = n + 1
				if more = each(store.Range{First: n, Last: n}); !more {
					return false
				}
			}
			return true
		})
	}
}

func (o *groups) forget(n uint64) {
	for i := range o.lanes {
		if o.removeFrom(i, n) {
			o.lanes[i].mixed = true
			return
		}
	}
}

func (o *groups) filter(keep func(n uint64) bool) {
	for i := range o.lanes {
		l := &o.lanes[i]
		l.filter(keep)
		l.again()
		l.mixed = true
		o.emptied(i)
	}
}

// choose finds a message that may go, and the consumer that it goes to; c is nil for a get. The lanes have their turns.
func (o *groups) choose(q *Queue, get bool) (n uint64, e *entry, c *Consumer, ok bool) {
	o.unread = false
	if get || q.consumers.ready > 0 {
		o.eachLane(o.turn, func(i int, l *groupLane) bool {
			if n, e, c, ok = o.chooseFrom(q, l, get); ok {
				o.turn = i
			}
			return !ok
		})
	}
	if o.waiting = !ok; ok { // there may be more
		return n, e, c, true
	}
	return 0, nil, nil, false
}

// chooseFrom is choose for one lane.
func (o *groups) chooseFrom(q *Queue, l *groupLane, get bool) (uint64, *entry, *Consumer, bool) {
	if l.passed >= groupLook || o.locked(l, get) {
		return 0, nil, nil, false
	}
	looked := l.passed
	for n, ok := l.first(); ok && looked < groupLook; n, ok = l.From(n + 1) {
		e := q.window.At(n)
		if e == nil {
			o.unread = true
			break // it is on its way from the disk
		}
		h := o.held[e.tag]
		switch {
		case h.count == 0 && get:
			return n, e, nil, true
		case h.count == 0:
			c := q.consumers.next()
			return n, e, c, c != nil
		case !get && h.consumer != nil && h.consumer.linked:
			return n, e, h.consumer, true
		}
		if looked++; !get {
			l.from, l.passed = n+1, looked
		}
	}
	return 0, nil, nil, false
}

// locked reports whether a lane has messages of one group only, and none of them may go.
func (o *groups) locked(l *groupLane, get bool) bool {
	if l.others > 0 || l.mixed {
		return false
	}
	h := o.held[l.main]
	if h.count == 0 || !get && h.consumer != nil && h.consumer.linked {
		return false
	}
	if !get {
		l.from, l.passed = math.MaxUint64, groupLook
	}
	return true
}

// hold notes that a consumer, nil for a get, has a message of a group.
func (o *groups) hold(tag uint32, c *Consumer) {
	if tag == 0 {
		return
	}
	h := o.held[tag]
	if h.count == 0 {
		h.consumer = c
	}
	h.count++
	o.held[tag] = h
	if c != nil {
		i := tag % groupLanes
		c.lanes[i/64] |= 1 << (i % 64)
	}
}

// release notes that a message of a group was settled.
func (o *groups) release(tag uint32) {
	o.waiting = false
	h := o.held[tag]
	if h.count > 1 {
		h.count--
		o.held[tag] = h
	} else if h.count == 1 {
		delete(o.held, tag)
		o.lanes[tag%groupLanes].again()
	}
}

// look has the queue look again for what may go, since a consumer has room again: at the lanes of the groups that it holds. A nil consumer stands for
// any.
func (o *groups) look(c *Consumer) {
	o.waiting = false
	if c == nil {
		for i := range o.lanes {
			o.lanes[i].again()
		}
		return
	}
	for w, word := range c.lanes {
		for ; word != 0; word &= word - 1 {
			o.lanes[w*64+bits.TrailingZeros64(word)].again()
		}
	}
	if c.unacked == 0 {
		c.lanes = [len(c.lanes)]uint64{}
	}
}
