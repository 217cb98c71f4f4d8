package server

import (
	"context"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/store"
	"leveret/vhost"
)

// Publication is a message that comes from elsewhere than a client's connection: from the HTTP API.
type Publication struct {
	User       *auth.User
	Rights     *auth.Rights
	VHost      *vhost.VHost
	Exchange   string // at most 255 bytes
	RoutingKey string // at most 255 bytes
	Properties amqp.Properties
	Body       []byte
}

// Outcome is what became of a publication.
type Outcome uint8

const (
	// Unrouted: no queue wanted it.
	Unrouted Outcome = iota
	// Routed: every queue took it, and it is as durable as it is to be.
	Routed
	// Refused: a queue is full and refuses more.
	Refused
)

// Publish publishes a message as a client's channel with confirms would: with the same checks, and the same errors. It returns when the message
// is safe or ctx ends, and may be called from any goroutine. An alarm does not hold it back: who must not get past one asks [Server.AlarmReason]
// before.
func (s *Server) Publish(ctx context.Context, p *Publication) (Outcome, error) {
	c := s.inner(p)
	ch := &channel{conn: c, number: 1, confirming: true}
	t := &ch.content
	t.message = amqp.AppendMessageAddress(nil, []byte(p.Exchange), []byte(p.RoutingKey))
	at := len(t.message)
	t.message = p.Properties.AppendTo(t.message)
	t.properties = len(t.message) - at
	t.message = append(t.message, p.Body...)
	if uint64(len(p.Body)) > s.options.MaxMessageSize {
		t.tooLarge = uint64(len(p.Body))
	}
	m := amqp.Message(t.message)
	r, rewritten, err := c.destination(ch, m)
	if err != nil {
		return Unrouted, err
	}
	if rewritten != nil {
		m = rewritten
	}
	c.counted.Published++
	if len(r.targets) == 0 && r.reply == nil {
		c.counted.Returned++
		c.publishCounters()
		return Unrouted, nil
	}
	ch.published++
	c.publisher.willConfirm(ch)
	c.enqueue(ch, m, len(m.Body()), nil, r, true)
	c.handOver()
	refused := c.counted.Refused > 0
	c.publishCounters()
	if refused {
		return Refused, nil
	}
	return Routed, s.awaitDurable(ctx, ch)
}

// inner makes a connection that has no socket: its outbox is closed, so nothing is ever sent. Its caller is its reader.
func (s *Server) inner(p *Publication) *connection {
	c := &connection{
		server: s, name: "HTTP API", log: s.log, user: p.User, rights: p.Rights, vhost: p.VHost, state: stateRunning,
		totals: s.vhostTotals(p.VHost.Name()), in: new(input), stop: make(chan struct{}),
	}
	c.out.conn, c.out.closed = c, true
	c.publisher.routes.rights = p.Rights.Version()
	c.publisher.now = time.Now().UnixMilli()
	return c
}

// awaitDurable waits for the log as far as a channel's publishes need it.
func (s *Server) awaitDurable(ctx context.Context, ch *channel) error {
	lsn := ch.awaited()
	for {
		synced := s.synced.wait()
		if s.store.Durable() >= lsn {
			return nil
		}
		select {
		case <-synced:
		case <-s.store.Failed():
			return s.store.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaited is the position in the log that the channel's last publish waits for, 0 if it waits for none.
func (ch *channel) awaited() store.LSN {
	ch.conn.out.mu.Lock()
	defer ch.conn.out.mu.Unlock()
	w := ch.confirms.waiting
	if len(w) == 0 {
		return 0
	}
	return w[len(w)-1].lsn
}
