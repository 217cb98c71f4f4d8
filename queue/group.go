package queue

import "slices"

// group is what the queue knows of the messages of one key: who holds some of them, and which of the ready ones it has looked at.
type group struct {
	tag    uint32
	held   int       // messages that were delivered and are not settled
	holder *Consumer // who holds them, nil: they were got
	ready  numbers
	absent bool // the first of the ready ones was found to be on disk

	list       *groupList // that it stands in, nil for none
	prev, next *group
}

// groupList is a ring of groups whose front is served next. A group stands in one at most, so moving it costs a few pointers and no memory.
type groupList struct {
	front *group
	count int
}

// push puts a group, which stands in no list, behind all others.
func (l *groupList) push(g *group) {
	g.list = l
	l.count++
	if l.front == nil {
		g.prev, g.next = g, g
		l.front = g
		return
	}
	g.prev, g.next = l.front.prev, l.front
	g.prev.next, g.next.prev = g, g
}

// remove takes a group out that stands in the list.
func (l *groupList) remove(g *group) {
	l.count--
	if g.next == g {
		l.front = nil
	} else {
		g.prev.next, g.next.prev = g.next, g.prev
		if l.front == g {
			l.front = g.next
		}
	}
	g.list, g.prev, g.next = nil, nil, nil
}

// holders are consumers that hold groups with ready messages, in turn. One that has lost its room, or its groups, stays until it comes to the
// front: so nobody has to tell.
type holders struct {
	last *Consumer // whose next is the front; nil: there are none
}

// push puts a consumer behind all others, unless it is there.
func (h *holders) push(c *Consumer) {
	switch {
	case c.nextHolder != nil:
		return
	case h.last == nil:
		c.nextHolder = c
	default:
		c.nextHolder, h.last.nextHolder = h.last.nextHolder, c
	}
	h.last = c
}

// front is the consumer to be served next of those that have room, nil if none has.
func (h *holders) front() *Consumer {
	for h.last != nil {
		c := h.last.nextHolder
		if c.linked && c.groups.front != nil {
			return c
		}
		if c == h.last {
			h.last = nil
		} else {
			h.last.nextHolder = c.nextHolder
		}
		c.nextHolder = nil
	}
	return nil
}

// rotate ends the turn of the front.
func (h *holders) rotate() { h.last = h.last.nextHolder }

// numbers are ascending numbers of messages, cheap at both ends: they come at the end, go at the front, and come back there.
type numbers struct {
	list []uint64
	from int    // what stands before is free
	last uint64 // if there are any
}

func (s *numbers) len() int { return len(s.list) - s.from }

// first is the lowest of them; there must be one.
func (s *numbers) first() uint64 { return s.list[s.from] }

func (s *numbers) add(n uint64) {
	switch end := len(s.list); {
	case s.from == end:
		s.list, s.from, s.last = append(s.list[:0], n), 0, n
	case s.last < n:
		if end == cap(s.list) && s.from > end/2 { // as much room is at the front: no need for more
			s.list, s.from = s.list[:copy(s.list, s.list[s.from:])], 0
		}
		s.list, s.last = append(s.list, n), n
	case n < s.first() && s.from > 0:
		s.from--
		s.list[s.from] = n
	default:
		s.insert(n)
	}
}

// insert is add for a number that belongs between others.
func (s *numbers) insert(n uint64) {
	at := s.from
	for s.list[at] < n {
		at++
	}
	s.list = append(s.list, 0)
	copy(s.list[at+1:], s.list[at:])
	s.list[at] = n
}

// remove takes a number out; it reports false if it was not there.
func (s *numbers) remove(n uint64) bool {
	for i := s.from; i < len(s.list) && s.list[i] <= n; i++ {
		if s.list[i] == n {
			copy(s.list[s.from+1:i+1], s.list[s.from:i])
			if s.from++; n == s.last && s.len() > 0 {
				s.last = s.list[len(s.list)-1]
			}
			return true
		}
	}
	return false
}

// filter keeps those numbers that the function wants, and returns how many these are.
func (s *numbers) filter(keep func(n uint64) bool) int {
	s.list, s.from = slices.DeleteFunc(s.list[s.from:], func(n uint64) bool { return !keep(n) }), 0
	if len(s.list) > 0 {
		s.last = s.list[len(s.list)-1]
	}
	return len(s.list)
}
