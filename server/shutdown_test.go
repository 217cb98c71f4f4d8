package server_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/server"
	"leveret/store"
)

// closingTime is what Close may take at most with clients that don't help.
const closingTime = 31 * time.Second

// connectionState is one that a connection can be in when the server closes.
type connectionState struct {
	name    string
	prepare func(t *testing.T, r *rig, c *client)
	told    bool // the client is told
	late    bool // the client's answer is not understood
}

// connectionStates are all of them.
var connectionStates = []connectionState{
	{name: "silent", prepare: func(*testing.T, *rig, *client) {}},
	{name: "half a header", prepare: func(_ *testing.T, _ *rig, c *client) { c.write("AMQP") }},
	{name: "starting", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.write(string(protocolHeader))
		c.expect(amqp.MethodConnectionStart)
	}, told: true},
	{name: "tuning", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.write(string(protocolHeader))
		c.expect(amqp.MethodConnectionStart)
		c.call(0, opening{}.startOk(), amqp.MethodConnectionTune)
	}, told: true},
	{name: "opening", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.write(string(protocolHeader))
		c.expect(amqp.MethodConnectionStart)
		c.call(0, opening{}.startOk(), amqp.MethodConnectionTune)
		c.send(0, &amqp.ConnectionTuneOk{FrameMax: 4096, ChannelMax: 1})
	}, told: true},
	{name: "refused", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.write(string(protocolHeader))
		c.expect(amqp.MethodConnectionStart)
		c.send(0, &amqp.ConnectionStartOk{Mechanism: "PLAIN"})
	}},
	{name: "running", prepare: func(_ *testing.T, _ *rig, c *client) { c.mustOpen() }, told: true},
	{name: "consuming", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.mustOpen()
		c.declare("q")
		c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t"}, amqp.MethodBasicConsumeOk)
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("x"))
		c.mustFlush()
	}, told: true},
	{name: "in the middle of a frame", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.mustOpen()
		c.write("\x01\x00\x01\x00\x00")
	}, told: true, late: true},
	{name: "in the middle of a message", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.mustOpen()
		c.send(1, &amqp.BasicPublish{})
	}, told: true},
	{name: "blocked by an alarm", prepare: func(_ *testing.T, r *rig, c *client) {
		c.mustOpen()
		c.declare("q")
		r.HoldAlarm(true)
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("x"))
		c.mustFlush()
		c.expect(amqp.MethodConnectionBlocked)
	}, told: true},
	{name: "held by an alarm", prepare: func(_ *testing.T, r *rig, c *client) {
		c.mustOpen()
		r.HoldAlarm(true)
		for range 2 {
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("x"))
			c.mustFlush()
			synctest.Wait()
		}
	}, told: true},
	{name: "held in the middle of a message", prepare: func(_ *testing.T, r *rig, c *client) {
		c.mustOpen()
		r.HoldAlarm(true)
		c.sendHalf("q")
		c.expect(amqp.MethodConnectionBlocked)
	}, told: true},
	{name: "held by its own replies", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.mustOpen()
		for range server.ReplyLimit>>20 + 1 {
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nobody"), Mandatory: true}, nil, make([]byte, 1<<20))
		}
		flood := c.out
		c.out = nil
		go c.conn.Write(flood) // is not taken to its end
	}, told: true, late: true},
	{name: "closing a channel", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.mustOpen()
		c.call(1, &amqp.BasicGet{Queue: "none"}, amqp.MethodChannelClose)
	}, told: true},
	{name: "closed by the server", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.mustOpen()
		c.call(1, &amqp.ChannelOpen{}, amqp.MethodConnectionClose)
	}},
	{name: "closed by the client", prepare: func(_ *testing.T, _ *rig, c *client) {
		c.mustOpen()
		c.call(0, &amqp.ConnectionClose{}, amqp.MethodConnectionCloseOk)
	}},
}

func (c *client) write(octets string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(octets)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) mustOpen() {
	c.t.Helper()
	if err := c.opening(opening{}); err != nil {
		c.t.Fatal(err)
	}
}

