package server

import (
	"bytes"
	"sync/atomic"

	"leveret/amqp"
	"leveret/dedup"
	"leveret/exchange"
	"leveret/queue"
	"leveret/vhost"
)

// maxRoutes is how many routes a connection remembers.
const maxRoutes = 256

// target is a queue that a connection publishes to, and what is gathered for it.
type target struct {
	// What each message needs comes first, to share a cache line.
	batch    *queue.Batch // nil when there is nothing
	queue    *queue.Queue
	run      uint64 // publisher.run, as long as the next message needs no look at anything else
	tag      uint32 // of the message at hand
	durable  bool   // persistent messages of the queue are logged,
	keepsAll bool   // and transient ones too
	tagged   bool   // its messages come with a tag,
	refuses  bool   // the queue may refuse messages of the batch, so it is kept whose they are
	special  bool   // one of the last three
	pressed  bool   // the reader will look whether the queue has room

	number   uint64   // the queue's in the log
	pairs    []pair   // those of the messages that are logged
	origins  []origin // whose they are
	inflow   *inflow  // where its messages are counted, from
	from     int      // this one of the batch on; it looked for it
	counting uint64   // in that run of the publisher
}

// newTarget copies what publishing needs of a queue, so that it is not asked for each message.
func newTarget(q *queue.Queue) *target {
	o := q.Options()
	return &target{queue: q, number: o.ID, durable: q.Durable(), keepsAll: q.KeepsAll(), tagged: q.Tagged()}
}

// pair ties a place in the log's batch to one in the queue's.
type pair struct{ index, position int }

// route is where messages of one exchange and routing key go.
type route struct {
	address []byte
	stamp   exchange.Stamp
	source  *exchange.Exchange // nil for direct replies
	rights  uint64             // version of the rights that were checked
	targets []*target
	tagged  bool   // one of the queues wants a tag with each message
	due     int64  // Unix ms at which delayed messages go on
	trimmed uint64 // routes.trimmed, when the targets were taken
	reply   *replyConsumer
	lease   lease // that is asked for; there are no targets then

	// Of the one message that the route is for.
	duplicate bool         // somebody on its way has it already
	claims    dedup.Claims // its keys in windows
}

// routes is a connection's memory of routes. It belongs to the reader.
type routes struct {
	last    *route
	by      map[string]*route
	targets map[*queue.Queue]*target
	rights  *atomic.Uint64
	version uint64 // of the rights, when the message at hand came
	trimmed uint64 // how often all was forgotten
	scratch route  // of the message at hand, when it may not be remembered
}

// find returns the remembered route of an address if it still holds.
func (rs *routes) find(address []byte) *route {
	r := rs.last
	if r == nil || !bytes.Equal(r.address, address) {
		if r = rs.by[string(address)]; r == nil {
			return nil
		}
		rs.last = r
	}
	if r.rights != rs.version || !r.stamp.Valid() {
		rs.last = nil
		delete(rs.by, string(address))
		return nil
	}
	return r
}

// remember keeps a route for the next messages with its address.
func (rs *routes) remember(r *route, address []byte) {
	if rs.by == nil || len(rs.by) >= maxRoutes {
		rs.by = make(map[string]*route)
	}
	r.address = bytes.Clone(address)
	rs.by[string(r.address)] = r
	rs.last = r
}

// forget drops all routes, whatever they were good for.
func (rs *routes) forget() { rs.last, rs.by = nil, nil }

// target is the one of a queue on this connection, shared by all routes that lead there: so a batch of many keys is one push.
func (rs *routes) target(q *queue.Queue) *target {
	t := rs.targets[q]
	if t == nil {
		if rs.targets == nil {
			rs.targets = make(map[*queue.Queue]*target)
		}
		t = newTarget(q)
		rs.targets[q] = t
	}
	return t
}

