package server

import (
	"leveret/amqp"
	"leveret/queue"
)

// settle is one basic.ack, nack or reject as it came, kept until the end of the batch or until order demands a look at it.
type settle struct {
	channel  *channel
	tag      uint64
	method   amqp.MethodID
	outcome  queue.Outcome
	multiple bool
}

// addressed is a settlement with the queue that it goes to.
type addressed struct {
	queue      *queue.Queue
	settlement *queue.Settlement
}

// gather groups settled deliveries by queue, consumer and outcome. Runs of deliveries of one consumer, the usual case, cost no look-up.
type gather struct {
	outcome queue.Outcome
	now     int64 // of the server's clock, in ms; 0: how long the deliveries took does not matter
	list    []addressed
	last    *consumer
	at      *queue.Settlement
	by      map[gatherKey]*queue.Settlement // only when there are many
}

// gatherKey is what has one settlement: a queue hears of each consumer and outcome by itself.
type gatherKey struct {
	queue    *queue.Queue
	consumer *queue.Consumer
	outcome  queue.Outcome
}

// key is what the settlement is found by.
func (a addressed) key() gatherKey {
	return gatherKey{a.queue, a.settlement.Consumer, a.settlement.Outcome}
}

// add puts a delivery into its settlement. Most acks are of the consumer of the last, which needs no search.
func (g *gather) add(u *unacked) {
	if g.at == nil || g.last != u.consumer || u.consumer == nil || g.at.Outcome != g.outcome {
		g.find(u)
	}
	g.at.AddTimed(u.seq, u.at)
}

// manySettlements is the number of settlements from which they are found by map.
const manySettlements = 8

// find makes the settlement of a delivery the current one: by a walk as long as there are few, which is nearly always.
func (g *gather) find(u *unacked) {
	g.last = u.consumer
	key := gatherKey{u.queue, u.consumer.base(), g.outcome}
	if g.by != nil {
		if g.at = g.by[key]; g.at == nil {
			g.open(key)
		}
		return
	}
	for _, a := range g.list {
		if a.key() == key {
			g.at = a.settlement
			return
		}
	}
	g.open(key)
}

// open begins a settlement. The one that makes them many has a map made of all of them: what the map lacked would be opened a second time.
func (g *gather) open(key gatherKey) {
	g.at = queue.NewSettlement(key.consumer, key.outcome)
	g.at.Timed(g.now)
	g.list = append(g.list, addressed{key.queue, g.at})
	if g.by != nil {
		g.by[key] = g.at
	} else if len(g.list) == manySettlements {
		g.by = make(map[gatherKey]*queue.Settlement, 2*manySettlements)
		for _, a := range g.list {
			g.by[a.key()] = a.settlement
		}
	}
}

// take returns what was gathered and starts anew.
func (g *gather) take() []addressed {
	list := g.list
	g.reset()
	g.list = nil
	return list
}

// reset forgets all, and keeps the memory of the list.
func (g *gather) reset() {
	g.list, g.last, g.at, g.by = g.list[:0], nil, nil, nil
}

// settleLater notes a settle; most of the time nothing has to be done about it before the batch ends.
func (p *publisher) settleLater(s settle) {
	s.channel.toSettle = true
	p.settles = append(p.settles, s)
}

// applySettles looks at the settles noted so far: deliveries leave the channels, in one hold of the outbox. The
// queues hear of it when the batch is handed over. The first bad tag ends its channel, so nothing behind it counts for that one.
//
// [basic.ack delivery-tag]: a tag that is not outstanding on the channel is an error.
func (c *connection) applySettles() {
	p := &c.publisher
	if len(p.settles) == 0 {
		return
	}
	var failed []settle
	var wake []*consumer
	p.settled.now = c.server.now()
	c.out.mu.Lock()
	for _, s := range p.settles {
		ch := s.channel
		ch.toSettle = false
		if ch.ended {
			continue
		}
		p.settled.outcome = s.outcome
		if !ch.settleLocked(s, &p.settled) {
			failed = append(failed, s)
			ch.ended = true
			continue
		}
		wake = append(wake, ch.roomLocked()...)
	}
	c.out.mu.Unlock()
	clear(p.settles)
	p.settles = p.settles[:0]
	resume(wake)
	for _, s := range failed {
		c.fail(s.channel, amqp.UnknownDeliveryTag(s.tag).At(s.method))
	}
}

// settleStep is about how many deliveries are settled in one hold of the outbox.
const settleStep = 4096

// settleLocked takes deliveries out of the channel; false: the tag is not outstanding. In a transaction they wait for the commit.
func (ch *channel) settleLocked(s settle, g *gather) bool {
	if s.tag == 0 && !s.multiple {
		return false
	}
	if s.tag != 0 && ch.unacked.At(s.tag) == nil && !ch.late.Has(s.tag) {
		return false
	}
	first := s.tag
	if s.multiple {
		first = 0
	}
	last := s.tag
	if last == 0 {
		last = ch.deliveryTag
	}
	for n, u, ok := ch.unacked.NextFrom(first); ok && n <= last; n, u, ok = ch.unacked.NextFrom(n + 1) {
		if n%settleStep == 0 { // let queues deliver: what they add stands behind last
			ch.conn.out.mu.Unlock()
			ch.conn.out.mu.Lock()
			if u = ch.unacked.At(n); u == nil {
				continue // an operator was faster
			}
		}
		if ch.tx != nil {
			ch.tx.settles = append(ch.tx.settles, txSettle{tag: n, unacked: *u, outcome: s.outcome})
		} else {
			g.add(u)
			u.counters(ch).settle(s.outcome, 1)
		}
		ch.unacked.Remove(n)
	}
	if ch.late.Len() > 0 {
		ch.forgetLateLocked(first, last)
	}
	return true
}

// forgetLateLocked forgets of the deliveries first to last which of them were taken back: they count as settled now.
func (ch *channel) forgetLateLocked(first, last uint64) {
	for {
		n, ok := ch.late.From(first)
		if !ok || n > last {
			return
		}
		ch.late.Remove(n)
	}
}

// roomLocked returns the consumers that a channel-wide limit had refused, if the limit leaves room now, starting with another each time.
func (ch *channel) roomLocked() []*consumer {
	if len(ch.refused) == 0 || !ch.hasRoomLocked() {
		return nil
	}
	wake := ch.refused
	ch.refused = nil
	return wake
}

// hasRoomLocked reports whether the channel may have another delivery outstanding.
func (ch *channel) hasRoomLocked() bool {
	n := ch.unacked.Len() + ch.tx.held()
	return n < unackedLimit && (ch.shared == 0 || n < ch.shared)
}
