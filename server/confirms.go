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

// confirm is a run of publishes, up to the tag last, that the log makes durable together.
type confirm struct {
	last uint64
	lsn  store.LSN
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
		if ch.ended {
			continue
		}
		ch.confirms.waiting = append(ch.confirms.waiting, confirm{last: ch.published, lsn: lsn})
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

// confirmLocked sends the acks of what is durable: one for all that is complete from the front.
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
		done++
	}
	if done == 0 {
		return
	}
	last := w.waiting[done-1].last
	o.replyLocked(ch.number, &amqp.BasicAck{DeliveryTag: last, Multiple: last-w.last > 1})
	o.conn.server.confirmed.Add(last - w.last)
	o.conn.totals.confirmed.Add(last - w.last)
	w.last = last
	w.waiting = append(w.waiting[:0], w.waiting[done:]...)
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
