package server

import (
	"slices"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// transaction is what a transactional channel has done since the last commit. The publishes belong to the reader, the settles to the
// outbox.
type transaction struct {
	publishes []txPublish
	bytes     int
	settles   []txSettle
	partial   bool // a queue refused a publish of the commit under way
	committed bool // tx.commit waits for the log; guarded by the outbox
}

// failed reports whether a commit must not be answered with commit-ok.
func (tx *transaction) failed() bool { return tx != nil && tx.partial }

// txPublish is a publish that waits for the commit; it was routed when it came.
type txPublish struct {
	message   amqp.Message
	route     *route
	mandatory bool
}

// What a publish in a transaction takes beside its bytes, and each target of a route that is not shared, in bytes.
const (
	txOverhead = 128
	targetSize = 8
)

// txSettle is a settle that waits for the commit.
type txSettle struct {
	unacked
	tag     uint64
	outcome queue.Outcome
}

// held is the number of deliveries whose settles wait; they still count as outstanding. No transaction holds none.
func (tx *transaction) held() int {
	if tx == nil {
		return 0
	}
	return len(tx.settles)
}

// publish keeps a message until the commit.
func (tx *transaction) publish(c *connection, m amqp.Message, r *route, mandatory bool) error {
	tx.bytes += len(m) + txOverhead
	if r == &c.publisher.routes.scratch {
		kept := *r
		kept.targets, kept.claims = slices.Clone(r.targets), slices.Clone(r.claims)
		tx.bytes += len(r.targets) * targetSize
		r = &kept
	}
	if tx.bytes > c.server.options.TransactionMax {
		return amqp.TransactionTooLarge(c.server.options.TransactionMax).At(amqp.MethodBasicPublish)
	}
	tx.publishes = append(tx.publishes, txPublish{message: m, route: r, mandatory: mandatory})
	return nil
}

// txSelect makes the channel transactional.
func (ch *channel) txSelect() error {
	if ch.confirming {
		return amqp.ConfirmToTx()
	}
	if ch.tx == nil {
		o := &ch.conn.out
		o.mu.Lock()
		ch.tx = new(transaction)
		o.confirming = append(o.confirming, ch)
		o.mu.Unlock()
	}
	return nil
}

// txCommit makes what the transaction holds real: returns, then publishes and settles together, then commit-ok when all of it is durable.
//
// [tx.commit]: a new transaction starts at once. If a queue refuses one of the publishes, the channel ends, though the rest of it stands.
func (ch *channel) txCommit() error {
	tx := ch.tx
	if tx == nil {
		return amqp.NotTransactional()
	}
	c := ch.conn
	p := &c.publisher
	publishes := tx.publishes
	tx.publishes, tx.bytes = nil, 0
	ch.shown.uncommitted.Store(0)
	p.whole, p.logged.Atomic = true, true
	for i := range publishes {
		t := &publishes[i]
		if !c.takeClaims(t.route.claims, t.message) {
			continue
		}
		if t.route.tagged {
			p.look(t.message)
		}
		c.enqueue(ch, t.message, len(t.message.Body()), nil, p.routes.renew(t.route), t.mandatory)
	}
	p.settled.now = c.server.now()
	c.out.mu.Lock()
	for _, s := range tx.settles {
		p.settled.outcome = s.outcome
		p.settled.add(&s.unacked)
		s.unacked.counters(ch).settle(s.outcome, 1)
	}
	tx.settles = nil
	for _, s := range p.settled.list {
		s.settlement.Log(s.queue, &p.logged)
	}
	wake := ch.roomLocked()
	tx.committed = true
	c.out.mu.Unlock()
	p.whole = false
	p.willConfirm(ch)
	c.handOver()
	p.logged.Atomic = false // it still is if nothing was to be logged
	resume(wake)
	if tx.partial {
		return amqp.PartialTx()
	}
	return nil
}

// txRollback forgets the publishes and makes the settles undone: those deliveries are outstanding again.
func (ch *channel) txRollback() error {
	tx := ch.tx
	if tx == nil {
		return amqp.NotTransactional()
	}
	tx.publishes, tx.bytes = nil, 0
	ch.shown.uncommitted.Store(0)
	ch.conn.out.mu.Lock()
	ch.restoreLocked()
	ch.conn.out.mu.Unlock()
	return nil
}

// restoreLocked takes back the settles of a transaction that does not come to its commit.
func (ch *channel) restoreLocked() {
	if ch.tx == nil {
		return
	}
	for _, s := range ch.tx.settles {
		ch.unacked.Put(s.tag, s.unacked, false)
	}
	ch.tx.settles = nil
}

// committing reports whether a commit waits for the log: no method may come before its answer.
func (ch *channel) committing() bool {
	if ch.tx == nil {
		return false
	}
	ch.conn.out.mu.Lock()
	defer ch.conn.out.mu.Unlock()
	return ch.tx.committed
}

// commitLocked answers a commit that has become durable.
func (o *outbox) commitLocked(ch *channel, durable store.LSN) {
	w := &ch.confirms
	if len(w.waiting) == 0 || w.waiting[0].lsn > durable {
		return
	}
	w.waiting = w.waiting[:0]
	ch.tx.committed = false
	o.replyLocked(ch.number, &amqp.TxCommitOk{})
}
