package server_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/queue"
	"leveret/store"
)

// onAlarm plays on a server whose alarm is the test's to raise and end, with a memory limit of the test's own.
func onAlarm(t *testing.T, limit uint64, play func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		o.MemoryLimit = limit
		r := newRig(t, o, store.NewMemory())
		defer r.stop()
		play(t, r)
	})
}

// A client that dies while an alarm holds it is found out by its heartbeats, and what it had not acked comes back: the alarm may not end
// before somebody else gets it.
func TestClientThatDiesInAnAlarm(t *testing.T) {
	onAlarm(t, 0, func(t *testing.T, r *rig) {
		c := r.pipe()
		defer c.conn.Close()
		if err := c.opening(opening{heartbeat: 10}); err != nil {
			t.Fatal(err)
		}
		c.declare("q")
		publish(c, "q", nil, false)
		c.call(1, &amqp.BasicGet{Queue: "q"}, amqp.MethodBasicGetOk)
		if _, err := c.content(); err != nil {
			t.Fatal(err)
		}
		r.HoldAlarm(true)
		publish(c, "none", nil, false)
		c.expect(amqp.MethodConnectionBlocked)
		publish(c, "none", nil, false) // is held: the server does not read that the client is gone
		c.conn.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := r.Stats(); s.Connections != 0 || s.Contents.Unacked != 0 || s.Contents.Ready != 1 {
			t.Errorf("%d connections, %d messages unacked and %d ready; want the one message ready", s.Connections, s.Contents.Unacked, s.Contents.Ready)
		}
	})
}

// halfSent is how much of a message's body a test sends before it waits: more than a header gets on its word.
const halfSent = 100 << 10

// sendHalf begins a message of twice that size and sends the first half.
func (c *client) sendHalf(queue string) {
	c.t.Helper()
	c.add(1, &amqp.BasicPublish{RoutingKey: []byte(queue)})
	c.out = frame.AppendContentHeader(c.out, 1, amqp.ClassBasic, 2*halfSent, []byte{0, 0})
	c.out = frame.AppendBody(c.out, 1, make([]byte, halfSent), 131072)
	c.mustFlush()
	synctest.Wait()
}

// sendHalfUnread is sendHalf for a server that may not read it.
func (c *client) sendHalfUnread(queue string) {
	b := frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte(queue)})
	b = frame.AppendContentHeader(b, 1, amqp.ClassBasic, 2*halfSent, []byte{0, 0})
	c.conn.SetWriteDeadline(time.Time{})
	c.conn.Write(frame.AppendBody(b, 1, make([]byte, halfSent), 131072))
}

// takes reports whether the server reads the next octet of a frame in the next second.
func (c *client) takes(octet byte) bool {
	c.conn.SetWriteDeadline(time.Now().Add(time.Second))
	n, err := c.conn.Write([]byte{octet})
	if err != nil && !isTimeout(err) {
		c.t.Error(err)
	}
	return n == 1
}

// In the middle of a large message a client is not read on while an alarm is on, for as long as that may be, if such messages take little
// of the memory there is. It goes on when the alarm is over.
func TestHalfReadMessageWaitsForTheAlarmsEnd(t *testing.T) {
	onAlarm(t, 1<<30, func(t *testing.T, r *rig) {
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		c.declare("q")
		c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "t", NoAck: true}, amqp.MethodBasicConsumeOk)
		r.HoldAlarm(true)
		c.sendHalf("q")
		c.expect(amqp.MethodConnectionBlocked)
		rest := frame.AppendBody(nil, 1, make([]byte, halfSent), 131072)
		if c.takes(rest[0]) {
			t.Error("read on during the alarm")
		}
		time.Sleep(time.Hour)
		if c.takes(rest[0]) {
			t.Error("read on after an hour of the alarm")
		}
		r.HoldAlarm(false)
		c.expect(amqp.MethodConnectionUnblocked)
		c.out = rest
		c.mustFlush()
		c.expect(amqp.MethodBasicDeliver)
		if body, err := c.content(); err != nil || len(body) != 2*halfSent {
			t.Errorf("a body of %d octets came (%v), want %d", len(body), err, 2*halfSent)
		}
	})
}

// A client that is in the middle of a message when an alarm begins is told that it is held, and is not taken for dead because nothing is read of it.
func TestAlarmInTheMiddleOfAMessage(t *testing.T) {
	onAlarm(t, 1<<30, func(t *testing.T, r *rig) {
		c := r.pipe()
		defer c.conn.Close()
		if err := c.opening(opening{heartbeat: 10}); err != nil {
			t.Fatal(err)
		}
		c.declare("q")
		c.sendHalf("q")
		r.HoldAlarm(true)
		rest := frame.AppendBody(nil, 1, make([]byte, halfSent), 131072)
		if !c.takes(rest[0]) { // by whoever was reading when the alarm began
			t.Fatal("nothing more is read")
		}
		c.expect(amqp.MethodConnectionBlocked)
		for begun := time.Now(); time.Since(begun) < time.Minute; {
			if f, err := c.next(); err != nil || f.Type != frame.TypeHeartbeat {
				t.Fatalf("after %s: got %s (%v), want a heartbeat", time.Since(begun), frame.Dump(f), err)
			}
		}
		r.HoldAlarm(false)
		c.expect(amqp.MethodConnectionUnblocked)
		c.out = rest[1:]
		c.mustFlush()
		if m := c.call(1, &amqp.QueueDeclare{Queue: "q", Passive: true}, amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk); m.MessageCount != 1 {
			t.Errorf("%d messages are in the queue, want the one", m.MessageCount)
		}
	})
}

