package perf

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// channelNumber is the one channel that each connection opens.
const channelNumber = 1

// client is a connection to the broker with one channel. Reading belongs to one goroutine, writing to another (or the same one).
type client struct {
	conn     net.Conn
	timeout  time.Duration
	frameMax uint32
	buf      []byte
	start    int // what is read and not looked at stands in buf[start:end]
	end      int
}

// ClosedError is what the broker closed a channel or connection with.
type ClosedError struct {
	Connection bool // and not the channel alone
	Code       uint16
	Text       string
	Method     amqp.MethodID // the method it complains about, 0 if none
}

// Error tells the broker's own words.
func (e *ClosedError) Error() string {
	what := "channel"
	if e.Connection {
		what = "connection"
	}
	if e.Method == 0 {
		return fmt.Sprintf("the broker closed the %s: %d %s", what, e.Code, e.Text)
	}
	return fmt.Sprintf("the broker closed the %s at %s: %d %s", what, e.Method, e.Code, e.Text)
}

// dial connects, logs in, and opens the channel.
func dial(ctx context.Context, t target, o *Options) (*client, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	if t.tls {
		dialer = &tls.Dialer{Config: &tls.Config{ServerName: t.host, InsecureSkipVerify: o.SkipVerify}}
	}
	conn, err := dialer.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	c := &client{conn: conn, timeout: o.Timeout, frameMax: frame.MinSize, buf: make([]byte, firstBuffer)}
	if err := c.login(t); err != nil {
		conn.Close()
		return nil, fmt.Errorf("log in to %s: %w", t.address, err)
	}
	return c, nil
}

// largestFrame is what the client asks for of a broker that has no limit.
const largestFrame = 128 << 10

// login goes through the handshake, up to an open channel [AMQP 0-9-1, 2.2.4].
func (c *client) login(t target) error {
	c.conn.SetDeadline(time.Now().Add(c.timeout))
	defer c.conn.SetDeadline(time.Time{})
	if _, err := c.conn.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	if _, err := c.await(amqp.MethodConnectionStart); err != nil {
		return err
	}
	tune, err := c.ask(0, &amqp.ConnectionStartOk{
		ClientProperties: clientProperties,
		Mechanism:        "PLAIN",
		Response:         []byte("\x00" + t.user + "\x00" + t.password),
		Locale:           "en_US",
	}, amqp.MethodConnectionTune)
	if errors.Is(err, errHungUp) {
		return fmt.Errorf("%w: is the password right?", err) // old brokers say no more than this
	}
	if err != nil {
		return err
	}
	offer := tune.(*amqp.ConnectionTune)
	c.frameMax = offer.FrameMax
	if c.frameMax == 0 {
		c.frameMax = largestFrame
	}
	// No heartbeats: a broker that stops is noticed by the timeout of what is waited for.
	if err := c.send(0, &amqp.ConnectionTuneOk{ChannelMax: offer.ChannelMax, FrameMax: c.frameMax}); err != nil {
		return err
	}
	if _, err := c.ask(0, &amqp.ConnectionOpen{VirtualHost: t.vhost}, amqp.MethodConnectionOpenOk); err != nil {
		return err
	}
	_, err = c.ask(channelNumber, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	return err
}

// clientProperties ask for what makes errors clear: a close frame after a bad login, and notice of alarms and cancelled consumers.
var clientProperties = amqp.Table{
	{Name: "product", Value: "leveret perf"},
	{Name: "capabilities", Value: amqp.Table{
		{Name: "authentication_failure_close", Value: true},
		{Name: "basic.nack", Value: true},
		{Name: "connection.blocked", Value: true},
		{Name: "consumer_cancel_notify", Value: true},
	}},
}

// call sends a method on the channel and waits for its reply.
func (c *client) call(m amqp.Method, reply amqp.MethodID) (amqp.Method, error) {
	c.conn.SetDeadline(time.Now().Add(c.timeout))
	defer c.conn.SetDeadline(time.Time{})
	return c.ask(channelNumber, m, reply)
}

// ask is call on any channel, without a deadline of its own.
func (c *client) ask(channel uint16, m amqp.Method, reply amqp.MethodID) (amqp.Method, error) {
	if err := c.send(channel, m); err != nil {
		return nil, fmt.Errorf("%s: %w", m.ID(), err)
	}
	answer, err := c.await(reply)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.ID(), err)
	}
	return answer, nil
}

