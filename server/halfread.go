package server

import (
	"sync"
	"sync/atomic"
	"time"
)

// A message that has come half is memory that no queue, no limit and no consumer can free: its client alone can. So large messages need room before
// they are read on, as much as they announce, and there is a bounded amount of it for all. Whoever gets none is not read, which it notices as
// backpressure; whoever holds some and sends nothing while others wait is ended. A message that is larger than all room gets it when nobody
// else has any.

// halfReadShare is which part of the memory limit half-read messages may take.
const halfReadShare = 10

// halfReadPatience is how long a connection may stand still in the middle of a large message while others wait for room, or an alarm is on.
const halfReadPatience = 5 * time.Second

// halfRead is the room of all connections.
type halfRead struct {
	mu      sync.Mutex
	taken   int64
	freed   signal
	waiting atomic.Int32 // connections
}

// take gives a connection more room in place of what it has; false if there is not enough.
func (h *halfRead) take(has, wants, limit int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wants > has && h.taken > has && h.taken-has+wants > limit {
		return false
	}
	h.taken += wants - has
	if wants < has {
		h.freed.notify()
	}
	return true
}

// holdHalfRead is called when the reader is about to read on. It waits for room if the connection is in the middle of large messages, and for
// the end of an alarm.
func (c *connection) holdHalfRead() {
	if !c.publisher.half {
		return
	}
	announced, come := c.half()
	c.publisher.half = announced > 0
	if announced <= c.trusted() {
		announced = 0
	}
	if limit := int64(c.server.memory.limit.Load()); limit > 0 {
		c.awaitRoom(announced, limit/halfReadShare)
	}
	if alarm := c.server.alarms.wait(); alarm != nil && come > leastTrusted {
		c.noteAlarm() // which may have begun since the message did: the client is to know, and not to be blamed for what is not read
		c.holdInAlarm(alarm, come)
	}
}

// frugal reports whether to read little at once: what comes may have to wait, and wait in memory. A thousand connections that are held in an alarm
// with all that fits into a buffer would keep the alarm on by that alone. A client that has not opened its connection sends little in any case.
func (c *connection) frugal() bool {
	return c.state < stateRunning || c.held != nil || c.server.half.waiting.Load() > 0 || c.server.alarms.any.Load()
}

// half is how many bytes messages have announced whose rest has not come, and how many of them have come.
func (c *connection) half() (announced, come int) {
	for _, ch := range c.channels {
		t := &ch.content
		if t.state.Done() || t.drop {
			continue
		}
		announced, come = announced+t.total, come+len(t.message)
	}
	return announced, come
}

// awaitRoom waits until the connection has room for so many bytes.
func (c *connection) awaitRoom(announced int, limit int64) {
	h := &c.server.half
	wants := int64(announced)
	if wants == c.roomTaken.Load() {
		return
	}
	for {
		freed := h.freed.wait()
		if h.take(c.roomTaken.Load(), wants, limit) {
			c.roomTaken.Store(wants)
			return
		}
		if !c.awaitFreed(freed) {
			return
		}
	}
}

// awaitFreed waits for the next time that room is given back, false if the connection is to end. The client is not to blame for its silence.
func (c *connection) awaitFreed(freed <-chan struct{}) bool {
	h := &c.server.half
	h.waiting.Add(1)
	defer h.waiting.Add(-1)
	c.waiting.Store(true)
	defer c.waiting.Store(false)
	c.keepLittle()
	tick := time.NewTicker(hungUpInterval)
	defer tick.Stop()
	for {
		select {
		case <-freed:
			return true
		case <-c.stop:
			return false
		case <-tick.C:
		}
		if c.out.hungUp() {
			c.out.Conn.Close()
			return false
		}
	}
}

// giveRoom gives back all that an ended connection has.
func (c *connection) giveRoom() {
	if has := c.roomTaken.Swap(0); has > 0 {
		c.server.half.take(has, 0, 0)
	}
}

// holdInAlarm keeps the reader from reading on while an alarm is on. Messages that take so much memory that they themselves may keep it on are
// ended after a while.
func (c *connection) holdInAlarm(alarm <-chan struct{}, size int) {
	m := c.server.memory
	m.halfRead.Add(int64(size))
	defer m.halfRead.Add(-int64(size))
	begun := time.Now()
	c.standStill(alarm, func() bool {
		if time.Since(begun) < halfReadPatience || m.mayHold(uint64(m.halfRead.Load())) {
			return false
		}
		c.log.Warn("memory alarm: connection ended in the middle of a message", "bytes", size)
		return true
	})
}

// stall is what the watching goroutine knows of a connection that has room.
type stall struct {
	reads uint64
	since time.Time
}

// endStalled ends a connection that has room and does nothing with it while others wait: one at a time, since that may be enough. It is called
// about once a second.
func (s *Server) endStalled(now time.Time) {
	if s.half.waiting.Load() == 0 || s.alarms.any.Load() {
		return
	}
	for _, c := range s.snapshot() {
		reads := c.heart.bytesIn.Load()
		switch {
		case c.roomTaken.Load() == 0 || reads != c.stall.reads || c.waiting.Load():
			c.stall = stall{reads, now}
		case now.Sub(c.stall.since) >= halfReadPatience:
			c.log.Warn("connection ended in the middle of a message: it sends nothing, and others wait for the memory", "bytes", c.roomTaken.Load())
			c.out.Conn.Close()
			return
		}
	}
}
