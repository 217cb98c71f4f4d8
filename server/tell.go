package server

import (
	"fmt"
	"net"
	"strconv"

	"leveret/amqp"
	"leveret/vhost"
)

// The events that connections cause; see package events. None is emitted with a lock held, so that whoever asks what is wanted may take one.

// fullName is how events and the HTTP API call a channel.
func (ch *channel) fullName() string { return fmt.Sprintf("%s (%d)", ch.conn.name, ch.number) }

// tellLogin emits that a login succeeded, or failed with err.
func (c *connection) tellLogin(user, mechanism string, err error) {
	key := "user.authentication.success"
	if err != nil {
		key = "user.authentication.failure"
	}
	c.server.events.Emit(key, func() amqp.Table {
		t := append(amqp.Table{
			{Name: "name", Value: user}, {Name: "connection_name", Value: c.name}, {Name: "connection_type", Value: "network"},
			{Name: "auth_mechanism", Value: mechanism}, {Name: "ssl", Value: c.tls != nil},
		}, c.ends()...)
		if err != nil {
			t = append(t, amqp.Field{Name: "error", Value: err.Error()})
		}
		return t
	})
}

// ends are the addresses of both sides.
func (c *connection) ends() (t amqp.Table) {
	for _, end := range []struct {
		host, port string
		address    net.Addr
	}{{"host", "port", c.out.Conn.LocalAddr()}, {"peer_host", "peer_port", c.out.Conn.RemoteAddr()}} {
		host, port, err := net.SplitHostPort(end.address.String())
		if err != nil {
			continue
		}
		n, _ := strconv.ParseInt(port, 10, 32)
		t = append(t, amqp.Field{Name: end.host, Value: host}, amqp.Field{Name: end.port, Value: int32(n)})
	}
	return t
}

// tellConnection emits that a connection was opened or has ended.
func (c *connection) tellConnection(key string) {
	c.server.events.Emit(key, func() amqp.Table {
		o := &c.server.options
		return append(amqp.Table{
			{Name: "name", Value: c.name}, {Name: "user_provided_name", Value: c.client.name}, {Name: "node", Value: o.NodeName},
			{Name: "user", Value: c.user.Name()}, {Name: "user_who_performed_action", Value: c.user.Name()}, {Name: "vhost", Value: c.vhost.Name()},
			{Name: "protocol", Value: "AMQP 0-9-1"}, {Name: "ssl", Value: c.tls != nil}, {Name: "auth_mechanism", Value: c.client.authMechanism},
			{Name: "timeout", Value: int64(c.client.heartbeatPeriod.Seconds())}, {Name: "frame_max", Value: int64(c.frameMax)},
			{Name: "channel_max", Value: int64(c.limit)}, {Name: "connected_at", Value: c.client.connectedAt.UnixMilli()},
			{Name: "client_properties", Value: c.client.properties},
		}, c.ends()...)
	})
}

// tellChannel emits that a channel was opened or has ended.
func (c *connection) tellChannel(key string, ch *channel) {
	c.server.events.Emit(key, func() amqp.Table {
		return amqp.Table{
			{Name: "name", Value: ch.fullName()}, {Name: "number", Value: int64(ch.number)}, {Name: "connection", Value: c.name},
			{Name: "user", Value: c.user.Name()}, {Name: "user_who_performed_action", Value: c.user.Name()}, {Name: "vhost", Value: c.vhost.Name()},
		}
	})
}

// tell emits that a consumer came or went.
func (c *consumer) tell(key string) {
	conn := c.channel.conn
	conn.server.events.Emit(key, func() amqp.Table {
		name := replyQueue
		if q := c.Queue(); q != nil {
			name = q.Name()
		}
		return amqp.Table{
			{Name: "consumer_tag", Value: c.Tag}, {Name: "queue", Value: name}, {Name: "channel", Value: c.channel.fullName()},
			{Name: "exclusive", Value: c.Exclusive}, {Name: "ack_required", Value: !c.NoAck}, {Name: "prefetch_count", Value: int64(c.EffectivePrefetch())},
			{Name: "arguments", Value: c.Arguments}, {Name: "user_who_performed_action", Value: conn.user.Name()}, {Name: "vhost", Value: conn.vhost.Name()},
		}
	})
}

// tellVHost emits that a virtual host came, changed or went.
func (s *Server) tellVHost(key, name string, more ...amqp.Field) {
	s.events.Emit(key, func() amqp.Table { return append(amqp.Table{{Name: "name", Value: name}}, more...) })
}

// tellLimits emits what the limits of a virtual host are now, or that there are none.
func (s *Server) tellLimits(name string, limits vhost.Limits) {
	if len(limits) == 0 {
		s.tellVHost("vhost.limits.cleared", name)
		return
	}
	t := amqp.Table{}
	for _, limit := range vhost.LimitNames() {
		if value, ok := limits[limit]; ok {
			t = append(t, amqp.Field{Name: limit, Value: value})
		}
	}
	s.tellVHost("vhost.limits.set", name, amqp.Field{Name: "limits", Value: t})
}

// tellAlarm emits that an alarm began or ended.
func (s *Server) tellAlarm(what shortage, on bool) {
	key, resource := "alarm.cleared", "memory"
	if on {
		key = "alarm.set"
	}
	if what == lowDisk {
		resource = "disk"
	}
	s.events.Emit(key, func() amqp.Table {
		return amqp.Table{{Name: "resource", Value: resource}, {Name: "node", Value: s.options.NodeName}}
	})
}
