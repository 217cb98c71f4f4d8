package server

import (
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"leveret/amqp"
)

// What connections and channels show of themselves. The reader counts without a lock and makes its numbers visible once a batch; what it shares
// with queues is counted under the outbox's mutex, which both hold anyway. So counting costs a message an increment, and whoever looks takes each
// outbox's mutex for a moment.

// ConnectionStatus is an open connection at one moment.
type ConnectionStatus struct {
	ID           uint64 // of this run of the broker
	Name         string // "client address -> server address"
	User, VHost  string
	Mechanism    string // that it logged in with
	State        string // running, flow (held back for a moment), blocked (by an alarm), closing
	Local, Peer  net.Addr
	TLS          *TLSStatus    // nil if plain
	FrameMax     uint32        // 0: no limit
	ChannelMax   uint16        // 0: no limit
	Heartbeat    time.Duration // 0: none
	Client       amqp.Table    // what the client said of itself; must not be changed
	Connected    time.Time
	Channels     int
	Received     Octets
	Sent         Octets
	Pending      int // bytes that wait to be sent
	AlarmBlocked bool
}

// Octets counts what went over a socket in one direction.
type Octets struct {
	Bytes uint64
	Calls uint64 // reads or writes
}

// visible is what a connection's reader shows to others.
type visible struct {
	open     atomic.Bool // between connection.open and the end; what the handshake set does not change meanwhile
	received atomic.Uint64
	active   atomic.Int64 // Unix ms of the last batch
}

// show makes the reader's numbers visible; called once a batch.
func (c *connection) show() {
	c.visible.received.Store(c.in.received)
	c.visible.active.Store(c.publisher.now)
	for i, ch := range c.publisher.counting {
		ch.shown.store(&ch.counted)
		ch.counting = false
		c.publisher.counting[i] = nil
	}
	c.publisher.counting = c.publisher.counting[:0]
	c.publisher.addTraffic()
}

// OpenConnections returns the open connections, in no order. Any goroutine may call it.
func (s *Server) OpenConnections() []ConnectionStatus {
	var list []ConnectionStatus
	for _, c := range s.snapshot() {
		if c.visible.open.Load() {
			list = append(list, c.status())
		}
	}
	return list
}

// Connection returns the open connection of that name; ok is false if there is none.
func (s *Server) Connection(name string) (status ConnectionStatus, ok bool) {
	c := s.connectionNamed(name)
	if c == nil {
		return status, false
	}
	return c.status(), true
}

// connectionNamed walks over all: names are asked for by people.
func (s *Server) connectionNamed(name string) *connection {
	for _, c := range s.snapshot() {
		if c.name == name && c.visible.open.Load() {
			return c
		}
	}
	return nil
}

// status may be called by any goroutine once the connection is open.
func (c *connection) status() ConnectionStatus {
	st := ConnectionStatus{
		ID: c.id, Name: c.name, User: c.user.Name(), VHost: c.vhost.Name(), Mechanism: c.client.authMechanism,
		Local: c.out.Conn.LocalAddr(), Peer: c.out.Conn.RemoteAddr(),
		FrameMax: c.frameMax, ChannelMax: c.limit, Heartbeat: c.client.heartbeatPeriod,
		Client: c.client.properties, Connected: c.client.connectedAt,
		Received:     Octets{Bytes: c.visible.received.Load(), Calls: c.heart.bytesIn.Load()},
		State:        c.stateName(),
		AlarmBlocked: c.blocked.Load(),
	}
	st.TLS = c.tlsStatus()
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	st.Channels = len(o.channels)
	st.Sent = o.total
	st.Pending = o.out.size + o.onTheWay
	return st
}

// stateName is the connection's state for people: what it is about, not where its handshake stands.
func (c *connection) stateName() string {
	switch {
	case c.reason.Load() != nil:
		return "closing"
	case c.blocked.Load():
		return "blocked"
	case c.waiting.Load():
		return "flow"
	}
	return "running"
}

// CloseConnection ends a connection by force: the client is told a 320 with the reason. It reports whether the connection was there, and
// does not wait for its end.
func (s *Server) CloseConnection(id uint64, reason string) bool {
	s.mu.Lock()
	c := s.connections[id]
	s.mu.Unlock()
	if c == nil {
		return false
	}
	c.kill(amqp.ConnectionForced(reason))
	return true
}

// ChannelStatus is an open channel at one moment.
type ChannelStatus struct {
	Connection    uint64
	Name          string // "connection's name (number)"
	ConnName      string
	Peer          net.Addr
	Number        uint16
	User, VHost   string
	Confirming    bool
	Transactional bool
	Prefetch      int // of consumers that come
	Shared        int // prefetch of the channel as a whole, 0: none
	Unacked       int
	Unconfirmed   int // publishes that wait for their confirm
	Uncommitted   int // publishes of a transaction
	Settling      int // settles of a transaction
	Consumers     int
	Publishes     ChannelPublishes
	Deliveries    ChannelDeliveries
	Active        time.Time // when the client last sent something
}

// Channels returns the open channels, in order of number within their connections. Any goroutine may call it.
func (s *Server) Channels() []ChannelStatus {
	var list []ChannelStatus
	for _, c := range s.snapshot() {
		if c.visible.open.Load() {
			list = append(list, c.channelStatuses()...)
		}
	}
	return list
}

// ChannelsOf returns the channels of one connection.
func (s *Server) ChannelsOf(connection string) []ChannelStatus {
	c := s.connectionNamed(connection)
	if c == nil {
		return nil
	}
	return c.channelStatuses()
}

// channelStatuses is of one moment for all channels of a connection, in order of their numbers.
func (c *connection) channelStatuses() []ChannelStatus {
	o := &c.out
	o.mu.Lock()
	list := make([]ChannelStatus, 0, len(o.channels))
	for _, ch := range o.channels {
		list = append(list, ch.statusLocked())
	}
	o.mu.Unlock()
	slices.SortFunc(list, func(x, y ChannelStatus) int { return int(x.Number) - int(y.Number) })
	return list
}

// statusLocked reads what the outbox guards, and what else of the channel never changes or is counted atomically.
func (ch *channel) statusLocked() ChannelStatus {
	c := ch.conn
	st := ChannelStatus{
		Connection: c.id, Name: ch.name(), ConnName: c.name, Peer: c.out.Conn.RemoteAddr(), Number: ch.number,
		User: c.user.Name(), VHost: c.vhost.Name(),
		Prefetch: ch.prefetch, Shared: ch.shared, Unacked: ch.unacked.Len(), Consumers: len(ch.consumers),
		Transactional: ch.tx != nil, Settling: ch.tx.held(), Uncommitted: int(ch.shown.uncommitted.Load()),
		Publishes: ch.shown.load(), Deliveries: ch.delivered.total(),
		Active: time.UnixMilli(c.visible.active.Load()),
	}
	st.Confirming = ch.tx == nil && slices.Contains(c.out.confirming, ch)
	if st.Confirming {
		st.Publishes.Confirmed = ch.confirms.last
		if n := len(ch.confirms.waiting); n > 0 {
			st.Unconfirmed = int(ch.confirms.waiting[n-1].last - ch.confirms.last)
		}
	}
	return st
}

// name is the channel's name for people.
func (ch *channel) name() string { return channelName(ch.conn.name, ch.number) }

// channelName is RabbitMQ's name for a channel.
func channelName(connection string, number uint16) string {
	return fmt.Sprintf("%s (%d)", connection, number)
}
