package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/frame"
	"leveret/vhost"
)

// connState is where a connection stands. All transitions are in this file and in handshake.go.
type connState uint8

const (
	stateHeader   connState = iota // the protocol header is awaited
	stateStarting                  // connection.start was sent
	stateTuning                    // connection.tune was sent
	stateOpening                   // connection.open is awaited
	stateRunning
	stateClosing // connection.close was sent: only close and close-ok are looked at
	stateDone    // nothing that comes is looked at; the client closes the socket, or time does
)

// String is the state's name in error texts.
func (s connState) String() string {
	return [...]string{"header", "starting", "tuning", "opening", "running", "closing", "closed"}[s]
}

// lingerSilent is how long a connection stays open, unread, that failed before it was opened.
const lingerSilent = 3 * time.Second

// lingerMax is how long a client may take to answer connection.close or to close the socket after close-ok.
const lingerMax = 30 * time.Second

// connection is one client's connection. It belongs to its reader, the goroutine in serve, but for what outbox guards and for atomics.
type connection struct {
	server *Server
	id     uint64
	log    *slog.Logger
	name   string               // "client address -> server address"
	tls    *tls.ConnectionState // nil: a plain connection
	out    outbox
	in     *input

	state       connState
	ended       bool        // torn down
	broken      bool        // the input is no sequence of frames any more
	deadline    *time.Timer // closes the socket when the handshake, or the end, takes too long
	heart       heartbeat
	expiry      *time.Timer // ends the connection with its user's token; nil: there is none
	user        *auth.User
	rights      *auth.Rights
	vhost       *vhost.VHost
	entered     atomic.Pointer[entered] // where it is counted, for other goroutines to see
	client      clientProperties
	offered     *Tuning // in connection.tune
	frameMax    uint32  // of the negotiation; initialFrameMax before
	limit       uint16  // channels at once, 0: none
	channels    map[uint16]*channel
	last        *channel // the channel of the frame before
	publisher   publisher
	totals      *totals       // of the virtual host
	unconfirmed bool          // it is in the server's list of these, whose mutex guards it
	counted     Counters      // by the reader alone, made visible once a batch
	roomTaken   atomic.Int64  // bytes for half-read messages
	stall       stall         // of the goroutine that watches over these
	work        int           // burden of what was read at once, or since the connection got its place in the slow lane
	slow        bool          // it has such a place
	spoke       bool          // the client has sent something
	closed      []uint16      // numbers of channels whose close-ok may not be on its way yet: what comes there is dropped
	stop        chan struct{} // closed when the connection is to end, or its socket is gone: the reader waits for nothing else then
	stopOnce    sync.Once
	reason      atomic.Pointer[amqp.Error]
	late        atomic.Bool     // the deadline passed
	lost        atomic.Bool     // the heartbeat ran out
	held        <-chan struct{} // the next publish waits for this alarm to end
	visible     visible         // what others may see
	audited     *auditLog       // nil: nothing was
	blocked     atomic.Bool     // it has published while an alarm is on
	waiting     atomic.Bool     // held back by the log
}

// clientProperties is what the broker uses of the client's properties in connection.start-ok.
type clientProperties struct {
	cancelNotify    bool
	blockedNotify   bool
	failureClose    bool
	name            string
	product         string
	productVersion  string
	platform        string
	authMechanism   string
	connectedAt     time.Time
	properties      amqp.Table
	heartbeatPeriod time.Duration
}

// newConnection makes a connection that nobody has shaken hands with yet. Its name is RabbitMQ's: the client's address first.
func (s *Server) newConnection(nc net.Conn) *connection {
	c := &connection{
		server:   s,
		id:       s.ids.Add(1),
		name:     fmt.Sprintf("%s -> %s", nc.RemoteAddr(), nc.LocalAddr()),
		frameMax: initialFrameMax,
		stop:     make(chan struct{}),
		tls:      tlsState(nc),
	}
	c.log = s.log.With("connection", c.name)
	c.out.conn = c
	c.out.socket = newSocket(nc)
	c.in = newInput(nc, c.out.raw, c)
	c.client.connectedAt = time.Now()
	c.deadline = time.AfterFunc(s.options.HandshakeTimeout, func() {
		c.late.Store(true)
		nc.Close()
	})
	return c
}

