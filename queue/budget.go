package queue

import "sync/atomic"

const (
	// headWindow and tailWindow are how many bytes of messages that the store holds too a queue keeps in memory: the next to be delivered, and
	// the newest.
	headWindow = 2 << 20
	tailWindow = 1 << 20
	// looseWindow is how many bytes of messages that nothing else holds a queue keeps in memory before it puts some aside.
	looseWindow = 32 << 20
	// maxLevel is how often the windows may be halved.
	maxLevel = 10
	// reportBytes is by how much a queue's memory changes before it tells its budget.
	reportBytes = 16 << 10
)

// Budget bounds what all queues together keep in memory: while they keep more, their windows shrink. The zero Budget has no limit. It is safe for
// concurrent use.
type Budget struct {
	limit atomic.Int64
	used  atomic.Int64
	level atomic.Int32
}

// NewBudget returns a budget of so many bytes; 0 is no limit.
func NewBudget(limit int64) *Budget {
	b := new(Budget)
	b.limit.Store(limit)
	return b
}

// SetLimit changes the limit; any goroutine may call it.
func (b *Budget) SetLimit(limit int64) { b.limit.Store(limit) }

// Used is how many bytes of messages the queues keep in memory, about.
func (b *Budget) Used() int64 { return b.used.Load() }

// Adjust halves all windows when the queues keep too much, and doubles them when that is long over. It is called about once a second; queues
// follow when they run, or are tended.
func (b *Budget) Adjust() {
	used, level, limit := b.used.Load(), b.level.Load(), b.limit.Load()
	switch {
	case limit > 0 && used > limit && level < maxLevel:
		b.level.Store(level + 1)
	case used < limit/4 && level > 0:
		b.level.Store(level - 1)
	}
}

// shift is how often windows are halved at the moment; there may be no budget.
func (b *Budget) shift() int {
	if b == nil {
		return 0
	}
	return int(b.level.Load())
}

// report tells the budget by how much the queue's memory has changed, if that is much or is asked for exactly.
func (q *Queue) report(exactly bool) {
	b := q.opts.Budget
	if b == nil {
		return
	}
	change := q.resident() - q.reported
	if change != 0 && (exactly || max(change, -change) >= reportBytes) {
		b.used.Add(int64(change))
		q.reported += change
	}
}
