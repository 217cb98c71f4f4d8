package queue

import (
	"math"
	"math/bits"

	"leveret/amqp"
	"leveret/store"
)

// MostPriorities is how many levels of priority a queue has at most.
const MostPriorities = 256

// priorityTag is one more than the priority that the publisher set, so that none is not the same as the lowest.
func priorityTag(m amqp.Message, _ *Origin) uint32 {
	if !m.HasPriority() {
		return 0
	}
	return uint32(m.Priority()) + 1
}

// levels is the order of a queue with priorities: a lane a level, the highest served first.
//
// [queue.declare x-max-priority]: a priority above the highest level counts as that.
type levels struct {
	lanes    []lane
	filled   [MostPriorities / 64]uint64 // a bit for each level that has messages
	standard int                         // level of messages without a priority

	burst int     // messages in a row before one of lower priority is served; 0: no limit
	run   int     // served in a row while others waited
	aging int64   // ms of waiting that lift a message by a level; 0: none do
	seen  []birth // of the first message of each level, as it was last seen; with aging alone
	// published is when a message was published, in Unix ms; false if it is not in memory.
	published func(n uint64) (ms int64, here bool)
}

// birth is when a message was published.
type birth struct {
	n  uint64
	at int64 // Unix ms; 0: not known
}

// newLevels makes an order of so many levels.
func newLevels(count, standard int) *levels {
	return &levels{lanes: make([]lane, count), standard: standard}
}

func (o *levels) level(tag uint32) int {
	if tag == 0 {
		return o.standard
	}
	return min(int(tag-1), len(o.lanes)-1)
}

func (o *levels) add(n uint64, tag uint32) {
	level := o.level(tag)
	o.lanes[level].Add(n)
	o.filled[level/64] |= 1 << (level % 64)
}

func (o *levels) back(n uint64, tag uint32) { o.add(n, tag) }

func (o *levels) remove(n uint64, tag uint32) {
	if !o.removeFrom(o.level(tag), n) {
		o.forget(n)
	}
}

func (o *levels) removeFrom(level int, n uint64) (found bool) {
	l := &o.lanes[level]
	if found = l.Remove(n); found && l.Len() == 0 {
		o.filled[level/64] &^= 1 << (level % 64)
	}
	return found
}

// served counts how many messages in a row were served before others that wait.
func (o *levels) served(_ uint64, tag uint32, _ int) {
	if o.burst == 0 {
		return
	}
	if level := o.level(tag); level < o.below(len(o.lanes)) || o.below(level) < 0 {
		o.run = 0
	} else {
		o.run++
	}
}

func (o *levels) first() (n uint64, ok bool) {
	level := o.below(len(o.lanes))
	switch {
	case level < 0:
		return 0, false
	case o.burst > 0 && o.run >= o.burst:
		level = o.longestWaiting(level)
	case o.aging > 0:
		level = o.aged(level)
	}
	return o.lanes[level].First(), true
}

// longestWaiting is the level under the top one whose first message came before all others'; the top one if it is alone.
func (o *levels) longestWaiting(top int) int {
	found := top
	for level := o.below(top); level >= 0; level = o.below(level) {
		if found == top || o.lanes[level].First() < o.lanes[found].First() {
			found = level
		}
	}
	return found
}

// aged is the level whose first message stands highest, if what they have waited lifts them. All have waited until the same moment, so when they
// came is enough to tell. A message that was never in memory has to be read before anybody can know: it is taken for the first.
func (o *levels) aged(top int) int {
	found, best := top, int64(math.MinInt64)
	for level := top; level >= 0; level = o.below(level) {
		at, known := o.firstPublished(level)
		if !known {
			return level
		}
		if height := int64(level)*o.aging - at; height > best {
			found, best = level, height
		}
	}
	return found
}

// firstPublished is when the first message of a level was published. It is remembered, since a full head may send the message out of memory again
// before it is its turn.
func (o *levels) firstPublished(level int) (at int64, known bool) {
	n, b := o.lanes[level].First(), &o.seen[level]
	if b.n == n && b.at != 0 {
		return b.at, true
	}
	if at, known = o.published(n); known {
		*b = birth{n: n, at: at}
	}
	return at, known
}

// below is the highest level under the given one that has messages, -1 if there is none.
func (o *levels) below(level int) int {
	if level <= 0 {
		return -1
	}
	level--
	w := level / 64
	word := o.filled[w] << (63 - level%64) >> (63 - level%64)
	for word == 0 {
		if w--; w < 0 {
			return -1
		}
		word = o.filled[w]
	}
	return w*64 + 63 - bits.LeadingZeros64(word)
}

func (o *levels) heads(each func(n uint64) bool) {
	for level := o.below(len(o.lanes)); level >= 0; level = o.below(level) {
		if !each(o.lanes[level].First()) {
			return
		}
	}
}

func (o *levels) each(each func(store.Range) bool) {
	more := true
	for level := o.below(len(o.lanes)); more && level >= 0; level = o.below(level) {
		o.lanes[level].Each(0, func(r store.Range) bool {
			more = each(r)
			return more
		})
	}
}

func (o *levels) forget(n uint64) {
	for level := range o.lanes {
		o.removeFrom(level, n)
	}
}

func (o *levels) filter(keep func(n uint64) bool) {
	o.filled = [MostPriorities / 64]uint64{}
	for level := range o.lanes {
		if o.lanes[level].filter(keep); o.lanes[level].Len() > 0 {
			o.filled[level/64] |= 1 << (level % 64)
		}
	}
}