// serve is the reader: it runs until the socket is closed by either side.
func (c *connection) serve() {
	err := c.read()
	c.deadline.Stop()
	c.heart.stop()
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.out.endWatch()
	c.teardown()
	c.giveRoom()
	c.publishCounters()
	c.out.fail()
	c.in.free()
	c.logEnd(err)
}

// read takes frames until there are no more.
func (c *connection) read() error {
	for {
		err := c.in.fill()
		switch {
		case err == nil:
			c.heart.received()
			c.publisher.now = time.Now().UnixMilli()
			c.publisher.overQuota = c.vhost != nil && c.vhost.Full()
			c.publisher.tracing = c.traced()
			c.work = 0
			c.handleInput()
			c.leaveSlowLane()
		case c.interrupted(err):
			c.lookAfterDeliveries()
		case c.reason.Load() != nil && c.state < stateClosing && !c.lost.Load():
			c.end(c.reason.Load())
			continue
		default:
			return err
		}
		c.handOver()
		c.publishCounters()
		c.out.Flush(true)
		c.closed = c.closed[:0]
		c.wait()
	}
}

// end closes the connection for a reason that is not the client's.
func (c *connection) end(reason *amqp.Error) {
	if c.server.stopping.Load() {
		c.handOver()
		c.awaitConfirms()
	}
	c.fail(nil, reason)
	c.out.Flush(true)
	c.out.Conn.SetReadDeadline(time.Time{})
}

// handleInput works on all complete frames that were read.
func (c *connection) handleInput() {
	if c.state == stateHeader && !c.protocolHeader() {
		return
	}
	if c.broken && bytes.Contains(c.in.pending(), closeOkFrame) {
		c.out.Conn.Close()
	}
	for c.state != stateDone {
		if c.held != nil && beginsPublish(c.in.pending()) {
			c.hold()
		}
		if n := c.wholePublish(); n > 0 {
			c.in.consume(n)
			continue
		}
		f, n, err := frame.Parse(c.in.pending(), c.frameMax)
		if err != nil {
			c.brokenFrame(err)
			return
		}
		if n == 0 {
			return
		}
		c.in.consume(n)
		c.takeTurn(f)
		c.handleFrame(f)
	}
	c.in.consume(len(c.in.pending()))
}

// brokenFrame ends a connection whose input is no frame: nothing behind it can be made sense of.
func (c *connection) brokenFrame(err error) {
	if c.state < stateClosing {
		c.fail(nil, err)
	}
	c.broken = true
	c.finish(lingerSilent)
	c.in.consume(len(c.in.pending()))
}

// closeOkFrame is what a client sends that has understood. It is all that is looked for behind a broken frame.
var closeOkFrame = frame.AppendMethod(nil, 0, &amqp.ConnectionCloseOk{})

// wait holds a publisher back while there is no room for what it sends; see the package comment.
func (c *connection) wait() {
	if c.state == stateRunning {
		c.publisher.waitRoom(c)
		c.holdHalfRead()
	}
	c.out.waitReplies()
}

// finish makes the connection deaf and gives the client d to close the socket.
func (c *connection) finish(d time.Duration) {
	c.state = stateDone
	c.deadline.Reset(d)
}

// linger is how long the client has to end things properly.
func (c *connection) linger() time.Duration {
	if h := c.client.heartbeatPeriod; h > 0 && h < lingerMax {
		return h
	}
	return lingerMax
}

// idle is called before the reader waits for input: an idle connection keeps no chunk to fill.
func (c *connection) idle() {
	if c.server.crowded() {
		c.publisher.setAside()
	}
	c.publisher.release()
}

