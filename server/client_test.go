package server_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// client speaks the protocol frame by frame. One goroutine may use it.
type client struct {
	t      testing.TB
	conn   net.Conn
	frames *frame.Reader
	out    []byte // written by flush

	patience time.Duration
}

func newClient(t testing.TB, nc net.Conn) *client {
	return &client{t: t, conn: nc, frames: frame.NewReader(nc, 0), patience: patience}
}

// opening is how a client opens its connection; the zero value is a guest with all capabilities and no limits of its own.
type opening struct {
	user       string
	password   string // the user's name if empty
	vhost      string // "/" if empty
	plain      bool   // without capabilities
	frameMax   uint32
	channelMax uint16
	heartbeat  uint16
}

var protocolHeader = []byte("AMQP\x00\x00\x09\x01")

// startOk logs a user in whose password is its name.
func (o opening) startOk() *amqp.ConnectionStartOk {
	user := o.user
	if user == "" {
		user = "guest"
	}
	secret := cmp.Or(o.password, user)
	m := &amqp.ConnectionStartOk{Mechanism: "PLAIN", Locale: "en_US", Response: []byte("\x00" + user + "\x00" + secret)}
	if !o.plain {
		m.ClientProperties = amqp.Table{{Name: "capabilities", Value: amqp.Table{
			{Name: "consumer_cancel_notify", Value: true},
			{Name: "connection.blocked", Value: true},
			{Name: "authentication_failure_close", Value: true},
		}}}
	}
	return m
}

// opening opens the connection and channel 1, all in one write: the server takes it however it is cut.
func (c *client) opening(o opening) error {
	if o.frameMax == 0 {
		o.frameMax = 131072
	}
	if o.channelMax == 0 {
		o.channelMax = 8
	}
	c.out = append(c.out, protocolHeader...)
	c.add(0, o.startOk(), &amqp.ConnectionTuneOk{FrameMax: o.frameMax, ChannelMax: o.channelMax, Heartbeat: o.heartbeat},
		&amqp.ConnectionOpen{VirtualHost: cmp.Or(o.vhost, "/")})
	c.add(1, &amqp.ChannelOpen{})
	if err := c.flush(); err != nil {
		return err
	}
	for _, want := range []amqp.MethodID{
		amqp.MethodConnectionStart, amqp.MethodConnectionTune, amqp.MethodConnectionOpenOk, amqp.MethodChannelOpenOk,
	} {
		if _, err := c.method(want); err != nil {
			return err
		}
	}
	return nil
}

// add appends methods to what flush writes.
func (c *client) add(channel uint16, methods ...amqp.Method) {
	for _, m := range methods {
		c.out = frame.AppendMethod(c.out, channel, m)
	}
}

// addPublish appends a publish; properties may be nil.
func (c *client) addPublish(channel uint16, m *amqp.BasicPublish, properties *amqp.Properties, body []byte) {
	if properties == nil {
		properties = new(amqp.Properties)
	}
	c.add(channel, m)
	c.out = frame.AppendContentHeader(c.out, channel, amqp.ClassBasic, uint64(len(body)), properties.AppendTo(nil))
	c.out = frame.AppendBody(c.out, channel, body, 131072)
}

// flush writes what was added.
func (c *client) flush() error {
	c.conn.SetWriteDeadline(time.Now().Add(patience))
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

// next reads a frame; its payload lives until the next call.
func (c *client) next() (frame.Frame, error) {
	if !c.frames.Buffered() {
		c.conn.SetReadDeadline(time.Now().Add(c.patience))
	}
	return c.frames.Next()
}

// method reads a frame that must carry this method.
func (c *client) method(want amqp.MethodID) (amqp.Method, error) {
	f, err := c.next()
	if err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", want, err)
	}
	if f.Type != frame.TypeMethod || f.MethodID() != want {
		return nil, fmt.Errorf("got %s, want %s", frame.Dump(f), want)
	}
	m := amqp.NewMethod(want)
	return m, m.Decode(f.Arguments())
}

// send writes methods.
func (c *client) send(channel uint16, methods ...amqp.Method) {
	c.t.Helper()
	c.add(channel, methods...)
	c.mustFlush()
}

func (c *client) mustFlush() {
	c.t.Helper()
	if err := c.flush(); err != nil {
		c.t.Fatal(err)
	}
}

// expect reads the method that must come next.
func (c *client) expect(want amqp.MethodID) amqp.Method {
	c.t.Helper()
	m, err := c.method(want)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// says reads the frame that must come next, in the form of frame.Dump.
func (c *client) says(want string) {
	c.t.Helper()
	f, err := c.next()
	if err != nil {
		c.t.Fatalf("waiting for %s: %v", want, err)
	}
	if got := frame.Dump(f); got != want {
		c.t.Fatalf("got %s, want %s", got, want)
	}
}

// call sends a method and reads its answer.
func (c *client) call(channel uint16, m amqp.Method, answer amqp.MethodID) amqp.Method {
	c.t.Helper()
	c.send(channel, m)
	return c.expect(answer)
}

// content reads what follows basic.deliver, return and get-ok and returns the body.
func (c *client) content() ([]byte, error) {
	f, err := c.next()
	if err != nil {
		return nil, err
	}
	var state frame.Content
	state.Begin(amqp.MethodBasicDeliver)
	if _, err := state.Frame(f); err != nil {
		return nil, err
	}
	var body []byte
	for !state.Done() {
		if f, err = c.next(); err != nil {
			return nil, err
		}
		e, err := state.Frame(f)
		if err != nil {
			return nil, err
		}
		body = append(body, e.Payload...)
	}
	return body, nil
}

// declare makes a queue of that name.
func (c *client) declare(name string) {
	c.t.Helper()
	c.call(1, &amqp.QueueDeclare{Queue: name}, amqp.MethodQueueDeclareOk)
}

// goodbye closes the connection properly.
func (c *client) goodbye() {
	c.t.Helper()
	c.call(0, &amqp.ConnectionClose{ReplyCode: 200}, amqp.MethodConnectionCloseOk)
	c.conn.Close()
}

// ended tells whether an error means that the other side is gone.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// isTimeout tells whether an error is that of a deadline.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