// Close tells clients that are far enough to understand it, and ends in time in every state, if the client answers, if it only reads, and if
// it does neither.
func TestCloseInEveryState(t *testing.T) {
	for _, state := range connectionStates {
		for _, client := range []string{"answers", "reads", "is deaf"} {
			t.Run(state.name+"/"+client, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { closeInState(t, state, client) })
			})
		}
	}
}

func closeInState(t *testing.T, state connectionState, client string) {
	r := newRig(t, testOptions(), store.NewMemory())
	c := r.pipe()
	defer c.conn.Close()
	state.prepare(t, r, c)
	synctest.Wait()
	answers := client == "answers"
	closeInTime(t, r, answers && state.told && !state.late, func() {
		if client == "is deaf" {
			return
		}
		if told := hearClose(t, c, answers); told != state.told {
			t.Errorf("connection.close 320 was sent: %t, want %t", told, state.told)
		}
	})
}

// closeInTime closes a server while its client does what it does: at once, or in the time that Close may take.
func closeInTime(t *testing.T, r *rig, atOnce bool, client func()) {
	t.Helper()
	from := time.Now()
	done := make(chan error)
	ctx, cancel := context.WithTimeout(context.Background(), closingTime)
	defer cancel()
	go func() { done <- r.Close(ctx) }()
	client()
	err := <-done
	if took := time.Since(from); err != nil || took > closingTime || atOnce && took > time.Second {
		t.Errorf("Close took %s: %v", took, err)
	}
	if n := r.Stats().Connections; n != 0 {
		t.Errorf("%d connections are counted after Close", n)
	}
}

// hearClose reads until the connection ends, and reports whether the server gave 320 as its reason.
func hearClose(t *testing.T, c *client, answer bool) (told bool) {
	t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			if !ended(err) {
				t.Errorf("want the end: %v", err)
			}
			return told
		}
		if f.Type != frame.TypeMethod || f.MethodID() != amqp.MethodConnectionClose {
			continue
		}
		var m amqp.ConnectionClose
		if err := m.Decode(f.Arguments()); err != nil {
			t.Fatal(err)
		}
		if m.ReplyCode == amqp.CodeConnectionForced {
			told = true
			if want := "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"; m.ReplyText != want {
				t.Errorf("reply text %q, want %q", m.ReplyText, want)
			}
		}
		if answer {
			c.add(0, &amqp.ConnectionCloseOk{})
			if err := c.flush(); err != nil && !ended(err) {
				t.Error(err)
			}
		}
	}
}

// Close keeps its bound through sockets too, with clients that publish, that consume without reading, and that say nothing.
func TestCloseWithClientsThatDontHelp(t *testing.T) {
	r := start(t, testOptions())
	r.dial()
	stuck := r.open()
	stuck.declare("q")
	stuck.send(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t", NoAck: true})
	p := r.open()
	fill(p, "q", 200, 64<<10)
	flood := r.open()
	flooding := make(chan struct{})
	go func() {
		defer close(flooding)
		for {
			flood.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("none"), Mandatory: true}, nil, make([]byte, 1<<10))
			if flood.flush() != nil {
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	from := time.Now()
	err := r.Close(ctx)
	if took := time.Since(from); !errors.Is(err, context.DeadlineExceeded) || took > closingTime/2 {
		t.Errorf("Close took %s and said %v, want about 300ms and the context's error", took, err)
	}
	<-flooding
}

// Nobody is let in after Close.
func TestClosedServerTakesNobody(t *testing.T) {
	r := newRig(t, testOptions(), store.NewMemory())
	if err := r.Listen(); err != nil {
		t.Fatal(err)
	}
	r.Serve()
	r.stop()
	plain, _ := r.Addresses()
	if nc, err := net.Dial("tcp", plain[0]); err == nil {
		nc.Close()
		t.Error("connected after Close")
	}
	c := r.pipe()
	if _, err := c.conn.Read(make([]byte, 1)); !ended(err) {
		t.Errorf("a connection handed over after Close was kept: %v", err)
	}
}
