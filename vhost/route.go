package vhost

import (
	"slices"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
)

// Routing is one message on its way to its queues. The owner fills in what describes the message, by hand or by Describe, and uses it again
// for the next one; it belongs to one goroutine.
//
// Beside Queues the result is Stamp and Due; Duplicate, which with no queues means that the message was there before and is
// to be confirmed like one that was stored; and Claims, the keys of the message that the windows remember now: see dedup.Claims for what
// becomes of them.
type Routing struct {
	exchange.Routing
	// Queues are those that Route found, each once. The slice lives until the next Route. The delayed ones among them are to let the message go
	// at the time Due.
	Queues []*queue.Queue
	// Later leaves the claims to be taken by the caller, when it sends the message: it may not come to that.
	Later bool

	index amqp.PropertyIndex // of Describe
}

// Route finds the queues that a message published to x goes to, in r.Queues, and says in r.Stamp how long that holds. In steady state it
// does not allocate.
func (v *VHost) Route(x *exchange.Exchange, r *Routing) { v.route(x, r, (*exchange.Exchange).Route) }

// route is Route, by one of the exchange's ways to do so.
func (v *VHost) route(x *exchange.Exchange, r *Routing, by func(*exchange.Exchange, *exchange.Routing)) {
	for {
		clear(r.Queues)
		r.Queues = r.Queues[:0]
		if x == v.standard {
			v.routeByName(r)
		} else {
			by(x, &r.Routing)
			for _, d := range r.Found() {
				r.add(d.(*queue.Queue)) // nothing else is ever bound
			}
		}
		if len(r.Queues) == 0 {
			r.Claims = r.Claims[:0] // nobody has the message: when it comes again, it is not a duplicate
		}
		if r.Later || r.Claims.Take() {
			return
		} // else another publisher's was faster with the same key: look again
	}
}

// add puts a queue among those found, unless it knows the message already.
func (r *Routing) add(q *queue.Queue) {
	if w := q.Window(); w != nil {
		r.Stamp = exchange.Stamp{}
		if !r.Forwarded && r.Claims.Meet(w, r.Headers) {
			r.Duplicate = true
			return
		}
	}
	r.Queues = append(r.Queues, q)
}

// routeByName is the routing of the default exchange: a key is a queue's name. A route to one queue holds for as long as the queue lives.
// That there is no queue of a name holds for no time at all: no counter tells of a declare.
func (v *VHost) routeByName(r *Routing) {
	r.Reset()
	for _, key := range r.Keys {
		q := v.queues.bearer(key)
		if q == nil || q.Delayed() {
			continue
		}
		// The stamp is taken before the look at the queue, else it could be from after the end, and valid for ever.
		stamp := exchange.NewStamp(q.Lifetime())
		if q.Closed() || slices.Contains(r.Queues, q) {
			continue
		}
		if len(r.Keys) == 1 {
			r.Stamp = stamp
		}
		r.add(q)
	}
}

// Describe fills in what routing needs to know of a message that is stored. The broker's own forwards begin with it. An error says that the
// message can't be read, as one of a damaged file.
func (r *Routing) Describe(m amqp.Message) error {
	if err := amqp.ScanProperties(m.Properties(), &r.index); err != nil {
		return err
	}
	r.Message, r.Properties, r.Headers = m, &r.index, r.index.Headers
	r.Keys = append(append(append(r.Keys[:0], m.RoutingKey()), carbonCopies(m, r.Headers)...), m.BlindKeys()...)
	return nil
}
