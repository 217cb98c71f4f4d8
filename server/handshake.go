package server

import (
	"bytes"
	"errors"
	"runtime"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/frame"
)

// protocolHeaderSize is the length of what a client sends first.
const protocolHeaderSize = 8

var (
	header091 = []byte("AMQP\x00\x00\x09\x01")
	header090 = []byte("AMQP\x01\x01\x00\x09") // of old clients, which speak the same
)

// protocolHeader looks at the first bytes; it reports whether frames follow. Whoever speaks something else is told what is spoken here.
//
// [protocol header]: specification section 4.2.2.
func (c *connection) protocolHeader() bool {
	got := c.in.pending()
	c.spoke = true
	if len(got) < protocolHeaderSize {
		return false
	}
	first := got[:protocolHeaderSize]
	if !bytes.Equal(first, header091) && !bytes.Equal(first, header090) {
		c.log.Warn("not an AMQP 0-9-1 client", "bytes", first)
		c.in.consume(len(got))
		c.out.Conn.SetWriteDeadline(time.Now().Add(lingerSilent))
		c.out.Conn.Write(header091) // the first octets on this socket: they do not have to wait for a writer
		c.out.Conn.Close()
		c.state = stateDone
		return false
	}
	c.in.consume(protocolHeaderSize)
	c.state = stateStarting
	c.out.reply(0, &amqp.ConnectionStart{
		VersionMajor:     0,
		VersionMinor:     9,
		ServerProperties: c.server.properties(),
		Mechanisms:       []byte(c.mechanisms()),
		Locales:          []byte("en_US"),
	})
	return true
}

// properties is what the server tells of itself. Clients branch on product and version, so these name the broker whose behaviour
// is spoken here; ours stand under keys of their own.
func (s *Server) properties() amqp.Table {
	var capabilities amqp.Table
	for _, name := range []string{
		"publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify", "connection.blocked",
		"consumer_priorities", "authentication_failure_close", "per_consumer_qos", "direct_reply_to",
	} {
		capabilities = append(capabilities, amqp.Field{Name: name, Value: true})
	}
	return amqp.Table{
		{Name: "capabilities", Value: capabilities},
		{Name: "cluster_name", Value: s.options.NodeName},
		{Name: "copyright", Value: "The Leveret authors"},
		{Name: "information", Value: "Licensed under the Apache License 2.0"},
		{Name: "platform", Value: "Go " + runtime.Version()},
		{Name: "product", Value: s.options.Product},
		{Name: "version", Value: s.options.ProductVersion},
		{Name: "broker", Value: "Leveret"},
		{Name: "broker_version", Value: s.options.Version},
	}
}

// startOk logs the client in and proposes the limits.
func (c *connection) startOk(m *amqp.ConnectionStartOk) error {
	c.client.read(m)
	user, err := c.authenticate(m)
	if err != nil {
		var refusal *auth.Refusal
		if errors.As(err, &refusal) && !refusal.Repeated {
			c.log.Warn("login refused", "error", refusal.Error())
		}
		if refusal != nil {
			c.tellLogin(refusal.User, m.Mechanism, err)
		}
		return err
	}
	c.tellLogin(user.Name(), m.Mechanism, nil)
	c.user = user
	c.state = stateTuning
	c.offered = c.server.tuning.Load()
	o := c.offered
	c.out.reply(0, &amqp.ConnectionTune{
		ChannelMax: o.ChannelMax, FrameMax: o.FrameMax, Heartbeat: uint16(o.Heartbeat / time.Second),
	})
	return nil
}

// authenticate finds out who the client is.
func (c *connection) authenticate(m *amqp.ConnectionStartOk) (*auth.User, error) {
	if c.trustedLocal() {
		return c.server.users.Operator(), nil
	}
	if c.server.users.TakesTokens() {
		c.leaveSlowLane() // the provider of tokens may have to be asked for its keys
	}
	return c.server.users.Authenticate(m.Mechanism, m.Response, c.loginClient())
}

// read takes from start-ok what the log, the API and the connection's own behaviour need.
func (p *clientProperties) read(m *amqp.ConnectionStartOk) {
	p.properties = m.ClientProperties
	p.authMechanism = m.Mechanism
	p.product = text(m.ClientProperties, "product")
	p.productVersion = text(m.ClientProperties, "version")
	p.platform = text(m.ClientProperties, "platform")
	p.name = text(m.ClientProperties, "connection_name")
	v, _ := m.ClientProperties.Get("capabilities")
	capabilities, _ := v.(amqp.Table)
	p.cancelNotify = truth(capabilities, "consumer_cancel_notify")
	p.blockedNotify = truth(capabilities, "connection.blocked")
	p.failureClose = truth(capabilities, "authentication_failure_close")
}