// What has come of a message is no reason to hold a client if that is little.
func TestLittleOfAMessageIsReadOnInAnAlarm(t *testing.T) {
	onAlarm(t, 1, func(t *testing.T, r *rig) {
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		c.declare("q")
		r.HoldAlarm(true)
		c.add(1, &amqp.BasicPublish{RoutingKey: []byte("q")})
		c.out = frame.AppendContentHeader(c.out, 1, amqp.ClassBasic, 1000, []byte{0, 0})
		c.mustFlush()
		c.expect(amqp.MethodConnectionBlocked)
		c.out = frame.AppendBody(c.out, 1, make([]byte, 1000), 131072)
		c.mustFlush()
		if m := c.call(1, &amqp.QueueDeclare{Queue: "q", Passive: true}, amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk); m.MessageCount != 1 {
			t.Errorf("%d messages are in the queue, want the one", m.MessageCount)
		}
		r.HoldAlarm(false)
	})
}

// A message that is larger than all the room for half-read ones, and stands still in an alarm that it may be the reason of, is ended.
func TestHalfReadMessageThatKeepsTheAlarmOn(t *testing.T) {
	onAlarm(t, 10*(halfSent-1), func(t *testing.T, r *rig) {
		c := r.pipe()
		defer c.conn.Close()
		if err := c.opening(opening{plain: true}); err != nil {
			t.Fatal(err)
		}
		r.HoldAlarm(true)
		c.sendHalf("none")
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if n := r.Stats().Connections; n != 1 {
			t.Errorf("%d connections, want the one", n)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if n := r.Stats().Connections; n != 0 {
			t.Errorf("%d connections, want it ended", n)
		}
		r.HoldAlarm(false)
	})
}

// Large messages are read on while there is room for all that they announce. Who comes after that waits unread until the others have finished,
// or until those that send nothing have been ended.
func TestHalfReadMessagesShareTheRoom(t *testing.T) {
	const share = 4*halfSent + halfSent // two have room for what they announce, a third has not
	onAlarm(t, 10*share, func(t *testing.T, r *rig) {
		var clients []*client
		for range 4 {
			c := r.pipe()
			defer c.conn.Close()
			if err := c.opening(opening{plain: true}); err != nil {
				t.Fatal(err)
			}
			c.declare("q")
			clients = append(clients, c)
		}
		var read atomic.Int32
		for _, c := range clients {
			go func() {
				c.sendHalfUnread("q")
				read.Add(1)
			}()
			synctest.Wait()
		}
		if n := read.Load(); n != 2 {
			t.Errorf("%d are read, there is room for two", n)
		}
		rest := frame.AppendBody(nil, 1, make([]byte, halfSent), 131072)
		clients[0].out = append(clients[0].out[:0], rest...) // it finishes, which makes room
		clients[0].mustFlush()
		synctest.Wait()
		if got := r.RoomTaken(); got < 4*halfSent || got > share {
			t.Errorf("%d bytes of room are taken", got)
		}
		for range 8 {
			time.Sleep(time.Second)
			r.EndStalled(time.Now())
			synctest.Wait()
		}
		if n := r.Stats().Connections; n != 3 {
			t.Errorf("%d connections are left, want one ended, which made room for the last", n)
		}
		for _, c := range clients {
			c.conn.Close()
		}
		synctest.Wait()
		if got := r.RoomTaken(); got != 0 {
			t.Errorf("%d bytes of room are taken by nobody", got)
		}
	})
}

// Who waits for room, a hundred here, keeps what it has sent and no more: no chunk for the messages to come and no buffer to read into.
func TestWhoWaitsForRoomKeepsLittle(t *testing.T) {
	onAlarm(t, 10*2*halfSent, func(t *testing.T, r *rig) {
		const waiting = 100
		var clients []*client
		for range 1 + waiting {
			c := r.pipe()
			defer c.conn.Close()
			if err := c.opening(opening{plain: true}); err != nil {
				t.Fatal(err)
			}
			clients = append(clients, c)
		}
		clients[0].sendHalf("q") // takes all the room
		before := heapInUse()
		for _, c := range clients[1:] {
			go c.sendHalfUnread("q")
		}
		synctest.Wait()
		sent := waiting * halfSent // is the test's own
		if more := heapInUse() - before - sent; more > waiting*queue.ChunkSize/2 {
			t.Errorf("each takes %d bytes", more/waiting)
		}
		for _, c := range clients {
			c.conn.Close()
		}
	})
}

// heapInUse is how many bytes of memory hold something.
func heapInUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools held before goes in the second
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// Clients that connect for each message do not get past an alarm: who comes during it is told, and held, at the first publish.
func TestWhoComesDuringAnAlarmIsHeldAtOnce(t *testing.T) {
	onAlarm(t, 1, func(t *testing.T, r *rig) {
		before := r.pipe()
		defer before.conn.Close()
		before.mustOpen()
		before.declare("q")
		r.HoldAlarm(true)
		late := r.pipe()
		defer late.conn.Close()
		late.mustOpen()
		publish(late, "q", nil, false)
		late.expect(amqp.MethodConnectionBlocked)
		ready := func() uint32 {
			m := before.call(1, &amqp.QueueDeclare{Queue: "q", Passive: true}, amqp.MethodQueueDeclareOk)
			return m.(*amqp.QueueDeclareOk).MessageCount
		}
		if n := ready(); n != 0 {
			t.Errorf("%d messages got past the alarm", n)
		}
		r.HoldAlarm(false)
		late.expect(amqp.MethodConnectionUnblocked)
		late.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
		if n := ready(); n != 1 {
			t.Errorf("%d messages after the alarm, want the one that was held", n)
		}
	})
}
