package server

import (
	"errors"
	"os"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// Deliveries that a client neither settles nor gives back would be lost for the rest of the world, so there is a time for it. What the time is
// depends on the consumer, its queue and the server; when it is up, a timer interrupts the connection's reader, which looks after its
// deliveries as if the client had asked for it.

const (
	// review is how often deliveries are looked at for which no time was set when they were made: a policy may have set one since.
	review = time.Minute / time.Millisecond
	// warnShare is the part of the time that is left when the operator is warned.
	warnShare = 5
	// warnInterval is the time in ms between two warnings in the log, of all connections.
	warnInterval = 1000
)

// noTimeout is the timeout of a consumer that has none of its own: the queue's, or the server's, holds.
const noTimeout = -1

// watch is the timer of a connection's deliveries. Guarded by the outbox.
type watch struct {
	timer *time.Timer
	due   int64 // when it fires; 0: not at all
}

// now is a clock in ms that never jumps, and is never 0: deliveries are timed by it.
func (s *Server) now() int64 { return int64(time.Since(s.started)/time.Millisecond) + 1 }

// timeout is how long in ms a delivery of a queue may take, 0 for ever; own is the consumer's, noTimeout if it has none.
//
// [consumer timeout]: from RabbitMQ 4.3 on, that of the configuration holds for quorum queues only.
func (s *Server) timeout(q *queue.Queue, own int64) int64 {
	if own != noTimeout {
		return own
	}
	if of := q.Settings().ConsumerTimeout; of >= 0 {
		return of
	}
	if q.Options().Quorum || s.options.ConsumerTimeoutAll {
		return s.options.ConsumerTimeout.Milliseconds()
	}
	return 0
}

// ownTimeout is what the delivery's consumer brought along.
func (u *unacked) ownTimeout() int64 {
	if u.consumer == nil {
		return noTimeout
	}
	return u.consumer.timeout
}

// watchLocked sees to it that deliveries made from now on, which may take so long, are looked at in time.
func (o *outbox) watchLocked(timeout int64) {
	wait := int64(review)
	if timeout > 0 {
		wait = min(wait, timeout-timeout/warnShare)
	}
	o.wakeAtLocked(o.conn.server.now() + wait)
}

// wakeAtLocked has the reader look at the deliveries at a time, or earlier.
func (o *outbox) wakeAtLocked(due int64) {
	w := &o.watch
	if o.closed || w.due != 0 && w.due <= due {
		return
	}
	w.due = due
	wait := time.Duration(max(0, due-o.conn.server.now())) * time.Millisecond
	if w.timer == nil {
		w.timer = time.AfterFunc(wait, o.conn.interrupt)
	} else {
		w.timer.Reset(wait)
	}
}

// endWatch stops the timer for good.
func (o *outbox) endWatch() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watch.timer != nil {
		o.watch.timer.Stop()
	}
}

// interrupt makes the reader stop waiting for input. Any goroutine may call it.
func (c *connection) interrupt() { c.out.Conn.SetReadDeadline(time.Unix(1, 0)) }

// interrupted reports whether a read failed because of an interrupt, and makes reading possible again. Whoever ends the connection
// interrupts too, but leaves a reason before.
func (c *connection) interrupted(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.out.Conn.SetReadDeadline(time.Time{})
	return c.reason.Load() == nil
}

// lookAfterDeliveries returns the deliveries whose time is up to their queues, warns of those that have little left, and sets the timer anew.
func (c *connection) lookAfterDeliveries() {
	o := &c.out
	o.mu.Lock()
	o.watch.due = 0
	o.mu.Unlock()
	for _, ch := range c.channels {
		if l := ch.look(); len(l.expired) > 0 {
			ch.expire(l)
		}
	}
}

// look is one look at a channel's deliveries.
type look struct {
	now, next int64 // next is when to look again
	expired   []uint64
	limit     int64 // of the first of them
	last      unacked
	lastLimit int64
}

