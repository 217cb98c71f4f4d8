package management_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"leveret/amqp"
)

// client is an AMQP client of a rig with channel 1 open, for what no HTTP call does: consuming, and settling one by one.
type client struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// patience is how long a client waits for an answer.
const patience = time.Minute

// client connects as guest.
func (r *rig) client() *client {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.amqp)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.clientOn(nc, nil)
}

// clientOn speaks AMQP as guest on a connection that is there. The properties are what a client tells of itself.
func (r *rig) clientOn(nc net.Conn, properties amqp.Table) *client {
	r.t.Helper()
	r.t.Cleanup(func() { nc.Close() })
	c := &client{t: r.t, conn: nc, in: bufio.NewReader(nc)}
	if _, err := nc.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		r.t.Fatal(err)
	}
	c.expect(amqp.MethodConnectionStart)
	c.send(0, &amqp.ConnectionStartOk{ClientProperties: properties, Mechanism: "PLAIN", Locale: "en_US", Response: []byte("\x00guest\x00guest")})
	c.expect(amqp.MethodConnectionTune)
	c.send(0, &amqp.ConnectionTuneOk{FrameMax: 131072, ChannelMax: 8}, &amqp.ConnectionOpen{VirtualHost: "/"})
	c.expect(amqp.MethodConnectionOpenOk)
	c.send(1, &amqp.ChannelOpen{})
	c.expect(amqp.MethodChannelOpenOk)
	return c
}

// send writes methods.
func (c *client) send(channel uint16, methods ...amqp.Method) {
	c.t.Helper()
	var out []byte
	for _, m := range methods {
		payload := m.AppendTo(binary.BigEndian.AppendUint32(nil, uint32(m.ID())))
		out = append(out, methodFrame, byte(channel>>8), byte(channel))
		out = append(append(binary.BigEndian.AppendUint32(out, uint32(len(payload))), payload...), frameEnd)
	}
	if _, err := c.conn.Write(out); err != nil {
		c.t.Fatal(err)
	}
}

// expect reads up to a method and past what else comes, contents for one.
func (c *client) expect(want amqp.MethodID) {
	c.t.Helper()
	c.await(want)
}

// await is expect, and returns the method's payload.
func (c *client) await(want amqp.MethodID) []byte {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		kind, payload, err := c.frame()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", want, err)
		}
		if kind == methodFrame && amqp.MethodID(binary.BigEndian.Uint32(payload)) == want {
			return payload[:len(payload)-1]
		}
	}
}

const (
	methodFrame = 1
	frameEnd    = 0xce
)

// frame reads a frame.
func (c *client) frame() (kind byte, payload []byte, err error) {
	var head [7]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	_, err = io.ReadFull(c.in, payload)
	return head[0], payload, err
}

// consume starts a consumer and waits for as many deliveries as are said.
func (c *client) consume(queue, tag string, deliveries int) {
	c.t.Helper()
	c.send(1, &amqp.BasicConsume{Queue: queue, ConsumerTag: tag})
	c.expect(amqp.MethodBasicConsumeOk)
	c.delivered(deliveries)
}

func (c *client) delivered(deliveries int) {
	c.t.Helper()
	for range deliveries {
		c.expect(amqp.MethodBasicDeliver)
	}
}

// sync waits until all that was sent has been worked off.
func (c *client) sync() {
	c.t.Helper()
	c.send(1, &amqp.BasicQos{})
	c.expect(amqp.MethodBasicQosOk)
}

// eventually waits until something holds that the broker does by itself.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := contextOf(patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: it does not", what)
		}
	}
}
