package vhost

import (
	"slices"

	"leveret/exchange"
	"leveret/queue"
)

// Routing is one message on its way to its queues. The owner fills in Keys and Headers and uses it again for the next message; it
// belongs to one goroutine.
type Routing struct {
	exchange.Routing
	// Queues are those that Route found, each once. The slice lives until the next Route.
	Queues []*queue.Queue
}

// Route finds the queues that a message published to x goes to, in r.Queues, and says in r.Stamp how long that holds. In steady state it
// does not allocate.
func (v *VHost) Route(x *exchange.Exchange, r *Routing) {
	clear(r.Queues)
	r.Queues = r.Queues[:0]
	if x == v.standard {
		v.routeByName(r)
		return
	}
	x.Route(&r.Routing)
	for _, d := range r.Found() {
		r.Queues = append(r.Queues, d.(*queue.Queue)) // nothing else is ever bound
	}
}

// routeByName is the routing of the default exchange: a key is a queue's name. A route to one queue holds for as long as the queue lives.
// That there is no queue of a name holds for no time at all: no counter tells of a declare.
func (v *VHost) routeByName(r *Routing) {
	r.Stamp = exchange.Stamp{}
	for _, key := range r.Keys {
		q := v.queues.bearer(key)
		if q == nil {
			continue
		}
		// The stamp is taken before the look at the queue, else it could be from after the end, and valid for ever.
		stamp := exchange.NewStamp(q.Lifetime())
		if q.Closed() || slices.Contains(r.Queues, q) {
			continue
		}
		r.Queues = append(r.Queues, q)
		if len(r.Keys) == 1 {
			r.Stamp = stamp
		}
	}
}
