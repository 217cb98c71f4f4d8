package server

import (
	"encoding/binary"
	"sync"

	"leveret/amqp"
	"leveret/frame"
	"leveret/queue"
)

const (
	// deliveryLimit is how many bytes of deliveries may wait in an outbox before queues have to look for other consumers.
	deliveryLimit = 1 << 20
	// deliveryLimitTight holds instead while all outboxes together are over their share of memory.
	deliveryLimitTight = 64 << 10
	// directLimit is how many bytes a queue or a reader writes by itself; more is the writer's work.
	directLimit = 32 << 10
	// shareBody is the size from which a body is not copied into the outgoing bytes but written from where it stands.
	// Messages in chunks are smaller than that, so nothing that is written refers to a chunk.
	shareBody = queue.MostOwned
)

// outbox is the outgoing side of a connection: the one mutex that queues and the connection's reader share. See the package comment.
type outbox struct {
	mu   sync.Mutex // guards everything here, and what channel and consumer mark as the outbox's
	conn *connection

	out        outgoing // appended, not yet on its way
	deliveries int      // bytes of deliveries in out and on their way
	onTheWay   int      // bytes that the writer has in hand
	sent       int      // bytes, heartbeats aside, that went on their way since a heartbeat was due
	touched    bool     // somebody appended and will flush
	writing    bool     // somebody writes
	closed     bool     // nothing is appended any more

	now        int64         // of the server's clock in ms, when it was touched: the time of deliveries
	channels   []*channel    // that are open
	watch      watch         // over deliveries that may take too long
	total      Octets        // that went on their way since the connection began
	waiters    []*consumer   // refused for lack of room, longest first
	confirming []*channel    // those with publisher confirms
	notices    []notice      // of consumers whose queue is gone, while
	held       bool          // the reader has to answer first
	blocked    bool          // connection.blocked was sent, and not taken back
	drained    chan struct{} // closed when the writer has written; nil when the reader does not wait for it
	tracing    bool          // deliveries are traced, as of the last Lock
	traces     []trace       // of deliveries, to be published at Unlock
	ack        amqp.BasicAck // the confirm in hand, here to be allocated once

	socket
}

// outgoing are bytes in the order in which they are to be written: bytes, interrupted by bodies that stand elsewhere.
type outgoing struct {
	bytes      []byte
	lent       *[]byte  // where bytes was borrowed; nil while there are none
	pieces     [][]byte // what comes before bytes[sealed:]
	sealed     int
	size       int // all bytes
	deliveries int // of these, deliveries
	beats      int // of these, heartbeats
}

// Lock locks the outbox for deliveries; see queue.Outbox.
func (o *outbox) Lock() {
	o.mu.Lock()
	o.tracing = o.conn.traced()
}

// Unlock ends deliveries.
func (o *outbox) Unlock() {
	traces := o.traces
	o.traces = nil
	o.mu.Unlock()
	if traces != nil {
		o.conn.publishTraces(traces)
	}
}

// Touch notes that the caller will flush; true if nobody else has promised to. The lock is held.
func (o *outbox) Touch() bool {
	if o.touched {
		return false
	}
	o.touched = true
	o.now = o.conn.server.now()
	return true
}

// reply appends a method; it is sent at the next flush.
func (o *outbox) reply(channel uint16, m amqp.Method) {
	o.mu.Lock()
	o.replyLocked(channel, m)
	o.mu.Unlock()
}

// replyLocked appends a method. A closed outbox takes no more: nobody will read it.
func (o *outbox) replyLocked(channel uint16, m amqp.Method) {
	if o.closed {
		return
	}
	o.start()
	before := len(o.out.bytes)
	o.out.bytes = frame.AppendMethod(o.out.bytes, channel, m)
	o.out.size += len(o.out.bytes) - before
}

// start gives the outbox a buffer to append to.
func (o *outbox) start() {
	if o.out.bytes == nil {
		o.out.lend()
	}
}

// content appends a method with content; the method's frame was appended before and began at byte start of out.bytes.
func (o *outgoing) content(channel uint16, frameMax uint32, properties, body []byte, start int) (size int) {
	o.bytes = frame.AppendContentHeader(o.bytes, channel, amqp.ClassBasic, uint64(len(body)), properties)
	if len(body) < shareBody {
		o.bytes = frame.AppendBody(o.bytes, channel, body, frameMax)
		size = len(o.bytes) - start
	} else {
		size = len(o.bytes) - start + len(body)
		size += o.share(channel, frameMax, body)
	}
	o.size += size
	return size
}

// share appends a large body as frames around slices of it, and returns the size of what stands around it.
func (o *outgoing) share(channel uint16, frameMax uint32, body []byte) (around int) {
	limit := len(body)
	if frameMax > 0 {
		limit = int(frameMax) - frame.Overhead
	}
	for len(body) > 0 {
		part := body[:min(limit, len(body))]
		body = body[len(part):]
		o.bytes = append(o.bytes, frame.TypeBody, byte(channel>>8), byte(channel))
		o.bytes = binary.BigEndian.AppendUint32(o.bytes, uint32(len(part)))
		o.seal()
		o.pieces = append(o.pieces, part)
		o.bytes = append(o.bytes, frame.End)
		around += frame.Overhead
	}
	return around
}

// seal closes the run of bytes at hand, so that what follows is written behind it.
func (o *outgoing) seal() {
	o.pieces = append(o.pieces, o.bytes[o.sealed:len(o.bytes):len(o.bytes)])
	o.sealed = len(o.bytes)
}

// roomLocked reports whether deliveries may be appended.
func (o *outbox) roomLocked() bool {
	return o.deliveries < deliveryLimit && (o.deliveries < deliveryLimitTight || !o.conn.server.memory.tight())
}

// resume wakes consumers that were refused.
func resume(waiters []*consumer) {
	for _, c := range waiters {
		c.Resume()
	}
}

var _ queue.Outbox = (*outbox)(nil)
