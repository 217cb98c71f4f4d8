package queue

import "leveret/amqp"

// canDeliver reports whether there is a ready message and a consumer with room for it.
func (q *Queue) canDeliver() bool {
	if q.consumers.ready == 0 || q.consumers.paused || q.window.Marked() == 0 {
		return false
	}
	if q.groups != nil {
		return !q.groups.waiting
	}
	return q.firstIsHere()
}

// pick is the consumer that is served next, and the message that it gets; nil if nobody can be served.
func (q *Queue) pick() (c *Consumer, n uint64, e *entry) {
	if q.groups != nil {
		if q.consumers.paused {
			return nil, 0, nil
		}
		n, e, c, _ = q.groups.choose(q, false)
		return c, n, e
	}
	if c = q.consumers.next(); c != nil {
		n, e, _ = q.first()
	}
	return c, n, e
}

// serve tells the queue's order that a message goes to a consumer, nil for a get.
func (q *Queue) serve(n uint64, e *entry, c *Consumer, forGood bool) {
	if q.order == nil {
		return
	}
	q.order.served(n, e.tag, e.size())
	if q.groups != nil && !forGood {
		q.groups.hold(e.tag, c)
	}
}

// deliver hands ready messages to the consumers in turn, until there are none, nobody has room, or the turn is over.
// The outbox of the consumer at hand stays locked from one message to the next, and is the only lock held.
func (q *Queue) deliver() {
	var held Outbox
	var last amqp.Message
	var again bool
	for ; q.budget > 0; q.budget-- {
		c, n, e := q.pick()
		if e == nil {
			break
		}
		if q.overdue(n, e.message) {
			q.noteLast(last, again) // what it stands in may be given away now
			last = nil
			q.die(n, e, Expired)
			continue
		}
		if c.Outbox != held {
			if held != nil {
				held.Unlock()
			}
			held = q.lockFor(c)
		}
		m := e.message
		if e.redelivered && !q.attempts.acquired.empty() {
			m = q.withAttempts(n, m)
		}
		if !c.Receiver.Deliver(n, m, e.redelivered) {
			// It calls Resume when it has room again; until then it costs the others no look.
			c.stalled = true
			q.consumers.update(c)
			continue
		}
		last, again = m, e.redelivered
		if !q.delivered {
			q.noteFirst(m.Published(), again)
		}
		q.count(c, e)
		q.serve(n, e, c, c.NoAck)
		q.leave(n, e, c.NoAck)
		if !c.NoAck {
			c.unacked++
		}
		q.consumers.served(c)
	}
	if held != nil {
		held.Unlock()
	}
	q.noteLast(last, again)
}

// noteFirst notes that a message went to a consumer, the first one of this turn, and when it was published.
func (q *Queue) noteFirst(published int64, redelivered bool) {
	q.delivered = true
	q.serving()
	q.service.meter.noteFirst(published, redelivered)
}

// noteLast notes the last of the messages that went to consumers, if one did.
func (q *Queue) noteLast(m amqp.Message, redelivered bool) {
	if m != nil {
		q.service.holding.look(m)
		q.service.meter.noteLast(m, redelivered)
	}
}

// pass delivers messages as they come in, without making them wait first: it returns how many it could. Nothing may be ready before
// them, or the order would change.
func (q *Queue) pass(b *Batch) int {
	if q.ready() > 0 || len(b.messages) == 0 { // a full queue has refused them all
		return 0
	}
	var held Outbox
	first := b.messages[0].message.Published() // once it has gone, what it stood in may hold something else
	passed, limit, unacked := 0, min(q.budget, len(b.messages)), q.unacked
	for passed < limit {
		var c *Consumer
		if q.groups == nil {
			c = q.consumers.next()
		} else {
			c = q.groups.passTo(q, b.tag(passed))
		}
		if c == nil {
			break
		}
		if c.Outbox != held {
			if held != nil {
				held.Unlock()
			}
			held = q.lockFor(c)
		}
		run := 1
		if c.next == c && q.groups == nil { // nobody else of its class has room: what follows is its too
			run = min(c.room(), limit-passed)
		}
		passed += q.passTo(c, b, passed, run)
	}
	if held != nil {
		held.Unlock()
	}
	if passed > 0 {
		if !q.delivered {
			q.noteFirst(first, false)
		}
		q.noteLast(b.messages[passed-1].message, false)
		q.countPassed(passed, q.unacked-unacked)
	}
	return passed
}

// passTo delivers a run of messages, from one on, to a consumer, and returns how many that took. What is the same for all of them is done
// once: in a batch for a single consumer that is nearly everything.
func (q *Queue) passTo(c *Consumer, b *Batch, from, run int) int {
	i, end, held := from, from+run, 0
	for ; i < end; i++ {
		n, m := b.first+uint64(i), &b.messages[i]
		if !c.Receiver.Deliver(n, m.message, false) {
			c.stalled = true
			break
		}
		if q.Logs(m.message) {
			q.passLogged(c, n, m, b.tag(i))
		} else if c.NoAck {
			q.releases.add(m.chunk)
		} else {
			e := q.window.Place(n, false)
			e.message, e.chunk, e.tag = m.message, m.chunk, b.tag(i)
			held += len(m.message)
		}
		if q.groups != nil && !c.NoAck {
			q.groups.hold(b.tag(i), c)
		}
	}
	n := i - from
	if !c.NoAck {
		q.unacked += n
		c.unacked += n
		q.serving()
		q.service.holding.bytes += held
	}
	q.consumers.served(c)
	return n
}

// countPassed counts messages that went straight to consumers, of which some are to be settled.
func (q *Queue) countPassed(passed, unacked int) {
	q.budget -= passed
	q.counted.Delivered += uint64(unacked)
	q.counted.DeliveredAuto += uint64(passed - unacked)
}

// passLogged is for a message that the log holds: the queue keeps none of it in memory meanwhile.
func (q *Queue) passLogged(c *Consumer, n uint64, m *item, tag uint32) {
	q.counted.DiskWrites++
	if c.NoAck {
		q.tell(n)
	} else {
		q.lend(n, len(m.message)+entryOverhead, tag)
	}
	q.releases.add(m.chunk)
}

// lockFor locks a consumer's outbox for deliveries. It asks the outbox once a turn whether it has to be flushed.
func (q *Queue) lockFor(c *Consumer) Outbox {
	o := c.Outbox
	o.Lock()
	if c.flushed != q.turns && q.touch(o) {
		c.flushed = q.turns
	}
	return o
}

// touch remembers that an outbox, which is locked, has to be flushed, and reports true; or somebody else does.
func (q *Queue) touch(o Outbox) bool {
	if !o.Touch() {
		return false
	}
	q.touched = append(q.touched, o)
	return true
}

// leave takes a ready message out of the ready ones: for good, or until it is settled.
func (q *Queue) leave(n uint64, e *entry, forGood bool) {
	size, stored := e.size(), e.stored()
	q.depart(n, e.tag)
	q.weigh(e, -size)
	if !forGood {
		q.unacked++
		if e.redelivered {
			q.service.holding.again.Add(n)
		}
	}
	if !forGood && !stored {
		q.service.holding.bytes += len(e.message)
		q.window.Unmark(n)
		return
	}
	if forGood && stored {
		q.tell(n)
	} else if stored {
		q.lend(n, size, e.tag)
	}
	q.releases.add(e.chunk)
	q.window.Remove(n)
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
