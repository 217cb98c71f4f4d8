package queue

// dropsHead reports whether messages are removed from the head while the queue is longer than it may be.
func (q *Queue) dropsHead() bool {
	return q.set.Overflow == DropHead && (q.set.MaxLength >= 0 || q.set.MaxBytes >= 0)
}

// dropHead removes messages from the head while the queue is longer than it may be. What is delivered does not count. To see how much room a
// message makes it has to be in memory.
//
// [queue length limit, overflow drop-head]
func (q *Queue) dropHead() {
	if !q.dropsHead() {
		return
	}
	for q.ready() > 0 && (q.tooMany() || q.tooBig()) {
		n, e, here := q.first()
		if !here && !q.tooMany() {
			return // readAhead brings it
		}
		if q.spend(); q.budget < 0 {
			return
		}
		if here {
			q.die(n, e, MaxLength)
		} else {
			q.dieUnread(q.firstAway(), MaxLength)
		}
	}
}

// tooMany reports whether the queue holds more messages than it may.
func (q *Queue) tooMany() bool { return q.set.MaxLength >= 0 && int64(q.ready()) > q.set.MaxLength }

// tooBig reports whether the bodies are surely more than the queue may hold. A guess too high would cost messages.
func (q *Queue) tooBig() bool {
	return q.set.MaxBytes >= 0 && q.hereBodies+q.sureBodies > q.set.MaxBytes
}

// maybeTooBig is tooBig with all guesses. The head is read then, to know better: a queue that refuses publishes would refuse for nothing.
func (q *Queue) maybeTooBig() bool {
	return q.set.MaxBytes >= 0 && q.bodies() > q.set.MaxBytes
}

// firstAway is the number of the message to be served next, which is not in memory.
func (q *Queue) firstAway() uint64 {
	if q.order == nil {
		return q.away.First()
	}
	n, _ := q.order.first()
	return n
}

// guard sets up the gate of a queue that refuses what it has no room for.
func (q *Queue) guard() {
	refuses := q.set.Overflow != DropHead && (q.set.MaxLength >= 0 || q.set.MaxBytes >= 0)
	m := &q.mailbox
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.gate.Load()
	switch {
	case g == nil && !refuses:
		return
	case g == nil:
		g = &gate{ready: int64(q.ready()), bodies: q.bodies()}
		for b := m.head; b != nil; b = b.next {
			g.count(b)
		}
		m.gate.Store(g)
	}
	if refuses {
		g.limit(q.set.MaxLength, q.set.MaxBytes, q.set.Overflow == RejectPublishDLX)
	} else {
		g.limit(-1, -1, false)
	}
}
