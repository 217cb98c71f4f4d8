package server

import (
	"encoding/binary"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// While an alarm is on, a connection that publishes is told (connection.blocked), and held at its next publish: not before, so that a
// client which heeds the notice can go on to ack what it was delivered, and make room. A connection that is opened during the alarm is held at
// its first publish, or clients that connect for each message would get past it. Nothing that a client sent is dropped. The publisher's reader
// looks for the alarm after each batch in which something was published.
//
// [connection.blocked]: an extension of RabbitMQ: sent once an alarm, to clients that announced it and have published.

// noteAlarm makes a connection that has just published one that is held at its next publish, if an alarm is on.
func (c *connection) noteAlarm() {
	alarm := c.server.alarms.wait()
	if alarm == nil || c.held == alarm {
		return
	}
	c.held = alarm
	c.block()
	if c.server.alarms.wait() == nil {
		c.unblock() // it ended meanwhile, and whoever ended it may not have seen this connection
	}
}

// beginsPublish reports whether the input goes on with the method frame of a publish.
func beginsPublish(in []byte) bool {
	return len(in) >= publishLeast && in[0] == frame.TypeMethod &&
		amqp.MethodID(binary.BigEndian.Uint32(in[frame.HeaderSize:])) == amqp.MethodBasicPublish
}

// hungUpInterval is how often a connection that is held is asked whether its client is still there.
const hungUpInterval = time.Second

// hold keeps the reader before a publish until the alarm is over or the connection is to end. What was gathered goes to the queues first, and
// the connection keeps no more memory than the input that was read. A client that hangs up meanwhile is noticed, since what it holds may be
// what keeps the alarm on.
func (c *connection) hold() {
	alarm := c.held
	c.held = nil
	if c.server.alarms.wait() != alarm {
		return // over; one that has begun since then is another
	}
	c.leaveSlowLane()
	c.handOver()
	c.publishCounters()
	c.block()
	c.out.Flush(true)
	c.standStill(alarm, func() bool { return false })
}

// keepLittle has a reader that is about to wait for long keep no more memory than what has come: no buffer and no chunk with room for more, of
// which a thousand connections would have so much that it might be what they wait for.
func (c *connection) keepLittle() {
	c.publisher.setAside()
	c.publisher.release()
	c.in.shrink()
}

// standStill keeps the reader until the alarm is over or the connection is to end. Once a second it asks whether the client has hung up or
// the wait is hopeless, and ends the connection then.
func (c *connection) standStill(alarm <-chan struct{}, hopeless func() bool) {
	c.keepLittle()
	tick := time.NewTicker(hungUpInterval)
	defer tick.Stop()
	for {
		select {
		case <-alarm:
			return
		case <-c.stop:
			return
		case <-tick.C:
		}
		if c.out.hungUp() || hopeless() {
			c.out.Conn.Close()
			return
		}
	}
}

// block notes that the connection is blocked, and tells the client if it wants to know.
func (c *connection) block() {
	c.blocked.Store(true)
	if !c.client.blockedNotify {
		return
	}
	c.out.mu.Lock()
	if !c.out.blocked {
		c.out.blocked = true
		c.out.replyLocked(0, &amqp.ConnectionBlocked{Reason: c.server.alarms.reason()})
	}
	c.out.mu.Unlock()
	c.out.Flush(true)
}

// unblock takes that back. It may be called from any goroutine.
func (c *connection) unblock() {
	c.blocked.Store(false)
	c.out.mu.Lock()
	told := c.out.blocked
	if told {
		c.out.blocked = false
		c.out.replyLocked(0, &amqp.ConnectionUnblocked{})
	}
	c.out.mu.Unlock()
	if told {
		c.out.Flush(false)
	}
}

// memoryAlarm notes the beginning and the end of a shortage of memory.
func (s *Server) memoryAlarm(on bool) {
	if on {
		s.log.Warn("memory alarm: publishers are held back", "used", s.memory.used.Load(), "limit", s.memory.limit.Load())
	} else {
		s.log.Info("memory alarm is over", "used", s.memory.used.Load())
	}
	s.alarmChanged(lowMemory, on)
}

// diskAlarm notes the beginning and the end of a shortage of disk.
func (s *Server) diskAlarm(on bool) {
	if on {
		s.log.Warn("disk alarm: publishers are held back")
	} else {
		s.log.Info("disk alarm is over")
	}
	s.alarmChanged(lowDisk, on)
}

// alarmChanged notes what was found, and tells the clients of the end of the last shortage.
func (s *Server) alarmChanged(what shortage, on bool) {
	s.tellAlarm(what, on)
	s.tellUnblocked(s.alarms.set(what, on))
}

// tellUnblocked tells those that were told of an alarm that the last one is over.
func (s *Server) tellUnblocked(over bool) {
	if !over {
		return
	}
	for _, c := range s.snapshot() {
		c.unblock()
	}
}
