package server_test

import (
	"net"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/auth"
)

// user makes a user with all rights in "/" whose password is its name.
func (r *rig) user(name string) {
	r.t.Helper()
	password := name
	_, err := r.users.SetUser(auth.UserUpdate{Name: name, Password: &password, Tags: []string{}})
	r.must(err)
	r.must(r.users.SetPermissions(name, "/", auth.AllPermissions()))
}

// openAs opens a connection of that user and channel 1.
func (r *rig) openAs(o opening) *client {
	r.t.Helper()
	c := r.dial()
	if err := c.opening(o); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// flood publishes without pause until the socket fails or stop is closed.
func flood(c *client, stop <-chan struct{}) {
	var batch []byte
	for range 100 {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("x"))
	}
	batch, c.out = c.out, nil
	for {
		select {
		case <-stop:
			return
		default:
		}
		c.conn.SetWriteDeadline(time.Now().Add(patience))
		if _, err := c.conn.Write(batch); err != nil {
			return
		}
	}
}

// A channel that publishes without pause loses its right to as soon as that is revoked, and has it again as soon as it is granted.
func TestRevokedRightsReachABusyChannel(t *testing.T) {
	r := start(t, testOptions())
	r.user("u")
	reader := r.open()
	reader.declare("q")
	reader.call(1, &amqp.BasicConsume{Queue: "q", NoAck: true}, amqp.MethodBasicConsumeOk)
	busy := r.openAs(opening{user: "u"})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		flood(busy, stop)
	}()
	drained := make(chan struct{})
	go func() { // the flood has to go somewhere
		defer close(drained)
		for {
			if _, err := reader.next(); err != nil {
				return
			}
		}
	}()
	eventually(t, "messages flow", func() bool { return r.Stats().Published > 1000 })
	r.must(r.users.SetPermissions("u", "/", auth.Permissions{Configure: ".*", Read: ".*"}))
	m := busy.expect(amqp.MethodChannelClose).(*amqp.ChannelClose)
	if m.ReplyText != "ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'u'" {
		t.Errorf("got %q", m.ReplyText)
	}
	close(stop)
	<-done
	r.must(r.users.SetPermissions("u", "/", auth.AllPermissions()))
	busy.out = nil
	busy.send(1, &amqp.ChannelCloseOk{})
	busy.call(1, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	busy.call(1, &amqp.QueueDeclare{Queue: "q", Passive: true}, amqp.MethodQueueDeclareOk)
	busy.goodbye()
	reader.conn.Close()
	<-drained
}

// With empty expressions nothing works any more on a channel that is open, not even what had been allowed before, and server-named queues
// are no exception.
func TestEmptyRightsAllowNothing(t *testing.T) {
	r := start(t, testOptions())
	r.user("u")
	c := r.openAs(opening{user: "u"})
	c.declare("q")
	c.call(1, &amqp.QueueDeclare{}, amqp.MethodQueueDeclareOk)
	r.must(r.users.SetPermissions("u", "/", auth.Permissions{}))
	for _, m := range []amqp.Method{
		&amqp.QueueDeclare{}, &amqp.QueueDeclare{Queue: "q"}, &amqp.QueueDeclare{Queue: "q", Passive: true}, &amqp.QueueDelete{Queue: "q"},
		&amqp.QueuePurge{Queue: "q"}, &amqp.QueueBind{Queue: "q", Exchange: "amq.direct"}, &amqp.BasicGet{Queue: "q"},
		&amqp.BasicConsume{Queue: "q"}, &amqp.ExchangeDeclare{Exchange: "x", Type: "direct"}, &amqp.ExchangeDelete{Exchange: "x"},
		&amqp.ExchangeBind{Destination: "amq.topic", Source: "amq.direct"},
	} {
		c.send(1, m)
		if e := c.expect(amqp.MethodChannelClose).(*amqp.ChannelClose); e.ReplyCode != 403 {
			t.Errorf("%s: %s", m.ID(), e.ReplyText)
		}
		c.send(1, &amqp.ChannelCloseOk{})
		c.call(1, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	}
	c.goodbye()
}

// Deleting a user ends its connections, and no others.
func TestDeletedUserIsThrownOut(t *testing.T) {
	r := start(t, testOptions())
	r.user("u")
	stays, first, second := r.open(), r.openAs(opening{user: "u"}), r.openAs(opening{user: "u"})
	r.must(r.users.DeleteUsers([]string{"nobody", "u"}))
	for _, c := range []*client{first, second} {
		m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
		if m.ReplyCode != 320 || m.ReplyText != "CONNECTION_FORCED - user 'u' is deleted" {
			t.Errorf("got %d %q", m.ReplyCode, m.ReplyText)
		}
		c.conn.Close()
	}
	stays.declare("q")
	stays.goodbye()
}

// A user that is deleted between its login and connection.open gets no further.
func TestUserDeletedDuringTheHandshake(t *testing.T) {
	r := start(t, testOptions())
	r.user("u")
	c := r.dial()
	c.out = append(c.out, protocolHeader...)
	c.add(0, opening{user: "u"}.startOk())
	c.mustFlush()
	c.expect(amqp.MethodConnectionStart)
	c.expect(amqp.MethodConnectionTune)
	r.must(r.users.DeleteUser("u"))
	c.send(0, &amqp.ConnectionTuneOk{FrameMax: 131072, ChannelMax: 8}, &amqp.ConnectionOpen{VirtualHost: "/"})
	m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
	if m.ReplyText != "NOT_ALLOWED - access to vhost '/' refused for user 'u'" {
		t.Errorf("got %q", m.ReplyText)
	}
	c.conn.Close()
}

// A changed password does not disturb connections that are open; the old one opens no new ones.
func TestChangedPassword(t *testing.T) {
	r := start(t, testOptions())
	r.user("u")
	c := r.openAs(opening{user: "u"})
	r.must(r.users.SetPassword("u", "fresh"))
	c.declare("q")
	c.call(0, &amqp.ConnectionUpdateSecret{NewSecret: []byte("fresh"), Reason: "changed"}, amqp.MethodConnectionUpdateSecretOk)
	r.openAs(opening{user: "u", password: "fresh"}).goodbye()
	old := r.dial()
	old.out = append(old.out, protocolHeader...)
	old.add(0, opening{user: "u"}.startOk())
	old.mustFlush()
	old.expect(amqp.MethodConnectionStart)
	if m := old.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose); m.ReplyCode != 403 {
		t.Errorf("the old password: %s", m.ReplyText)
	}
	old.conn.Close()
	r.must(r.users.ClearPassword("u"))
	c.declare("q")
	c.goodbye()
}

