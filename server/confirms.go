package server

import (
	"leveret/amqp"
	"leveret/store"
)

// confirms are a channel's publishes that have not been confirmed, in the order of their tags. Guarded by the outbox.
type confirms struct {
	waiting []confirm
	last    uint64 // the last tag that was confirmed
}

// confirm is a run of publishes, up to the tag last, that the log makes durable together, or that were refused.
type confirm struct {
	last    uint64
	lsn     store.LSN
	refused bool
}

// add appends the publishes up to last; refused are the tags of those among them that were refused, ascending.
func (w *confirms) add(last uint64, lsn store.LSN, refused []uint64) {
	for _, tag := range refused {
		w.run(confirm{last: tag - 1, lsn: lsn})
		w.run(confirm{last: tag, refused: true}) // nobody waits for the log with bad news
	}
	w.run(confirm{last: last, lsn: lsn})
}

// run appends a run, unless there is nothing in it.
func (w *confirms) run(r confirm) {
	before := confirm{last: w.last}
	n := len(w.waiting)
	if n > 0 {
		before = w.waiting[n-1]
	}
	switch {
	case r.last <= before.last:
	case before.refused && r.refused && n > 0:
		w.waiting[n-1].last = r.last
	default:
		w.waiting = append(w.waiting, r)
	}
}

// willConfirm notes that a channel has publishes to be confirmed when the batch is handed over.
func (p *publisher) willConfirm(ch *channel) {
	if !ch.toConfirm {
		ch.toConfirm = true
		p.confirm = append(p.confirm, ch)
	}
}

// confirmPublished confirms what was handed over: at once what needs no log, the rest when the log is durable up to lsn.
func (c *connection) confirmPublished(lsn store.LSN) {
	p := &c.publisher
	if len(p.confirm) == 0 {
		return
	}
	durable := c.server.store.Durable()
	waits := false
	c.out.mu.Lock()
	for i, ch := range p.confirm {
		ch.toConfirm = false
		p.confirm[i] = nil
		if ch.ended || ch.tx.failed() {
			continue
		}
		if ch.tx == nil {
			ch.confirms.add(ch.published, lsn, ch.takeRefused())
		} else {
			ch.confirms.waiting = append(ch.confirms.waiting, confirm{lsn: lsn})
		}
		c.out.confirmLocked(ch, durable)
		waits = waits || len(ch.confirms.waiting) > 0
	}
	c.out.mu.Unlock()
	p.confirm = p.confirm[:0]
	if waits {
		c.server.unconfirmed.add(c)
		// The log may have become durable since the look above, and its kick have missed this connection: look once more.
		if now := c.server.store.Durable(); now > durable {
			c.confirmDurable(now, true)
		}
	}
}

// confirmLocked answers what is complete from the front: one ack for all of it, unless refusals stand between.
//
// [confirm.select]: an extension of RabbitMQ; tags count from 1 after confirm.select, one a publish.
func (o *outbox) confirmLocked(ch *channel, durable store.LSN) {
	if ch.tx != nil {
		o.commitLocked(ch, durable)
		return
	}
	w := &ch.confirms
	done := 0
	for done < len(w.waiting) && w.waiting[done].lsn <= durable {
		r := w.waiting[done]
		if done++; done == len(w.waiting) || w.waiting[done].lsn > durable || w.waiting[done].refused != r.refused {
			o.answerLocked(ch, r)
		}
	}
	if done > 0 {
		w.waiting = append(w.waiting[:0], w.waiting[done:]...)
	}
}

// answerLocked confirms, or refuses, all publishes of a channel up to the end of a run that were not answered.
func (o *outbox) answerLocked(ch *channel, r confirm) {
	n := r.last - ch.confirms.last
	ch.confirms.last = r.last
	if r.refused {
		o.replyLocked(ch.number, &amqp.BasicNack{DeliveryTag: r.last, Multiple: n > 1})
		return
	}
	o.ack.DeliveryTag, o.ack.Multiple = r.last, n > 1
	o.replyLocked(ch.number, &o.ack)
	o.conn.server.confirmed.Add(n)
	o.conn.totals.confirmed.Add(n)
}

// confirmDurable sends the confirms that the log has released; it reports whether others still wait. direct is as in
// queue.Outbox. The log's committer calls it.
func (c *connection) confirmDurable(durable store.LSN, direct bool) (waits bool) {
	c.out.mu.Lock()
	for _, ch := range c.out.confirming {
		if len(ch.confirms.waiting) > 0 {
			c.out.confirmLocked(ch, durable)
			waits = waits || len(ch.confirms.waiting) > 0
		}
	}
	c.out.mu.Unlock()
	c.out.Flush(direct)
	return waits
}
