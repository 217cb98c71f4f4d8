package server

import (
	"sync"
	"sync/atomic"
	"time"

	"leveret/frame"
)

// heartbeat sends a frame when nothing was sent for half the interval, and ends the connection after two intervals without a byte from
// the client. It is a timer without a goroutine.
//
// [connection.tune-ok heartbeat]: the client's value counts; 0 is none in both directions.
type heartbeat struct {
	mu      sync.Mutex
	timer   *time.Timer
	period  time.Duration
	stopped bool

	bytesIn atomic.Uint64 // counted by the reader, once a read
	seenIn  uint64
	silent  int  // intervals without input
	odd     bool // every second half interval looks at the input
}

// start begins beating for a connection.
func (h *heartbeat) start(c *connection, period time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.period = period
	h.timer = time.AfterFunc(period/2, func() { h.beat(c) })
}

// stop ends the timer for good. A beat that runs meanwhile sees it and does not start it again.
func (h *heartbeat) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	if h.timer != nil {
		h.timer.Stop()
	}
}

// received notes that the client sent something.
func (h *heartbeat) received() { h.bytesIn.Add(1) }

// beat is the timer's, each half interval: it sends if nothing else was sent, and each second time looks whether the client
// has sent anything.
func (h *heartbeat) beat(c *connection) {
	c.out.beat()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return
	}
	if h.odd = !h.odd; !h.odd && h.silence(c.blocked.Load() || c.waiting.Load()) {
		c.lost.Store(true)
		c.out.Conn.Close()
		return
	}
	h.timer.Reset(h.period / 2)
}

// silence reports, once an interval, whether two intervals in a row brought nothing. A client that is held back may not be read,
// and is not to blame for it.
func (h *heartbeat) silence(blocked bool) bool {
	in := h.bytesIn.Load()
	if in != h.seenIn || blocked {
		h.seenIn, h.silent = in, 0
		return false
	}
	h.silent++
	return h.silent >= 2
}

// beat appends a heartbeat when nothing was sent since the last beat.
func (o *outbox) beat() {
	o.mu.Lock()
	sent := o.sent
	o.sent = 0
	if sent > 0 || o.closed || o.out.size > 0 || o.writing {
		o.mu.Unlock()
		return
	}
	o.start()
	o.out.bytes = frame.AppendHeartbeat(o.out.bytes)
	o.out.size += frame.Overhead
	o.out.beats += frame.Overhead
	o.mu.Unlock()
	o.Flush(true)
}
