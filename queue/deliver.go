package queue

// canDeliver reports whether there is a ready message and a consumer with room for it.
func (q *Queue) canDeliver() bool {
	return q.consumers.ready > 0 && q.window.Marked() > 0
}

// deliver hands ready messages to the consumers in turn, until there are none, nobody has room, or the turn is over.
// The outbox of the consumer at hand stays locked from one message to the next, and is the only lock held.
func (q *Queue) deliver() {
	var held Outbox
	for range turnMessages {
		c := q.consumers.next()
		if c == nil {
			break
		}
		n, e, ok := q.window.NextMarked()
		if !ok {
			break
		}
		if c.Outbox != held {
			if held != nil {
				held.Unlock()
			}
			held = c.Outbox
			q.lock(held)
		}
		if !c.Receiver.Deliver(n, e.message, e.redelivered) {
			c.stalled = true
			q.consumers.update(c)
			continue
		}
		q.delivered = true
		q.count(c, e)
		q.leave(n, e, c.NoAck)
		if !c.NoAck {
			c.unacked++
		}
		q.consumers.served(c)
	}
	if held != nil {
		held.Unlock()
	}
}

// lock locks an outbox for deliveries and remembers that it has to be flushed.
func (q *Queue) lock(o Outbox) {
	o.Lock()
	if o.Touch() {
		q.touched = append(q.touched, o)
	}
}

// leave takes a ready message out of the ready ones: for good, or until it is settled.
func (q *Queue) leave(n uint64, e *entry, forGood bool) {
	q.readyBytes -= len(e.message) + entryOverhead
	if forGood {
		q.tell(n, e)
		q.releases.add(e.chunk)
		q.window.Remove(n)
		return
	}
	q.window.Unmark(n)
	q.unacked++
}

func (q *Queue) count(c *Consumer, e *entry) {
	if c.NoAck {
		q.counted.DeliveredAuto++
	} else {
		q.counted.Delivered++
	}
	if e.redelivered {
		q.counted.Redelivered++
	}
}

// flush sends what this turn appended. A turn that reached one connection may write by itself; where there are more, their
// writers work side by side.
func (q *Queue) flush() {
	direct := len(q.touched) == 1
	for i, o := range q.touched {
		o.Flush(direct)
		q.touched[i] = nil
	}
	q.touched = q.touched[:0]
}
