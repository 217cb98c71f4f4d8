package server

import (
	"io"
	"net"
	"syscall"

	"leveret/frame"
)

// input is the reading end of a connection's socket: a buffer that exists only while there is something in it, so that an idle connection
// costs none. It belongs to the reader.
type input struct {
	conn     net.Conn
	raw      syscall.RawConn // nil under TLS
	buf      []byte
	from     int // buf[from:to] is read and not yet consumed
	to       int
	idle     func()      // called before the reader waits for the socket
	frugal   func() bool // whether to read little at once
	crowded  func() bool // whether there are many connections
	got      int
	received uint64 // bytes, since the connection began
	err      error
	attempt  func(fd uintptr) bool
	early    bool // there is input that came with a proxy's header
	full     bool // the last read filled its buffer, so there may be more
}

func newInput(nc net.Conn, raw syscall.RawConn, c *connection) *input {
	in := &input{conn: nc, raw: raw, idle: c.idle, frugal: c.frugal, crowded: c.server.crowded}
	in.attempt = in.readNow
	if p, ok := nc.(*proxied); ok {
		in.buf, in.to, p.early = p.early, len(p.early), nil
		in.early = in.to > 0
	}
	return in
}

// pending are the bytes that were read and not consumed; valid until the next fill.
func (in *input) pending() []byte { return in.buf[in.from:in.to] }

// consume marks the first n pending bytes as done with.
func (in *input) consume(n int) { in.from += n }

// fill reads what the socket has, and waits until it has something. It keeps what is pending, and makes room for the frame that it begins.
func (in *input) fill() error {
	if in.early {
		in.early = false
		return nil
	}
	if in.raw == nil {
		return in.fillWaiting()
	}
	in.makeRoom()
	in.got, in.err = 0, nil
	if err := in.raw.Read(in.attempt); err != nil {
		return err
	}
	if in.err != nil {
		return in.err
	}
	if in.got == 0 {
		return io.EOF
	}
	in.to += in.got
	in.received += uint64(in.got)
	return nil
}

// room is where the next read goes.
func (in *input) room() []byte {
	room := in.buf[in.to:]
	if in.frugal() && len(room) > frugalRead {
		room = room[:frugalRead]
	}
	return room
}

// frugalRead is how much is read at once from a connection that is likely to be held with it.
const frugalRead = 4 << 10

// shrink keeps what is pending in just as much memory as it needs.
func (in *input) shrink() {
	if n := in.to - in.from; n < len(in.buf) {
		in.move(make([]byte, n))
	}
}

// waitingBuffer is how much room a connection that can't be asked whether it has input keeps while it waits for some.
const waitingBuffer = 4 << 10

// fillWaiting is fill for connections that can only be read by waiting, TLS above all: it waits with a small buffer, and has another read
// into a large one when more has come than fits.
func (in *input) fillWaiting() error {
	in.idle()
	if pending := in.to - in.from; in.to+waitingBuffer > len(in.buf) || in.from > 0 {
		switch {
		case !in.full:
			in.move(make([]byte, pending+waitingBuffer))
		case pending+waitingBuffer <= readBuffer:
			in.move(in.borrowed(pending))
		default:
			in.move(make([]byte, pending+min(pending, max(waitingBuffer, frame.Missing(in.pending())))))
		}
	}
	n, err := in.conn.Read(in.buf[in.to:])
	in.to += n
	in.received += uint64(n)
	in.full = in.to == len(in.buf)
	if n > 0 {
		return nil // an end that came along shows itself at the next read
	}
	return err
}

// readNow is one attempt to read; false makes the runtime wait until the socket is readable.
func (in *input) readNow(fd uintptr) bool {
	in.take()
	for {
		n, err := syscall.Read(int(fd), in.room())
		switch err {
		case nil:
			in.got = n
			return true
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			in.release()
			return false
		}
		in.err = err
		return true
	}
}

// makeRoom moves what is pending to the front and grows the buffer if a frame needs it. Growing goes by what has arrived: the buffer
// doubles, whatever length the frame claims.
func (in *input) makeRoom() {
	if in.buf == nil {
		return
	}
	if in.from > 0 {
		in.to = copy(in.buf, in.buf[in.from:in.to])
		in.from = 0
	}
	if in.to == 0 && len(in.buf) <= frugalBuffer && !in.frugal() {
		in.free() // what it had to do with in an alarm is too little for one that always has input
		return
	}
	if in.to < len(in.buf) || in.to < readBuffer {
		return
	}
	in.move(make([]byte, min(2*len(in.buf), in.to+max(frame.Missing(in.buf[:in.to]), 1))))
}

// take makes sure that there is a buffer with room.
func (in *input) take() {
	if in.to < len(in.buf) {
		return
	}
	in.move(in.borrowed(in.to))
}

// move carries what is pending over to another buffer.
func (in *input) move(to []byte) {
	n := copy(to, in.pending())
	in.free()
	in.buf, in.to = to, n
}

// smallPending is how much a waiting connection may keep in a buffer of just that size instead of a whole read buffer.
const smallPending = 32 << 10

// release gives the buffer back while the connection waits; the beginning of a frame that is in it is kept in as little memory as it needs,
// so that many clients that send slowly pin no more than what they have sent.
func (in *input) release() {
	in.idle()
	if in.from == in.to {
		in.free()
	} else if n := in.to - in.from; isBorrowed(in.buf) && n <= smallPending {
		in.move(make([]byte, n))
	}
}

func (in *input) free() {
	returnBuffer(in.buf)
	in.buf, in.from, in.to = nil, 0, 0
}
