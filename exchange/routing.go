package exchange

import (
	"slices"
	"sync/atomic"

	"leveret/amqp"
	"leveret/dedup"
)

// Routing is one message on its way through the exchanges: what they look at, and what they found. Its owner fills in what describes the
// message and uses it again for the next one, so that routing allocates nothing once its slices have grown. Not safe for concurrent use.
type Routing struct {
	// Keys are the routing keys: the message's own first, then those of CC and BCC. Any bytes.
	Keys [][]byte
	// Headers is the encoded header table with its length in front, nil when the message has none.
	Headers []byte
	// Message is the whole message and Properties the index of its properties, for the types that look at more. They are read during Route
	// only: what a type keeps of them it copies. Either may be nil; the types then take the message for one without properties.
	Message    amqp.Message
	Properties *amqp.PropertyIndex

	// Stamp says for how long the result holds for messages with this key.
	Stamp Stamp
	// Due is when the destinations that messages wait at are to let this one go on, in Unix milliseconds; 0 when none of them was found.
	Due int64
	// Duplicate says that an exchange on the way has met the message before and did not route it.
	Duplicate bool
	// Claims are the keys by which the exchanges that look for duplicates are to remember the message. They are not taken yet.
	Claims dedup.Claims
	// Forwarded says that the broker sends the message on, as a dead letter: it is no duplicate, whatever the windows know of it.
	Forwarded bool

	found     collection[Destination] // queues
	exchanges collection[*Exchange]   // those the message came to, in order
	hit       bool                    // the exchange at hand led somewhere
	ways      manyWays                // scratch of the topic type
	value     []byte                  // scratch of the headers type, and
	tried     map[*column]bool        // the headers that were looked at, and
	fields    map[string]headerField  // an index of the message's headers, which it aliases; empty where none was needed
}

// Found returns the queues that the message reaches, each once. The slice lives until the next Route.
func (r *Routing) Found() []Destination { return r.found.items }

// Stamp is the validity of a route: a version counter, and its value from before the route was looked up. The zero Stamp is never valid.
type Stamp struct {
	counter *atomic.Uint64
	value   uint64
}

// NewStamp takes the counter's present value; what the stamp is for must be read afterwards.
func NewStamp(counter *atomic.Uint64) Stamp { return Stamp{counter, counter.Load()} }

// Valid reports whether nothing that the route depends on has changed since.
func (s Stamp) Valid() bool { return s.counter != nil && s.counter.Load() == s.value }

// Route finds all queues that the message reaches: by the exchange's bindings, by those of the exchanges that these lead to, and,
// where an exchange has no way for it, by its alternate exchange. Each queue is found once, and each exchange is asked once, so that
// cycles end.
//
// [exchange.bind], [exchange.declare alternate-exchange]: extensions of RabbitMQ
func (x *Exchange) Route(r *Routing) { x.route(r, nil) }

// RouteDue is Route for a message that has waited for this exchange: it does not wait again, and is no duplicate of itself.
func (x *Exchange) RouteDue(r *Routing) { x.route(r, x) }

// route is Route; due is the exchange that the message has passed before, or nil.
func (x *Exchange) route(r *Routing, due *Exchange) {
	var graph Stamp
	if x.opts.Graph != nil {
		graph = NewStamp(x.opts.Graph)
	}
	own := NewStamp(&x.version)
	r.Reset()
	r.exchanges.add(x)

	cacheable, alone := len(r.Keys) == 1, true
	for i := 0; i < len(r.exchanges.items); i++ {
		at := r.exchanges.items[i]
		s := at.settings.Load()
		if !s.plain() {
			cacheable = false
			if at != due && r.stops(s) {
				continue
			}
		}
		cacheable = cacheable && at.keyed
		if !at.routeAlone(r) && s.HasAlternate && at.opts.Resolve != nil {
			alone = false // also if there is no alternate now: there may be one later
			if alternate := at.opts.Resolve(s.Alternate); alternate != nil {
				r.exchanges.add(alternate)
			}
		}
	}
	switch {
	case !cacheable:
		r.Stamp = Stamp{}
	case alone && len(r.exchanges.items) == 1:
		r.Stamp = own
	default:
		r.Stamp = graph
	}
}

// Reset forgets the result that was there. Route begins with it; who finds a way by other means does too.
func (r *Routing) Reset() {
	r.found.reset()
	r.exchanges.reset()
	r.Stamp, r.Due, r.Duplicate = Stamp{}, 0, false
	if len(r.Claims) > 0 {
		clear(r.Claims)
		r.Claims = r.Claims[:0]
	}
}

// stops reports whether the message ends at an exchange with such settings, for now or for good: as a duplicate, which is not for the
// alternate exchange either, or because it has to wait.
func (r *Routing) stops(s *Settings) bool {
	if s.Window != nil && !r.Forwarded && r.Claims.Meet(s.Window, r.Headers) {
		r.Duplicate = true
		return true
	}
	if s.Delay == nil {
		return false
	}
	due := dueTime(r.Headers)
	if due == 0 {
		return false
	}
	r.Due = due
	r.found.add(s.Delay)
	return true
}

// routeAlone collects what the exchange's own bindings lead to and reports whether they lead anywhere.
func (x *Exchange) routeAlone(r *Routing) bool {
	r.hit = false
	x.mu.RLock()
	x.table.route(r)
	x.mu.RUnlock()
	return r.hit
}

// collect notes all destinations of a set. Called by the tables.
func (r *Routing) collect(s *set) {
	if len(r.found.items) == 0 && len(s.members) > 1 {
		r.collectFirst(s)
		return
	}
	for i := range s.members {
		r.reach(s.members[i].destination)
	}
}

// collectFirst is collect while nothing is found yet: a set holds each destination once, so there is nothing to compare.
func (r *Routing) collectFirst(s *set) {
	r.hit = true
	for i := range s.members {
		if d := s.members[i].destination; !r.visit(d) {
			r.found.items = append(r.found.items, d)
		}
	}
}

// reach notes one destination. Called by the tables.
func (r *Routing) reach(d Destination) {
	r.hit = true
	if !r.visit(d) {
		r.found.add(d)
	}
}

// visit puts a destination that is an exchange on the message's way, and reports whether it is one.
func (r *Routing) visit(d Destination) bool {
	x, ok := d.(*Exchange)
	if ok {
		r.exchanges.add(x)
	}
	return ok
}

// smallCollection is how many items a collection compares one by one; beyond that it looks them up in a map.
const smallCollection = 24

// collection is a set in order of arrival that keeps its memory when it is emptied.
type collection[T comparable] struct {
	items []T
	seen  map[T]struct{} // holds all items once there are more than a few
}

func (c *collection[T]) add(item T) {
	if len(c.items) < smallCollection {
		if slices.Contains(c.items, item) {
			return
		}
		c.items = append(c.items, item)
		return
	}
	if c.seen == nil {
		c.seen = make(map[T]struct{}, 2*smallCollection)
	}
	if len(c.seen) == 0 {
		for _, other := range c.items {
			c.seen[other] = struct{}{}
		}
	}
	before := len(c.seen)
	c.seen[item] = struct{}{}
	if len(c.seen) > before {
		c.items = append(c.items, item)
	}
}

// reset empties the collection. What it held is let go of, too: a queue that was deleted must not live on as scratch.
func (c *collection[T]) reset() {
	clear(c.items)
	c.items = c.items[:0]
	if len(c.seen) > 0 {
		clear(c.seen)
	}
}