// text is a field that should be a text; clients send what they like, and what is none is empty.
func text(t amqp.Table, name string) string {
	v, _ := t.Get(name)
	s, _ := v.(string)
	return s
}

// truth is a field that should be a boolean; all else is false.
func truth(t amqp.Table, name string) bool {
	v, _ := t.Get(name)
	b, _ := v.(bool)
	return b
}

// tuneOk takes the limits that the client chose, within what was proposed.
//
// [connection.tune-ok]: not above the proposal, and no "no limit" where there is one.
func (c *connection) tuneOk(m *amqp.ConnectionTuneOk) error {
	o := c.offered
	switch {
	case o.FrameMax != 0 && (m.FrameMax == 0 || m.FrameMax > o.FrameMax):
		return amqp.TunedTooHigh("frame_max", m.FrameMax, o.FrameMax)
	case m.FrameMax != 0 && m.FrameMax < minFrameMax:
		return amqp.TunedTooLow("frame_max", m.FrameMax, minFrameMax)
	case o.ChannelMax != 0 && (m.ChannelMax == 0 || m.ChannelMax > o.ChannelMax):
		return amqp.TunedTooHigh("channel_max", uint32(m.ChannelMax), uint32(o.ChannelMax))
	}
	c.frameMax, c.limit = m.FrameMax, m.ChannelMax
	if period := time.Duration(m.Heartbeat) * time.Second; period > 0 {
		c.client.heartbeatPeriod = period
		c.heart.start(c, period)
	}
	c.state = stateOpening
	return nil
}

// open enters the virtual host.
func (c *connection) open(m *amqp.ConnectionOpen) error {
	v, err := c.enter(m.VirtualHost)
	if err != nil {
		return at(err, m.ID())
	}
	rights, ok := c.user.Rights(m.VirtualHost) // asked when the user's deletion would find the connection
	if !ok {
		c.leave()
		return amqp.VHostRefused(m.VirtualHost, c.user.Name()).At(m.ID())
	}
	c.vhost, c.rights = v, rights
	c.totals = c.server.vhostTotals(m.VirtualHost)
	c.publisher.routes.rights = rights.Version()
	c.channels = make(map[uint16]*channel)
	c.state = stateRunning
	c.held = c.server.alarms.wait()
	c.deadline.Stop()
	c.expire()
	c.server.noteRunning()
	c.visible.open.Store(true)
	c.tellConnection("connection.created")
	c.out.reply(0, &amqp.ConnectionOpenOk{})
	c.log.Info("connection opened", "user", c.user.Name(), "vhost", m.VirtualHost, "client", c.client.product, "name", c.client.name)
	return nil
}

// connectionMethod handles what comes on channel 0.
func (c *connection) connectionMethod(f frame.Frame) error {
	m, err := decodeMethod(f)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *amqp.ConnectionStartOk:
		if c.state == stateStarting {
			return c.startOk(m)
		}
	case *amqp.ConnectionTuneOk:
		if c.state == stateTuning {
			return c.tuneOk(m)
		}
	case *amqp.ConnectionOpen:
		if c.state == stateOpening {
			return c.open(m)
		}
	case *amqp.ConnectionClose:
		if c.state == stateRunning || c.state == stateClosing {
			c.clientCloses()
			return nil
		}
	case *amqp.ConnectionCloseOk:
		if c.state == stateClosing {
			c.state = stateDone
			c.out.Flush(true)
			c.out.Conn.Close()
			return nil
		}
	case *amqp.ConnectionUpdateSecret:
		if c.state == stateRunning {
			return c.updateSecret(m)
		}
	}
	if c.state == stateClosing {
		return nil
	}
	return amqp.UnexpectedMethodInState(c.state.String()).At(m.ID())
}

// clientCloses ends the connection as the client wishes: first what it holds, then close-ok, then the client closes the socket.
//
// [connection.close]: exclusive queues are gone when close-ok is sent.
func (c *connection) clientCloses() {
	c.teardown()
	c.out.reply(0, &amqp.ConnectionCloseOk{})
	c.finish(c.linger())
}

// decodeMethod reads the method of a frame.
func decodeMethod(f frame.Frame) (amqp.Method, error) {
	m := amqp.NewMethod(f.MethodID())
	if m == nil {
		return nil, amqp.UnknownMethod(f.MethodID())
	}
	return m, m.Decode(f.Arguments())
}
