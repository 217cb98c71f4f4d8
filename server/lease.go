package server

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"leveret/amqp"
	"leveret/exchange"
)

// leasePrefix begins the routing keys by which a client asks for more time: a publish to the default exchange, on the channel of the
// delivery, with the delivery tag behind the prefix. Other brokers drop such a message, so a client may send it to any.
const leasePrefix = "leveret.lease."

// leaseHeader says for how long, in ms from now; without it the delivery's time begins anew.
const leaseHeader = "x-lease"

// leaseMax is the longest lease, in ms.
const leaseMax = int64(24 * time.Hour / time.Millisecond)

// lease is more time for a delivery.
type lease struct {
	tag uint64 // 0: none is asked for
	ms  int64  // 0: its time begins anew
}

// leaseOf is the lease that a message asks for which no queue wants: a queue of that very name would have it.
func (p *publisher) leaseOf(x *exchange.Exchange, m amqp.Message) lease {
	if x.Name() != "" || len(p.routing.Queues) > 0 {
		return lease{}
	}
	digits, found := strings.CutPrefix(string(m.RoutingKey()), leasePrefix)
	if !found {
		return lease{}
	}
	tag, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return lease{}
	}
	l := lease{tag: tag}
	if hasHeader(&p.index, leaseHeader) {
		headers, _, err := amqp.DecodeTable(p.index.Headers)
		if v, ok := headers.Get(leaseHeader); ok && err == nil {
			n, _ := amqp.Integer(v)
			l.ms = min(max(n, 0), leaseMax)
		}
	}
	return l
}

// extend gives the channel's delivery more time. It reports false if the delivery is not outstanding.
func (ch *channel) extend(l lease) bool {
	o := &ch.conn.out
	o.mu.Lock()
	defer o.mu.Unlock()
	u := ch.unacked.At(l.tag)
	if u == nil {
		return false
	}
	s := ch.conn.server
	u.at = s.now()
	if limit := s.timeout(u.queue, u.ownTimeout()); l.ms > 0 && limit > 0 {
		u.at += l.ms - limit
		o.wakeAtLocked(u.at + limit)
	}
	return true
}

// ErrNoDelivery means that a delivery is not outstanding, or was never made.
var ErrNoDelivery = errors.New("no such delivery is outstanding")

// ExtendLease gives a delivery more time, as a message to leveret.lease.TAG does: d from now, 24 hours at most; 0 has its time begin anew. The
// delivery goes by the number of its connection, by channel and by delivery tag. Any goroutine may call it. It returns ErrNoDelivery if the
// delivery is not outstanding.
func (s *Server) ExtendLease(connection uint64, channel uint16, tag uint64, d time.Duration) error {
	s.mu.Lock()
	c := s.connections[connection]
	s.mu.Unlock()
	if c == nil {
		return ErrNoDelivery
	}
	ch := c.out.channel(channel)
	if ch == nil || !ch.extend(lease{tag, min(max(d.Milliseconds(), 0), leaseMax)}) {
		return ErrNoDelivery
	}
	return nil
}

// channel returns the open channel of that number, nil if there is none. Any goroutine may call it.
func (o *outbox) channel(number uint16) *channel {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ch := range o.channels {
		if ch.number == number {
			return ch
		}
	}
	return nil
}