// Who renews its secret has its rights looked at anew: consumers that may not read any more are cancelled, and who has no right to be
// in the virtual host is sent away.
func TestUpdateSecretLooksAtRights(t *testing.T) {
	r := start(t, testOptions())
	r.user("u")
	c := r.openAs(opening{user: "u"})
	for _, q := range []string{"keep", "lose"} {
		c.declare(q)
		c.call(1, &amqp.BasicConsume{Queue: q, ConsumerTag: q}, amqp.MethodBasicConsumeOk)
	}
	r.must(r.users.SetPermissions("u", "/", auth.Permissions{Read: "^keep$", Write: ".*"}))
	c.call(0, &amqp.ConnectionUpdateSecret{NewSecret: []byte("u")}, amqp.MethodConnectionUpdateSecretOk)
	if m := c.expect(amqp.MethodBasicCancel).(*amqp.BasicCancel); m.ConsumerTag != "lose" {
		t.Errorf("cancelled %q", m.ConsumerTag)
	}
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("keep")}, nil, []byte("x"))
	c.mustFlush()
	c.expect(amqp.MethodBasicDeliver)
	if _, err := c.content(); err != nil {
		t.Fatal(err)
	}
	r.must(r.users.ClearPermissions("u", "/"))
	c.send(0, &amqp.ConnectionUpdateSecret{NewSecret: []byte("u")})
	m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
	if m.ReplyText != "NOT_ALLOWED - access to vhost '/' refused for user 'u'" || m.ClassID != 10 || m.MethodID != 70 {
		t.Errorf("got %q at %d,%d", m.ReplyText, m.ClassID, m.MethodID)
	}
	c.conn.Close()
}

// from makes a pipe look like a connection from some address.
type from struct {
	net.Conn
	ip string
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.ip), Port: 50123} }
func (f from) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 5672} }

// The default user gets in from this machine alone.
func TestGuestFromElsewhere(t *testing.T) {
	r := start(t, testOptions())
	for ip, allowed := range map[string]bool{
		"127.0.0.1": true, "127.0.0.53": true, "::1": true, "::ffff:127.0.0.1": true,
		"10.0.0.7": false, "::ffff:10.0.0.7": false, "2001:db8::1": false,
	} {
		t.Run(ip, func(t *testing.T) {
			ours, theirs := net.Pipe()
			r.ServeConn(from{theirs, ip})
			c := newClient(t, ours)
			defer ours.Close()
			c.out = append(c.out, protocolHeader...)
			c.mustFlush()
			c.expect(amqp.MethodConnectionStart)
			c.send(0, opening{}.startOk())
			if allowed {
				c.expect(amqp.MethodConnectionTune)
				return
			}
			m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
			const text = "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
			if m.ReplyCode != 403 || m.ReplyText != text {
				t.Errorf("got %d %q", m.ReplyCode, m.ReplyText)
			}
		})
	}
}
