package queue

import (
	"slices"

	"leveret/store"
)

// tallyLevels is up to how much is counted in sets. Few messages come back more often than that.
const tallyLevels = 32

// tally counts how often something happened to messages. A million of which each happened once cost next to nothing. Owned by whoever runs the
// queue; the zero tally has counted nothing.
type tally struct {
	levels []Set             // of the messages that it happened to once, twice, ...
	many   map[uint64]uint32 // and more often than there may be levels
}

// empty reports whether nothing is counted.
func (t *tally) empty() bool { return len(t.levels) == 0 }

// of is how often it happened to a message.
func (t *tally) of(n uint64) uint32 {
	if count, ok := t.many[n]; ok {
		return count
	}
	for i := len(t.levels) - 1; i >= 0; i-- {
		if t.levels[i].Len() > 0 && t.levels[i].Has(n) {
			return uint32(i + 1)
		}
	}
	return 0
}

// raise counts once more, and returns how often it has happened.
func (t *tally) raise(n uint64) uint32 {
	count := t.of(n)
	t.forget(n)
	t.set(n, count+1)
	return count + 1
}

// set makes a count that is zero another.
func (t *tally) set(n uint64, count uint32) {
	switch {
	case count == 0:
	case count > tallyLevels:
		if t.many == nil {
			t.many = make(map[uint64]uint32)
		}
		t.many[n] = count
	default:
		if missing := int(count) - len(t.levels); missing > 0 {
			t.levels = append(t.levels, make([]Set, missing)...)
		}
		t.levels[count-1].Add(n)
	}
	if count > 0 && len(t.levels) == 0 {
		t.levels = make([]Set, 1)
	}
}

// forget makes a message's count zero.
func (t *tally) forget(n uint64) {
	if len(t.many) > 0 {
		delete(t.many, n)
	}
	for i := range t.levels {
		if t.levels[i].Len() > 0 && t.levels[i].Remove(n) {
			break
		}
	}
	t.trim()
}

// forgetRange makes the counts of a range zero.
func (t *tally) forgetRange(r store.Range) {
	for n := range t.many {
		if n >= r.First && n <= r.Last {
			delete(t.many, n)
		}
	}
	for i := range t.levels {
		s := &t.levels[i]
		for n, ok := s.From(r.First); ok && n <= r.Last; n, ok = s.From(n + 1) {
			s.Remove(n)
		}
	}
	t.trim()
}

// trim makes the tally empty when nothing is counted.
func (t *tally) trim() {
	if len(t.many) == 0 && !slices.ContainsFunc(t.levels, func(s Set) bool { return s.Len() > 0 }) {
		t.levels = nil
	}
}
