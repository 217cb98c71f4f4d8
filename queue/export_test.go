package queue

// Squeeze halves the windows of the budget's queues so many times.
func (b *Budget) Squeeze(times int32) { b.level.Store(times) }

// Tended reports whether the next Tend has nothing to do.
func (q *Queue) Tended() bool { return !q.untended.Load() }
