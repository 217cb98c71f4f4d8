package server

import (
	"sync"

	"leveret/amqp"
	"leveret/frame"
)

const (
	// chunkSize is the size of the pieces of memory that messages are built in, one behind the other.
	chunkSize = 128 << 10
	// ownMemory is the size from which a message gets memory of its own.
	ownMemory = chunkSize / 4
	// trustedSize is how much memory a content header gets on its word alone; beyond, memory grows with what arrives.
	trustedSize = 1 << 20
)

var chunks = sync.Pool{New: func() any { b := make([]byte, 0, chunkSize); return &b }}

// content is the message that a channel is in the middle of. The message is built where it will stay, in the publisher's chunk; a
// second channel that begins a message meanwhile, and large messages, use memory of their own.
type content struct {
	state      frame.Content
	message    []byte // address, properties and body, as far as they have come
	properties int    // their length
	mandatory  bool
	immediate  bool
	tooLarge   uint64 // the announced size, when it is over the limit: the body is dropped as it comes
}

// beginPublish handles the method of a publish: header and body follow.
func (c *connection) beginPublish(ch *channel, arguments []byte) error {
	p := &c.publisher
	m := &p.method
	if err := m.Decode(arguments); err != nil {
		return err
	}
	if ch.toSettle {
		c.applySettles()
	}
	t := &ch.content
	t.state.Begin(amqp.MethodBasicPublish)
	t.mandatory, t.immediate, t.tooLarge = m.Mandatory, m.Immediate, 0
	t.message = amqp.AppendMessageAddress(p.room(ch), m.Exchange, m.RoutingKey)
	return nil
}

// contentFrame handles a frame on a channel that is in the middle of a message, or that should be.
func (c *connection) contentFrame(ch *channel, f frame.Frame) error {
	t := &ch.content
	event, err := t.state.Frame(f)
	if err != nil {
		return err
	}
	switch {
	case event.Type == frame.TypeHeader:
		c.contentHeader(ch, event.BodySize, event.Payload)
	case t.tooLarge == 0:
		t.message = append(t.message, event.Payload...)
	}
	if !t.state.Done() {
		return nil
	}
	if id := t.state.Method(); id != amqp.MethodBasicPublish {
		return amqp.UnimplementedMethod().At(id)
	}
	if ch.closing {
		c.publisher.drop(ch)
		return nil
	}
	return c.publish(ch)
}

// contentHeader takes the properties and makes room for the body.
func (c *connection) contentHeader(ch *channel, size uint64, properties []byte) {
	t := &ch.content
	t.properties = len(properties)
	if size > c.server.options.MaxMessageSize {
		t.tooLarge = size
		return
	}
	if total := len(t.message) + len(properties) + int(size); total > ownMemory || total > cap(t.message) {
		t.message = c.publisher.move(ch, total)
	}
	t.message = append(t.message, properties...)
}

// room returns memory to begin a message in: the rest of the chunk, unless another channel is building there.
func (p *publisher) room(ch *channel) []byte {
	if p.building != nil && p.building != ch {
		return nil
	}
	if cap(p.chunk)-len(p.chunk) < amqp.MessageHeadSize+2*256 {
		p.chunk = make([]byte, 0, chunkSize)
	}
	p.building = ch
	return p.chunk[len(p.chunk):len(p.chunk):cap(p.chunk)]
}

// move finds a place for a message that does not fit where it was begun.
func (p *publisher) move(ch *channel, total int) []byte {
	begun := ch.content.message
	if total <= ownMemory && p.building == ch {
		p.chunk = make([]byte, 0, chunkSize)
		return append(p.chunk, begun...)
	}
	p.drop(ch)
	return append(make([]byte, 0, min(total, trustedSize)), begun...)
}

// keep makes a finished message lasting and returns it: the next one begins behind it.
func (p *publisher) keep(ch *channel) amqp.Message {
	m := ch.content.message
	ch.content.message = nil
	if p.building != ch {
		return m[:len(m):len(m)]
	}
	p.building = nil
	start := len(p.chunk)
	p.chunk = p.chunk[:start+len(m)]
	return p.chunk[start : start+len(m) : start+len(m)]
}

// drop forgets the message that a channel was building.
func (p *publisher) drop(ch *channel) {
	if p.building == ch {
		p.building = nil
	}
	ch.content.message = nil
}

// release gives the unfinished chunk back while the connection has nothing to do, for the next to fill on.
func (p *publisher) release() {
	if p.building != nil || p.chunk == nil {
		return
	}
	b := p.chunk[len(p.chunk):len(p.chunk):cap(p.chunk)]
	p.chunk = nil
	if cap(b) >= ownMemory {
		chunks.Put(&b)
	}
}
