package queue

import (
	"math"

	"leveret/store"
)

// Times of delayed messages are told apart by units of 16 ms. A tag has 32 bits of them, which come round in two years; a message waits at most for
// half of that.
const (
	unitBits    = 4 // of milliseconds
	longestWait = math.MaxInt32
)

// dueTag is the tag of a message that is due at a time, in Unix milliseconds. It is never zero and never UnknownTag.
func dueTag(due int64) uint32 {
	tag := uint32((due + 1<<unitBits - 1) >> unitBits)
	if tag == 0 || tag == UnknownTag {
		return 1
	}
	return tag
}

// dueTime is the time, in Unix milliseconds, that a tag stands for; now tells which of the possible ones.
func dueTime(tag uint32, now int64) int64 {
	unit := now >> unitBits
	return (unit + int64(int32(tag-uint32(unit)))) << unitBits
}

// The timeline's slots are a unit long at level 0, and 64 times as long as those below at each further level.
const (
	timelineLevels = 6
	levelBits      = 6
	// nearUnits is how far ahead, in units, messages stand in slots of one unit; farSlots is the same, in slots, for the other levels.
	nearUnits = 2 * leadUnits
	farSlots  = 128
	// leadUnits is how long before its begin, in units, a slot is split up into those of lower levels: that may need a look at the log's index.
	leadUnits = 64
)

// timeline holds numbers of messages by the time at which something is due: millions of them in a few hundred sets. It is a wheel of wheels: far
// times are told apart roughly, and exactly when they come near. Owned by whoever runs the queue.
type timeline struct {
	unit  uint32 // of the present
	slots [timelineLevels]map[uint32]*Set
	count int
	first *nearest // what next said, until it may be another
}

// nearest is the slot with which something is to be done first, and the unit when that is.
type nearest struct {
	level    int
	slot, at uint32
}

// slotOf is the place of a tag, seen from the present.
func (t *timeline) slotOf(tag uint32) (level int, slot uint32) {
	ahead := int32(tag - t.unit)
	if ahead < 0 {
		return 0, t.unit
	}
	if ahead < nearUnits {
		return 0, tag
	}
	level = 1
	for level < timelineLevels-1 && ahead >= farSlots<<(levelBits*level)-1 {
		level++
	}
	return level, tag >> (levelBits * level)
}

// add puts a message in.
func (t *timeline) add(n uint64, tag uint32) {
	s := t.set(t.slotOf(tag))
	before := s.Len()
	s.Add(n)
	t.count += s.Len() - before
}

func (t *timeline) set(level int, slot uint32) *Set {
	if t.slots[level] == nil {
		t.slots[level] = make(map[uint32]*Set)
	}
	s := t.slots[level][slot]
	if s == nil {
		s = new(Set)
		t.slots[level][slot] = s
		t.first = nil
	}
	return s
}

// merge takes another timeline's messages in, whose present is about the same.
func (t *timeline) merge(u *timeline) {
	for level, slots := range u.slots {
		for slot, s := range slots {
			tag := slot << (levelBits * level)
			to, at := t.slotOf(tag)
			if to != level { // the present has moved on: only the nearest are concerned, and those are exact
				to, at = level, slot
				if level == 0 {
					to, at = t.slotOf(tag)
				}
			}
			if have := t.slots[to][at]; have != nil {
				s.Each(0, func(r store.Range) bool {
					have.AddRange(r)
					return true
				})
				continue
			}
			*t.set(to, at) = *s
		}
	}
	t.count += u.count
}

// next is the slot with which something is to be done first, and the unit when that is.
func (t *timeline) next() (level int, slot uint32, at uint32, ok bool) {
	if t.first == nil {
		t.first = t.nearest()
	}
	if t.first == nil {
		return 0, 0, 0, false
	}
	return t.first.level, t.first.slot, t.first.at, true
}

// nearest looks for what next says.
func (t *timeline) nearest() (found *nearest) {
	var best int32
	for l := range t.slots {
		for s := range t.slots[l] {
			begin := s << (levelBits * l)
			if l > 0 {
				begin -= leadUnits
			}
			if ahead := int32(begin - t.unit); found == nil || ahead < best || ahead == best && l > found.level {
				best, found = ahead, &nearest{l, s, begin}
			}
		}
	}
	return found
}

// take removes a slot and returns its messages.
func (t *timeline) take(level int, slot uint32) *Set {
	s := t.slots[level][slot]
	delete(t.slots[level], slot)
	t.count -= s.Len()
	t.first = nil
	return s
}

// remove takes a message out; false: it is not there.
func (t *timeline) remove(n uint64) bool {
	for level := range t.slots {
		for slot, s := range t.slots[level] {
			if !s.Remove(n) {
				continue
			}
			t.count--
			if s.Len() == 0 {
				delete(t.slots[level], slot)
				t.first = nil
			}
			return true
		}
	}
	return false
}

// each calls each for all sets, in no order.
func (t *timeline) each(each func(s *Set)) {
	for level := range t.slots {
		for _, s := range t.slots[level] {
			each(s)
		}
	}
}