// send writes one method. It is for set-up and the end of a run, where an allocation does not matter.
func (c *client) send(channel uint16, m amqp.Method) error {
	_, err := c.conn.Write(frame.AppendMethod(nil, channel, m))
	return err
}

// await reads until the method comes. Others are skipped, unless they close something.
func (c *client) await(id amqp.MethodID) (amqp.Method, error) {
	for {
		f, err := c.next()
		if err != nil {
			return nil, err
		}
		if f.Type != frame.TypeMethod {
			continue
		}
		if err := closing(f); err != nil {
			return nil, err
		}
		if f.MethodID() == id {
			m := amqp.NewMethod(id)
			return m, m.Decode(f.Arguments())
		}
	}
}

// closing returns the error that a method frame closes the channel or the connection with, nil for any other method.
func closing(f frame.Frame) error {
	switch f.MethodID() {
	case amqp.MethodConnectionClose:
		var m amqp.ConnectionClose
		if err := m.Decode(f.Arguments()); err != nil {
			return err
		}
		return &ClosedError{true, m.ReplyCode, m.ReplyText, methodID(m.ClassID, m.MethodID)}
	case amqp.MethodChannelClose:
		var m amqp.ChannelClose
		if err := m.Decode(f.Arguments()); err != nil {
			return err
		}
		return &ClosedError{false, m.ReplyCode, m.ReplyText, methodID(m.ClassID, m.MethodID)}
	}
	return nil
}

// methodID puts the two numbers of a close method together; both are 0 if it complains about no method.
func methodID(class, method uint16) amqp.MethodID {
	return amqp.MethodID(uint32(class)<<16 | uint32(method))
}

// next returns the next frame, which lives until the next call.
func (c *client) next() (frame.Frame, error) {
	for {
		f, n, err := frame.Parse(c.buf[c.start:c.end], c.frameMax)
		c.start += n
		if n > 0 || err != nil {
			return f, err
		}
		if err := c.fill(); err != nil {
			return frame.Frame{}, err
		}
	}
}

// batch calls each for all frames that are there, after waiting until there is one.
func (c *client) batch(each func(f frame.Frame) error) error {
	for seen := false; ; {
		f, n, err := frame.Parse(c.buf[c.start:c.end], c.frameMax)
		switch {
		case err != nil:
			return err
		case n == 0 && seen:
			return nil
		case n == 0:
			if err := c.fill(); err != nil {
				return err
			}
			continue
		}
		seen = true
		c.start += n
		if err := each(f); err != nil {
			return err
		}
	}
}

// Thousands of connections that have little to read keep small buffers; one that has much gets a large one, for fewer reads.
const (
	firstBuffer = 16 << 10
	readBuffer  = 256 << 10
)

// fill reads once, behind what is left over from before. The buffer grows when reads fill it, and as far as a frame asks for.
func (c *client) fill() error {
	full := c.end == len(c.buf)
	c.end = copy(c.buf, c.buf[c.start:c.end])
	c.start = 0
	if c.end == len(c.buf) || full && len(c.buf) < readBuffer {
		c.buf = append(c.buf, make([]byte, len(c.buf))...)
	}
	n, err := c.conn.Read(c.buf[c.end:])
	c.end += n
	if n > 0 {
		return nil
	}
	return hungUp(err)
}

// errHungUp is a socket that the broker closed without closing the connection.
var errHungUp = errors.New("the broker hung up")

// hungUp gives the many errors of a socket that is gone one name.
func hungUp(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return errHungUp
	}
	return err
}

// interrupt makes a read that waits, and every later one, fail at once with [os.ErrDeadlineExceeded].
func (c *client) interrupt() { c.conn.SetReadDeadline(time.Unix(1, 0)) }

// interrupted tells the error of a deadline that has passed, whoever set it.
func interrupted(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// close says goodbye and does not insist on an answer.
func (c *client) close() {
	c.conn.SetDeadline(time.Now().Add(min(c.timeout, time.Second)))
	if c.send(0, &amqp.ConnectionClose{ReplyCode: amqp.CodeReplySuccess, ReplyText: "done"}) == nil {
		for {
			f, err := c.next()
			if err != nil || f.Type == frame.TypeMethod && f.MethodID() == amqp.MethodConnectionCloseOk {
				break
			}
		}
	}
	c.conn.Close()
}
