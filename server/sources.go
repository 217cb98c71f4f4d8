package server

import (
	"slices"
	"sync/atomic"

	"leveret/exchange"
	"leveret/queue"
	"leveret/vhost"
)

// sources count what a channel published, by exchange and by queue. Only the connection's reader changes the maps, and with the outbox locked:
// so it looks into them without the lock, and others do with it.
type sources struct {
	by   forgetful[*exchange.Exchange, *source]
	last *source // that was published to last
}

// source is one exchange that a channel published to.
type source struct {
	exchange *exchange.Exchange
	counted  exchange.Counter
	inflows  forgetful[*queue.Queue, *inflow]
}

// inflow is what a channel published to one exchange and what of that went into one queue. A target keeps the one that it counts in, so
// that counting needs no look-up.
type inflow struct {
	messages atomic.Uint64
	flow     *vhost.Flow // of all channels together
}

// countSource makes a channel and an exchange those whose messages are being counted. Messages tend to come in runs, so adding up what was
// counted of the run before is rare. By the run's number targets see that they have to look for their inflow.
func (p *publisher) countSource(ch *channel, x *exchange.Exchange) {
	if p.channel == ch && p.source.exchange == x {
		return
	}
	p.addTraffic()
	p.channel, p.source = ch, ch.source(x)
	p.run++
}

// addTraffic adds up what was counted of the run at hand; called once a batch at least.
func (p *publisher) addTraffic() {
	if p.traffic == (exchange.Traffic{}) {
		return
	}
	p.source.exchange.Count(p.traffic)
	p.source.counted.Add(p.traffic)
	p.traffic = exchange.Traffic{}
}

// countInto makes the inflow of the run at hand the one that a target counts in. What is in its batch by now is of others.
func (p *publisher) countInto(t *target) {
	n := t.batch.Len()
	t.count(n)
	t.inflow, t.from, t.counting = p.channel.inflow(p.source, t.queue), n, p.run
}

// count counts messages of a target's batch, of n, that its inflow has not. Those that the queue then refuses are among them: the exchange
// did route them.
func (t *target) count(n int) {
	if n > t.from && t.inflow != nil {
		t.inflow.messages.Add(uint64(n - t.from))
		t.inflow.flow.Add(uint64(n - t.from))
	}
	t.from = 0
}

// source returns the counters of an exchange that the channel publishes to.
func (ch *channel) source(x *exchange.Exchange) *source {
	ss := &ch.sources
	if ss.last != nil && ss.last.exchange == x {
		return ss.last
	}
	s := ss.by.values[x]
	if s == nil {
		s = &source{exchange: x}
		ss.by.add(&ch.conn.out, x, s, ch.sourceGone)
	}
	ss.last = s
	return s
}

// sourceGone tells whether an exchange is there no more, and gives the room of its inflows back.
func (ch *channel) sourceGone(x *exchange.Exchange) bool {
	if ch.conn.vhost.Has(x) {
		return false
	}
	ch.conn.publisher.inflows -= len(ch.sources.by.values[x].inflows.values)
	return true
}

// maxInflows is how many inflows the channels of a connection keep together. A client with thousands of channels that publishes to thousands of
// queues on each could fill the memory otherwise: what goes beyond is counted for exchange and queue, but not by channel.
const maxInflows = 16_384

// inflow returns the counter of what goes from one of the channel's sources into a queue.
func (ch *channel) inflow(s *source, q *queue.Queue) *inflow {
	i := s.inflows.values[q]
	if i != nil {
		return i
	}
	i = &inflow{flow: ch.conn.vhost.Flow(s.exchange, q)}
	if p := &ch.conn.publisher; p.inflows < maxInflows {
		p.inflows++
		s.inflows.add(&ch.conn.out, q, i, func(q *queue.Queue) bool {
			gone := q.Closed()
			if gone {
				p.inflows--
			}
			return gone
		})
	}
	return i
}

// forgetSources ends what a channel that has ended counted.
func (ch *channel) forgetSources() {
	for _, s := range ch.sources.by.values {
		ch.conn.publisher.inflows -= len(s.inflows.values)
	}
}

// forgetful is a map that forgets keys of what is gone, so that whoever has it can outlive very many of them.
type forgetful[K comparable, V any] struct {
	values map[K]V
	crowd  vhost.Crowd
}

// add adds a value under the lock of an outbox. gone is asked without it.
func (f *forgetful[K, V]) add(o *outbox, key K, value V, gone func(K) bool) {
	var ended []K
	if f.crowd.Full(len(f.values)) {
		for k := range f.values {
			if gone(k) {
				ended = append(ended, k)
			}
		}
		f.crowd.Looked(len(f.values) - len(ended))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if f.values == nil {
		f.values = make(map[K]V)
	}
	for _, k := range ended {
		delete(f.values, k)
	}
	f.values[key] = value
}

// ChannelExchange is what a channel published to one exchange.
type ChannelExchange struct {
	Connection uint64
	Number     uint16 // of the channel
	VHost      *vhost.VHost
	Exchange   *exchange.Exchange
	Traffic    exchange.Traffic
	Inflows    []Inflow
}

// Inflow is how many of these messages went into one queue.
type Inflow struct {
	Queue    *queue.Queue
	Messages uint64
}

// ChannelExchanges returns what open channels published to which exchanges, and into which queues, of those that are there, in no order. Any
// goroutine may call it.
func (s *Server) ChannelExchanges() []ChannelExchange {
	var list []ChannelExchange
	for _, c := range s.snapshot() {
		if c.visible.open.Load() {
			list = c.channelExchanges(list)
		}
	}
	return slices.DeleteFunc(list, func(c ChannelExchange) bool { return !c.VHost.Has(c.Exchange) })
}

// channelExchanges appends what the connection's channels published.
func (c *connection) channelExchanges(list []ChannelExchange) []ChannelExchange {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ch := range o.channels {
		for x, s := range ch.sources.by.values {
			one := ChannelExchange{Connection: c.id, Number: ch.number, VHost: c.vhost, Exchange: x, Traffic: s.counted.Traffic()}
			for q, i := range s.inflows.values {
				if !q.Closed() {
					one.Inflows = append(one.Inflows, Inflow{q, i.messages.Load()})
				}
			}
			list = append(list, one)
		}
	}
	return list
}
