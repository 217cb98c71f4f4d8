package vhost

import (
	"errors"
	"strings"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
)

// DelayPrefix begins the name of the queue in which an exchange's delayed messages wait; the exchange's name follows. Everybody can see such
// a queue, and nobody can use it.
const DelayPrefix = reservedPrefix + "delayed."

// delayQueue returns the queue for an exchange's delayed messages, and makes it if need be. It lasts as long as the exchange. The caller has the
// exchange's turn, inside of which the queue's is taken; nobody takes them the other way round. An error is the store's.
func (v *VHost) delayQueue(x *exchange.Exchange) (*queue.Queue, error) {
	name := DelayPrefix + x.Name()
	if _, q, err := v.liveQueue(name); q != nil || err != nil {
		return q, err
	}
	e := v.queues.reserve(name)
	if e == nil {
		return nil, amqp.ReservedName(amqp.QueueResource, name) // can't be: nobody else makes one
	}
	defer e.turn.Unlock()
	opts := queue.Options{
		Name: name, Durable: x.Options().Durable, Delayed: true,
		Arguments: amqp.Table{{Name: argQueueType, Value: string(classic)}}, // whatever the default is
	}
	if opts.Durable {
		opts.ID = v.opts.Store.NextQueueID()
		if err := v.opts.Store.Commit(v.queueRecord(opts)); err != nil {
			v.queues.release(name, e)
			return nil, err
		}
	}
	q := queue.New(v.completeQueue(opts))
	e.bearer.Store(q)
	return q, nil
}

// removeDelayQueue deletes the queue for the delayed messages of an exchange that goes, with what is in it.
func (v *VHost) removeDelayQueue(x *exchange.Exchange) error {
	e := v.queues.find(DelayPrefix + x.Name())
	if e == nil {
		return nil
	}
	q := e.bearer.Load()
	if q == nil {
		return nil
	}
	_, _ = q.Delete(false, false) // without a condition it can only be closed already
	return v.Retire(q)
}

// settleExchanges gives all exchanges their settings after a start, and removes the delay queues of exchanges that are gone: a crash may have come
// between the two.
func (v *VHost) settleExchanges() error {
	var failed error
	v.Exchanges(func(x *exchange.Exchange) bool {
		failed = errors.Join(failed, v.settleExchange(x, v.exchangePolicy(x.Name())))
		return true
	})
	v.Queues(func(q *queue.Queue) bool {
		if q.Delayed() && v.Exchange([]byte(delayedBy(q))) == nil {
			_, _ = q.Delete(false, false)
			failed = errors.Join(failed, v.Retire(q))
		}
		return true
	})
	return failed
}

// delayedBy is the name of the exchange whose messages wait in a queue.
func delayedBy(q *queue.Queue) string { return strings.TrimPrefix(q.Name(), DelayPrefix) }

// RouteDue routes a message that has waited in the queue of an exchange's delayed messages, by what the exchange is bound to now. The result is
// that of Route; out is the message to be sent, which may be a copy. It reports false if the exchange is gone, or the message can't be
// read: it is to be dropped then. Any goroutine may call it, with a Routing of its own. It does not wait.
func (v *VHost) RouteDue(q *queue.Queue, m amqp.Message, r *Routing) (out amqp.Message, ok bool) {
	x := v.Exchange([]byte(delayedBy(q)))
	if x == nil || amqp.ScanProperties(m.Properties(), &r.index) != nil {
		return m, false
	}
	m = exchange.Undelayed(m, &r.index) // before it is routed: it must not wait at the next exchange again
	if r.Describe(m) != nil {
		return m, false
	}
	v.route(x, r, (*exchange.Exchange).RouteDue)
	return m, true
}