// look finds the deliveries whose time is up, and says when to look again if the channel may have others.
func (ch *channel) look() *look {
	c := ch.conn
	l := &look{now: c.server.now()}
	l.next = l.now + int64(review)
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	for n, u, ok := ch.unacked.NextFrom(0); ok; n, u, ok = ch.unacked.NextFrom(n + 1) {
		if n%settleStep == 0 { // let queues deliver
			c.out.mu.Unlock()
			c.out.mu.Lock()
			if u = ch.unacked.At(n); u == nil {
				continue // an operator has taken it back
			}
		}
		ch.lookAt(l, n, u)
	}
	for _, r := range ch.consumers {
		if !r.NoAck {
			c.out.watchLocked(c.server.timeout(r.Queue(), r.timeout))
		}
	}
	if ch.unacked.Len() > len(l.expired) {
		c.out.wakeAtLocked(l.next)
	}
	return l
}

// lookAt notes a delivery that has taken too long, or when the next one will have. Runs of one consumer ask for its limit
// once.
func (ch *channel) lookAt(l *look, tag uint64, u *unacked) {
	if u.consumer != l.last.consumer || u.queue != l.last.queue {
		l.last, l.lastLimit = *u, ch.conn.server.timeout(u.queue, u.ownTimeout())
	}
	limit := l.lastLimit
	if limit == 0 {
		return
	}
	end := u.at + limit
	if end <= l.now {
		if len(l.expired) == 0 {
			l.limit = limit
		}
		l.expired = append(l.expired, tag)
		return
	}
	if soon := end - limit/warnShare; u.at > ch.warned {
		if soon > l.now {
			end = soon
		} else {
			ch.warned = l.now
			ch.conn.warnOfTimeout(ch, u, end-l.now)
		}
	}
	l.next = min(l.next, end)
}

// warnOfTimeout tells the operator of a client that is about to be too slow.
func (c *connection) warnOfTimeout(ch *channel, u *unacked, left int64) {
	s := c.server
	c.counted.TimeoutWarnings++
	last, now := s.warned.Load(), s.now()
	if now-last < warnInterval && last > 0 || !s.warned.CompareAndSwap(last, now) {
		return
	}
	tag := ""
	if u.consumer != nil {
		tag = u.consumer.Tag
	}
	c.log.Warn("a delivery is not settled and will soon be taken back",
		"channel", ch.number, "queue", u.queue.Name(), "consumer_tag", tag, "ms_left", left)
}

// expire does what is to be done about deliveries that took too long: as in RabbitMQ 4.3, or as before.
//
// [consumer timeout]: the messages come back without blame and their consumers are cancelled; the channel goes on if the client understands
// that. Before 4.3 it is closed in any case, and all that it holds comes back.
func (ch *channel) expire(l *look) {
	c := ch.conn
	c.counted.TimedOut += uint64(len(l.expired))
	if c.server.options.ConsumerTimeoutCloses {
		c.fail(ch, amqp.DeliveryTimeout(ch.number, l.limit))
		return
	}
	gone := ch.takeBack(l.expired)
	if len(gone) > 0 && !c.client.cancelNotify {
		c.fail(ch, amqp.DeliveryTimeout(ch.number, -1))
		return
	}
	for _, r := range gone {
		c.log.Warn("consumer cancelled: it did not settle a delivery in time", "channel", ch.number, "queue", r.Queue().Name(), "consumer_tag", r.Tag)
	}
}

// takeBack returns deliveries to their queues and cancels those of their consumers that are still there, which it returns. Each queue does both in
// one step, so that the consumer does not get again what it was too slow for.
func (ch *channel) takeBack(tags []uint64) (gone []*consumer) {
	c := ch.conn
	o := &c.out
	g := gather{outcome: queue.Return}
	o.mu.Lock()
	for _, tag := range tags {
		u := ch.unacked.At(tag)
		if u == nil {
			continue // an operator was faster
		}
		if r := u.consumer; r != nil && ch.consumers[r.Tag] == r {
			o.forgetLocked(r)
			gone = append(gone, r)
		}
		g.add(u)
		ch.unacked.Remove(tag)
		ch.late.Add(tag)
	}
	wake := ch.roomLocked()
	o.mu.Unlock()
	var d detachments
	for _, r := range gone {
		d.consumer(r)
	}
	d.deliveries(g.take())
	c.detach(d.list)
	resume(wake)
	if c.client.cancelNotify {
		for _, r := range gone {
			o.reply(ch.number, &amqp.BasicCancel{ConsumerTag: r.Tag, NoWait: true})
		}
	}
	return gone
}