// fail is the only place that turns an error into a close. Soft errors end the channel, hard ones and all that concern no
// channel end the connection. Whatever is no protocol error is a fault of ours: it is logged, and the client sees a 541 without details.
// Class and method of the failing method are filled in by the caller, by amqp.Error.At.
func (c *connection) fail(ch *channel, err error) {
	var e *amqp.Error
	if !errors.As(err, &e) {
		c.log.Error("internal error", "error", err)
		e = amqp.Internal()
	}
	if c.state == stateHeader { // no frame may be sent before the headers agree
		c.state = stateDone
		c.out.Conn.Close()
		return
	}
	c.handOver()
	if ch != nil && e.Soft() {
		c.log.Warn("channel error", "channel", ch.number, "error", e.Text, "method", methodName(e))
		c.failChannel(ch, e)
		return
	}
	if c.state < stateOpening && e.Code != amqp.CodeConnectionForced && !c.explained(e) {
		c.log.Warn("handshake failed", "error", e.Text)
		c.finish(lingerSilent)
		return
	}
	c.log.Warn("connection error", "error", e.Text, "method", methodName(e))
	c.teardown()
	c.out.reply(0, &amqp.ConnectionClose{ReplyCode: e.Code, ReplyText: e.Text, ClassID: e.Class, MethodID: e.Method})
	linger := c.linger()
	if c.state < stateOpening {
		linger = lingerSilent
	}
	c.state = stateClosing
	c.deadline.Reset(linger)
}

// explained reports whether an error before connection.open is told to the client: refused limits are, unlike in other brokers, and
// refused logins when the client says that it understands.
func (c *connection) explained(e *amqp.Error) bool {
	return e.Class == amqp.MethodConnectionTune.Class() && e.Method == amqp.MethodConnectionTune.Method() ||
		e.Code == amqp.CodeAccessRefused && c.client.failureClose
}

// methodName is the method that an error is about, for the log; empty if it is about none.
func methodName(e *amqp.Error) string {
	if e.Class == 0 {
		return ""
	}
	return amqp.MethodID(uint32(e.Class)<<16 | uint32(e.Method)).String()
}

// teardown ends all channels: unacked messages come back, consumers and exclusive queues go. It may be called twice.
func (c *connection) teardown() {
	if c.vhost == nil {
		return
	}
	c.handOver()
	for _, ch := range c.channels {
		c.endChannel(ch)
	}
	c.channels, c.last = nil, nil
	if c.ended {
		return
	}
	c.ended = true
	c.visible.open.Store(false)
	defer c.leave() // last: a virtual host that is deleted waits for the exclusive queues to be gone
	c.server.forgetRunning()
	c.tellConnection("connection.closed")
	c.endAudit()
	if c.server.stopping.Load() {
		return // exclusive queues end with the broker anyway, and must not take lasting exchanges with them
	}
	if err := c.vhost.DeleteOwned(c.owner()); err != nil {
		c.log.Error("an exclusive queue could not be removed from the store", "error", err)
	}
}

// kill makes the reader end the connection with an error; it may be called from any goroutine.
func (c *connection) kill(e *amqp.Error) {
	if c.reason.CompareAndSwap(nil, e) {
		c.stopWaiting()
		c.out.Conn.SetReadDeadline(time.Unix(1, 0))
		c.deadline.Reset(lingerMax)
	}
}

// stopWaiting ends whatever the reader waits for, its socket aside.
func (c *connection) stopWaiting() { c.stopOnce.Do(func() { close(c.stop) }) }

// logEnd writes the connection's last line. A probe that sent nothing is no news.
func (c *connection) logEnd(err error) {
	switch {
	case c.lost.Load():
		c.log.Warn(fmt.Sprintf("missed heartbeats from client, timeout: %ds", int(c.client.heartbeatPeriod.Seconds())))
	case c.late.Load() && c.state < stateRunning:
		c.log.Warn("handshake timed out", "state", c.state.String())
	case !c.spoke && errors.Is(err, io.EOF):
		c.log.Debug("connection closed before it sent anything")
	case c.state == stateDone || c.state == stateClosing:
		c.log.Info("connection closed")
	case errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed):
		c.log.Warn("client closed the socket without closing the connection", "state", c.state.String())
	default:
		c.log.Warn("connection lost", "state", c.state.String(), "error", err)
	}
}