// renew returns a route with the targets that the connection uses now, should it have forgotten them since.
func (rs *routes) renew(r *route) *route {
	if r.trimmed == rs.trimmed {
		return r
	}
	renewed := *r
	renewed.targets, renewed.trimmed = nil, rs.trimmed
	for _, old := range r.targets {
		renewed.targets = append(renewed.targets, rs.target(old.queue))
	}
	return &renewed
}

// maxTargets is how many queues a connection remembers before it forgets them all.
const maxTargets = 4 * maxRoutes

// trim forgets everything when that has become much. It may be called only while no target is filled: a queue must not have two of them in
// one batch, or its messages would change places.
func (rs *routes) trim() {
	if len(rs.targets) > maxTargets {
		rs.last, rs.by, rs.targets = nil, nil, nil
		rs.trimmed++
	}
}

// exchangeFor finds the exchange of a message that has no remembered route, and checks that the user may publish there.
//
// [basic.publish exchange]: right to write first, then existence, then internal.
func (c *connection) exchangeFor(m amqp.Message) (*exchange.Exchange, error) {
	name := m.Exchange()
	if err := c.rights.Write(amqp.ExchangeResource, string(name)); err != nil {
		return nil, err
	}
	x := c.vhost.Exchange(name)
	if x == nil {
		return nil, amqp.NoExchange(string(name), c.vhost.Name())
	}
	if x.Options().Internal {
		return nil, amqp.InternalExchange(string(name), c.vhost.Name())
	}
	return x, nil
}

// resolve routes a message and remembers the route if that holds for others. x may be nil if it was found before; extra are the keys of CC and BCC.
// Routing comes last of all checks: exchanges and queues may remember the message from then on.
func (c *connection) resolve(ch *channel, x *exchange.Exchange, m amqp.Message, extra [][]byte) (*route, error) {
	p := &c.publisher
	if x == nil {
		x = c.vhost.Exchange(m.Exchange())
		if x == nil {
			return nil, amqp.NoExchange(string(m.Exchange()), c.vhost.Name())
		}
	}
	if reply := c.server.replies.find(m); reply != nil && len(extra) == 0 {
		return &route{reply: reply}, nil
	}
	if p.routing == nil {
		p.routing = new(vhost.Routing)
	}
	ro := p.routing
	ro.Keys = append(append(ro.Keys[:0], m.RoutingKey()), extra...)
	ro.Headers, ro.Message, ro.Properties = p.index.Headers, m, &p.index
	if err := c.writeTopic(x, ro.Keys); err != nil {
		return nil, err
	}
	if err := c.checkUserID(&p.index); err != nil {
		return nil, err
	}
	ro.Later = ch.tx != nil
	c.vhost.Route(x, ro)
	r := &p.routes.scratch
	if ro.Stamp.Valid() {
		r = new(route)
		p.routes.remember(r, m.Address())
	}
	r.stamp, r.rights, r.tagged, r.trimmed = ro.Stamp, p.routes.version, false, p.routes.trimmed
	r.due, r.duplicate, r.claims = ro.Due, ro.Duplicate, append(r.claims[:0], ro.Claims...)
	r.source, r.lease = x, p.leaseOf(x, m)
	r.targets = r.targets[:0]
	for _, q := range ro.Queues {
		t := p.routes.target(q)
		r.targets = append(r.targets, t)
		r.tagged = r.tagged || t.tagged
	}
	// Between messages nothing may keep a chunk or a queue alive.
	clear(ro.Keys)
	clear(ro.Queues)
	ro.Headers, ro.Message, ro.Properties = nil, nil, nil
	return r, nil
}

// writeTopic checks the rights on routing keys, which topic exchanges alone have.
func (c *connection) writeTopic(x *exchange.Exchange, keys [][]byte) error {
	if x.Options().Type != "topic" {
		return nil
	}
	for _, key := range keys {
		if err := c.rights.WriteTopic(x.Name(), string(key)); err != nil {
			return err
		}
	}
	return nil
}
