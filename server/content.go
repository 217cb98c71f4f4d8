package server

import (
	"bytes"
	"sync"

	"leveret/amqp"
	"leveret/frame"
	"leveret/queue"
)

const (
	// ownMemory is the size above which a message gets a chunk or memory of its own.
	ownMemory = queue.MostInChunk
	// trustedSize is how much memory a content header gets on its word alone; beyond, memory grows with what arrives.
	trustedSize = 64 << 10
	// leastTrusted holds instead where there are many connections, or what comes may have to wait.
	leastTrusted = 16 << 10
)

// unfinished are chunks of publishers that have gone idle.
var unfinished sync.Pool

// content is the message that a channel is in the middle of. The message is built where it will stay, in the publisher's chunk; a
// second channel that begins a message meanwhile, and large messages, use memory of their own.
type content struct {
	state      frame.Content
	message    []byte // address, properties and body, as far as they have come
	properties int    // their length
	total      int    // what the message will be in length
	mandatory  bool
	immediate  bool
	tooLarge   uint64 // the announced size, when it is over the limit
	drop       bool   // nothing of it is kept
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
	t.mandatory, t.immediate, t.tooLarge, t.drop = m.Mandatory, m.Immediate, 0, false
	room := p.room(ch)
	if least := amqp.MessageHeadSize + 2 + len(m.Exchange) + len(m.RoutingKey); least > cap(room) {
		room = p.move(ch, least, least)
	}
	t.message = amqp.AppendMessageAddress(room, m.Exchange, m.RoutingKey)
	m.Exchange, m.RoutingKey = nil, nil // they alias the read buffer
	return nil
}

// dropContent begins a content of which nothing is kept.
func (t *content) dropContent(id amqp.MethodID) {
	t.state.Begin(id)
	t.message, t.drop = nil, true
}

// contentFrame handles a frame on a channel that is in the middle of a message, or that should be.
func (c *connection) contentFrame(ch *channel, f frame.Frame) error {
	t := &ch.content
	event, err := t.state.Frame(f)
	if err != nil {
		return err
	}
	switch {
	case t.drop:
	case event.Type == frame.TypeHeader:
		c.contentHeader(ch, event.BodySize, event.Payload)
	default:
		t.message = append(t.grown(len(event.Payload)), event.Payload...)
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

// grown returns the message with room for n more bytes. It doubles, up to what was announced: memory follows what has come.
func (t *content) grown(n int) []byte {
	m := t.message
	if len(m)+n <= cap(m) {
		return m
	}
	return append(make([]byte, 0, min(t.total, max(2*cap(m), len(m)+n))), m...)
}

// contentHeader takes the properties and makes room for the body.
func (c *connection) contentHeader(ch *channel, size uint64, properties []byte) {
	t := &ch.content
	t.properties = len(properties)
	t.total = len(t.message) + len(properties) + int(size)
	c.publisher.published = true
	if size > c.server.options.MaxMessageSize {
		t.tooLarge, t.drop = size, true
		return
	}
	c.publisher.half = true
	if t.total > ownMemory || t.total > cap(t.message) {
		t.message = c.publisher.move(ch, t.total, min(t.total, c.trusted()))
	}
	t.message = append(t.message, properties...)
}

// trusted is how much a content header is trusted at this moment.
func (c *connection) trusted() int {
	if c.frugal() || c.server.crowded() {
		return leastTrusted
	}
	return trustedSize
}

// room returns memory to begin a message in: the rest of the chunk, unless another channel is building there.
func (p *publisher) room(ch *channel) []byte {
	if p.building != nil && p.building != ch {
		return nil
	}
	p.building = ch
	if p.chunk == nil {
		if k, ok := unfinished.Get().(*queue.Chunk); ok {
			p.chunk = k
		} else {
			p.chunk = queue.NewChunk()
		}
	}
	return p.rest()
}

// rest is the empty rest of the chunk.
func (p *publisher) rest() []byte {
	b := p.chunk.Bytes
	return b[len(b):len(b):cap(b)]
}

// move finds a place for a message that does not fit where it was begun: in a chunk, or memory of its own for as much as there is to be room at once.
func (p *publisher) move(ch *channel, total, room int) []byte {
	begun := ch.content.message
	if total <= ownMemory && p.building == ch {
		full := p.chunk
		p.chunk = queue.NewChunk()
		m := append(p.rest(), begun...)
		full.Retire() // not before what was begun in it is copied
		return m
	}
	p.drop(ch)
	return append(make([]byte, 0, max(room, len(begun))), begun...)
}

// place finds a place for a message all of which is there, and that does not fit into the rest of the chunk.
func (p *publisher) place(ch *channel, total int) []byte {
	if total <= ownMemory || total > queue.MostOwned {
		return p.move(ch, total, total)
	}
	p.drop(ch)
	p.owned = queue.NewOwned(total)
	return p.owned.Bytes
}

// keep makes a finished message lasting and returns it with its chunk, nil if it has memory of its own. The next one begins behind it.
func (p *publisher) keep(ch *channel) (amqp.Message, *queue.Chunk) {
	m := ch.content.message
	ch.content.message = nil
	if k := p.owned; k != nil {
		p.owned = nil
		k.Bytes = m
		return m[:len(m):len(m)], k
	}
	if p.building != ch {
		return m[:len(m):len(m)], nil
	}
	p.building = nil
	k := p.chunk
	start := len(k.Bytes)
	k.Bytes = k.Bytes[:start+len(m)]
	return k.Bytes[start : start+len(m) : start+len(m)], k
}

// drop forgets the message that a channel was building.
func (p *publisher) drop(ch *channel) {
	if p.building == ch {
		p.building = nil
	}
	p.owned = nil
	ch.content.message = nil
}

// setAside takes what has come of a message out of the chunk, into memory of just that size. A client that does not go on keeps no more than that.
func (p *publisher) setAside() {
	if ch := p.building; ch != nil {
		begun := bytes.Clone(ch.content.message)
		p.drop(ch)
		ch.content.message = begun
	}
}

// release gives the unfinished chunk away while the connection has nothing to do, for the next to fill on.
func (p *publisher) release() {
	if len(p.plain) == 0 {
		p.index = amqp.PropertyIndex{} // it may alias a chunk
	}
	if p.building == nil && p.chunk != nil {
		unfinished.Put(p.chunk)
		p.chunk = nil
	}
}
