package interop

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// A wire is a connection on which the test decides about every frame. What it reads it copies, so all of it may be kept.
type wire struct {
	t      *testing.T
	conn   net.Conn
	frames *frame.Reader
	tune   amqp.ConnectionTuneOk // as agreed
}

// offer is what the broker is expected to propose; a test that asks for less changes a copy.
func offer() amqp.ConnectionTuneOk {
	return amqp.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 60}
}

// dialWire opens a connection to the shared broker with the default tuning, and channel 1 on it.
func dialWire(t *testing.T) *wire {
	t.Helper()
	w := tunedWire(t, offer())
	w.open(1)
	return w
}

// tunedWire opens a connection with that tuning and the capabilities named, and no channel.
func tunedWire(t *testing.T, tune amqp.ConnectionTuneOk, capabilities ...string) *wire {
	t.Helper()
	w := startWire(t, shared, capabilities...)
	w.send(0, &tune)
	w.tune = tune
	call[*amqp.ConnectionOpenOk](w, 0, &amqp.ConnectionOpen{VirtualHost: "/"})
	return w
}

// startWire goes through the handshake until the broker has offered its limits.
func startWire(t *testing.T, b *broker, capabilities ...string) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	w := &wire{t: t, conn: conn, frames: frame.NewReader(conn, 0), tune: offer()}
	w.write([]byte("AMQP\x00\x00\x09\x01"))
	expect[*amqp.ConnectionStart](w, 0)
	var can amqp.Table
	for _, name := range capabilities {
		can = append(can, amqp.Field{Name: name, Value: true})
	}
	w.send(0, &amqp.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest"), Locale: "en_US",
		ClientProperties: amqp.Table{{Name: "capabilities", Value: can}}})
	tune := expect[*amqp.ConnectionTune](w, 0)
	if got := (amqp.ConnectionTuneOk{ChannelMax: tune.ChannelMax, FrameMax: tune.FrameMax, Heartbeat: tune.Heartbeat}); b == shared && got != offer() {
		t.Errorf("the broker offers %+v, want %+v", got, offer())
	}
	return w
}

// write sends octets as they are. An error is left to the next read, which shows why the broker closed.
func (w *wire) write(octets []byte) {
	w.conn.SetWriteDeadline(time.Now().Add(patience))
	w.conn.Write(octets)
}

// send writes methods, each in a frame, at once.
func (w *wire) send(channel uint16, methods ...amqp.Method) {
	var octets []byte
	for _, m := range methods {
		octets = frame.AppendMethod(octets, channel, m)
	}
	w.write(octets)
}

// open opens channels.
func (w *wire) open(channels ...uint16) {
	w.t.Helper()
	for _, channel := range channels {
		call[*amqp.ChannelOpenOk](w, channel, &amqp.ChannelOpen{})
	}
}

// message is a message to be published in frames of the agreed size.
func (w *wire) message(channel uint16, publish amqp.BasicPublish, p amqp.Properties, body []byte) []byte {
	octets := frame.AppendMethod(nil, channel, &publish)
	octets = frame.AppendContentHeader(octets, channel, classBasic, uint64(len(body)), p.AppendTo(nil))
	return frame.AppendBody(octets, channel, body, w.tune.FrameMax)
}

// classBasic is the class of content.
const classBasic = 60

// publish sends a message without properties to a queue.
func (w *wire) publish(channel uint16, queue, body string) {
	w.write(w.message(channel, amqp.BasicPublish{RoutingKey: []byte(queue)}, amqp.Properties{}, []byte(body)))
}

// queue declares a fresh queue on the channel.
func (w *wire) queue(channel uint16) string {
	w.t.Helper()
	queue := freshQueue(w.t)
	call[*amqp.QueueDeclareOk](w, channel, &amqp.QueueDeclare{Queue: queue})
	return queue
}

// count asks for the number of ready messages, among them all that were published on this channel before.
func (w *wire) count(channel uint16, queue string) int {
	w.t.Helper()
	return int(call[*amqp.QueueDeclareOk](w, channel, &amqp.QueueDeclare{Queue: queue, Passive: true}).MessageCount)
}

// read returns the next frame, or the error that ended the connection.
func (w *wire) read() (frame.Frame, error) {
	w.conn.SetReadDeadline(time.Now().Add(patience))
	f, err := w.frames.Next()
	f.Payload = bytes.Clone(f.Payload)
	return f, err
}

