package server

import (
	"net"
	"sync"
	"syscall"
)

// keepBuffer is the largest outgoing buffer that is used again.
const keepBuffer = 2 * deliveryLimit

// buffers are for small answers: 4 KiB hold a few hundred confirms.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// lend gives what is to be sent an empty buffer, perhaps a large one that another connection has done with.
func (o *outgoing) lend() {
	o.lent = buffers.Get().(*[]byte)
	o.bytes = *o.lent
}

// giveBack lets others use the buffer of what was sent.
func (o *outgoing) giveBack() {
	if o.lent != nil && cap(o.bytes) <= keepBuffer {
		*o.lent = o.bytes[:0]
		buffers.Put(o.lent)
	}
}

// socket is the writing end of a connection's socket. Its fields belong to whoever writes; see outbox.writing.
type socket struct {
	net.Conn
	raw     syscall.RawConn // nil under TLS: there is no writing without waiting
	now     []byte          // what writeNow writes, and
	written int             // how far it came
	err     error
	attempt func(fd uintptr) bool // writeNow's step, made once
}

// newSocket gets hold of the file descriptor where there is one, for writes that do not block.
func newSocket(c net.Conn) socket {
	s := socket{Conn: c}
	switch c := c.(type) {
	case *net.TCPConn:
		s.raw, _ = c.SyscallConn()
	case *proxied:
		s.raw, _ = c.SyscallConn()
	}
	return s
}

// writeNow writes what the socket takes without waiting and returns how much that was.
func (s *socket) writeNow(b []byte) (int, error) {
	if s.attempt == nil {
		s.attempt = func(fd uintptr) bool {
			s.written, s.err = syscall.Write(int(fd), s.now)
			return true
		}
	}
	s.now = b
	if err := s.raw.Write(s.attempt); err != nil {
		return 0, err
	}
	s.now = nil
	if s.err == syscall.EAGAIN || s.err == syscall.EINTR {
		return 0, nil
	}
	return max(s.written, 0), s.err
}

// Flush sends what was appended. Direct: what is little is written at once, as far as the socket takes it; the rest, and everything
// else, is the work of a writer that runs until nothing is left. See queue.Outbox.
func (o *outbox) Flush(direct bool) {
	o.mu.Lock()
	o.touched = false
	if o.writing || o.out.size == 0 {
		o.mu.Unlock()
		return
	}
	o.writing = true
	if !direct || o.raw == nil || o.out.size > directLimit || len(o.out.pieces) > 0 {
		o.conn.server.writers.Add(1)
		o.mu.Unlock()
		go o.write(nil, nil)
		return
	}
	out := o.takeLocked()
	o.mu.Unlock()
	o.writeDirect(out)
}

// writeDirect writes in the goroutine of whoever appended, as far as the socket takes it at once; a writer does the rest.
func (o *outbox) writeDirect(out outgoing) {
	n, err := o.writeNow(out.bytes)
	o.mu.Lock()
	if err != nil || n < len(out.bytes) {
		o.conn.server.writers.Add(1)
		o.mu.Unlock()
		rest := out // which alone is allocated
		go o.write(&rest, rest.bytes[n:])
		return
	}
	more, waiters := o.wroteLocked(&out)
	if more {
		o.conn.server.writers.Add(1)
	}
	o.mu.Unlock()
	out.giveBack()
	resume(waiters)
	if more {
		go o.write(nil, nil)
	}
}

// takeLocked takes what was appended, for writing.
func (o *outbox) takeLocked() outgoing {
	out := o.out
	o.out = outgoing{}
	o.onTheWay = out.size
	o.sent += out.size - out.beats
	o.total.Bytes += uint64(out.size)
	o.total.Calls++
	return out
}

// wroteLocked accounts for what was written. It returns whether more has come in meanwhile, else the writing is over, and the consumers that have room again.
func (o *outbox) wroteLocked(out *outgoing) (more bool, waiters []*consumer) {
	o.onTheWay = 0
	o.deliveries -= out.deliveries
	if o.deliveries < deliveryLimit/2 {
		waiters, o.waiters = o.waiters, nil
	}
	if o.drained != nil {
		close(o.drained)
		o.drained = nil
	}
	more = o.out.size > 0
	o.writing = more
	return more, waiters
}

// write is the writer: it writes the rest of what somebody else began, if any, and then whatever was appended until nothing is left. It
// waits for the socket, and ends when the socket is closed.
func (o *outbox) write(begun *outgoing, rest []byte) {
	defer o.conn.server.writers.Done()
	var err error
	if begun != nil {
		_, err = o.Conn.Write(rest)
	}
	for err == nil {
		o.mu.Lock()
		var waiters []*consumer
		more := true
		if begun != nil {
			more, waiters = o.wroteLocked(begun)
		}
		var out outgoing
		if more {
			out = o.takeLocked()
		}
		o.mu.Unlock()
		if begun != nil {
			begun.giveBack()
		}
		resume(waiters)
		if !more {
			return
		}
		err = o.send(&out)
		begun = &out
	}
	o.fail()
}

// send writes one lot of outgoing bytes, waiting for the socket.
func (o *outbox) send(out *outgoing) error {
	if len(out.pieces) == 0 {
		_, err := o.Conn.Write(out.bytes)
		return err
	}
	out.seal()
	pieces := net.Buffers(out.pieces)
	_, err := pieces.WriteTo(o.Conn)
	return err
}

// fail ends an outbox whose socket does not take bytes any more; the reader finds out by itself and cleans up.
func (o *outbox) fail() {
	o.mu.Lock()
	o.closed = true
	o.out = outgoing{}
	o.writing = false
	if o.drained != nil {
		close(o.drained)
		o.drained = nil
	}
	o.mu.Unlock()
	o.Conn.Close()
	o.conn.stopWaiting()
}

// overReplies reports whether more replies wait than may pile up.
func (o *outbox) overReplies() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.overRepliesLocked()
}

// overRepliesLocked tells whether the client has so many answers to read that no more should be made: deliveries do not count,
// as queues bound these.
func (o *outbox) overRepliesLocked() bool {
	return !o.closed && o.out.size+o.onTheWay-o.deliveries >= int(o.conn.server.replyRoom.Load())
}

// waitReplies blocks the reader while more replies wait than a client that reads nothing may pile up. It is asked before each read and
// before each method that is answered with content, as one read may hold thousands of them.
func (o *outbox) waitReplies() {
	for {
		o.mu.Lock()
		if !o.overRepliesLocked() {
			o.mu.Unlock()
			return
		}
		if o.drained == nil {
			o.drained = make(chan struct{})
		}
		drained := o.drained
		o.mu.Unlock()
		o.conn.leaveSlowLane()
		o.Flush(true)
		select {
		case <-drained:
		case <-o.conn.stop:
			return
		}
	}
}