// next returns the next frame that is no heartbeat.
func (w *wire) next() frame.Frame {
	w.t.Helper()
	for {
		f, err := w.read()
		if err != nil {
			w.t.Fatalf("read: %v", err)
		}
		if f.Type != frame.TypeHeartbeat {
			return f
		}
	}
}

// expect wants the next frame to be that method on that channel.
func expect[M amqp.Method](w *wire, channel uint16) M {
	w.t.Helper()
	f := w.next()
	var want M
	if f.Type == frame.TypeMethod && f.Channel == channel {
		if m, ok := amqp.NewMethod(f.MethodID()).(M); ok {
			if err := m.Decode(f.Arguments()); err != nil {
				w.t.Fatal(err)
			}
			return m
		}
	}
	w.t.Fatalf("got %s, want %s on channel %d", frame.Dump(f), want.ID(), channel)
	return want
}

// call sends a method and wants that answer.
func call[M amqp.Method](w *wire, channel uint16, m amqp.Method) M {
	w.t.Helper()
	w.send(channel, m)
	return expect[M](w, channel)
}

// A content is what follows a deliver, return or get-ok.
type content struct {
	amqp.Properties
	header int   // octets of the header frame's payload
	frames []int // octets of each body frame's payload
	body   []byte
}

// content reads the header and body of a message.
func (w *wire) content(channel uint16) content {
	w.t.Helper()
	f := w.next()
	if f.Type != frame.TypeHeader || f.Channel != channel {
		w.t.Fatalf("got %s, want a content header on channel %d", frame.Dump(f), channel)
	}
	var assembly frame.Content
	assembly.Begin(amqp.MethodBasicDeliver)
	event, err := assembly.Frame(f)
	if err != nil {
		w.t.Fatal(err)
	}
	c := content{header: len(f.Payload)}
	if c.Properties, err = amqp.DecodeProperties(event.Payload); err != nil {
		w.t.Fatal(err)
	}
	for !assembly.Done() {
		f := w.next()
		if _, err := assembly.Frame(f); err != nil || f.Channel != channel {
			w.t.Fatalf("got %s, want a body on channel %d (%v)", frame.Dump(f), channel, err)
		}
		c.frames = append(c.frames, len(f.Payload))
		c.body = append(c.body, f.Payload...)
	}
	return c
}

// delivery reads a delivery with that body.
func (w *wire) delivery(channel uint16, body string) *amqp.BasicDeliver {
	w.t.Helper()
	m := expect[*amqp.BasicDeliver](w, channel)
	if got := w.content(channel).body; string(got) != body {
		w.t.Fatalf("delivery of %q, want %q", got, body)
	}
	return m
}

// get fetches the next message of a queue, which must be there.
func (w *wire) get(channel uint16, queue string) (*amqp.BasicGetOk, content) {
	w.t.Helper()
	m := call[*amqp.BasicGetOk](w, channel, &amqp.BasicGet{Queue: queue})
	return m, w.content(channel)
}

// wantClosed wants the channel to be closed with that code and a text that holds the words, and agrees to it.
func (w *wire) wantClosed(channel uint16, code uint16, words string) *amqp.ChannelClose {
	w.t.Helper()
	m := expect[*amqp.ChannelClose](w, channel)
	if m.ReplyCode != code || !strings.Contains(m.ReplyText, words) {
		w.t.Errorf("channel closed with %d %q, want %d %q", m.ReplyCode, m.ReplyText, code, words)
	}
	w.send(channel, &amqp.ChannelCloseOk{})
	return m
}

// wantEnd wants the connection to be closed with that code and a text that holds the words, and to end after close-ok.
func (w *wire) wantEnd(code uint16, words string) {
	w.t.Helper()
	m := expect[*amqp.ConnectionClose](w, 0)
	if m.ReplyCode != code || !strings.Contains(m.ReplyText, words) {
		w.t.Errorf("connection closed with %d %q, want %d %q", m.ReplyCode, m.ReplyText, code, words)
	}
	w.send(0, &amqp.ConnectionCloseOk{})
	if f, err := w.read(); !ended(err) {
		w.t.Errorf("got %s, %v after close-ok, want the end", frame.Dump(f), err)
	}
}

// ended tells whether an error of a read means that the broker has closed the connection.
func ended(err error) bool {
	var timeout net.Error
	return err != nil && (errors.Is(err, io.EOF) || !errors.As(err, &timeout) || !timeout.Timeout())
}
