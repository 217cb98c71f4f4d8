package frame

import (
	"encoding/binary"

	"leveret/amqp"
)

// MaxBodySize is the most octets that the body of a message may have, whatever is configured.
const MaxBodySize = 512 << 20

// Content follows the frames of one channel [AMQP 0-9-1, 4.2.6]:
//
//	Idle --Begin--> Header --header frame--> Body --last body frame--> Idle
//	                   \--header frame of an empty body---------------> Idle
//
// The zero value is Idle. It keeps no octets, only what comes next, so its owner decides where properties and body go. It is not safe for
// concurrent use.
type Content struct {
	state  State
	method amqp.MethodID
	left   uint64 // octets of body still to come
}

// State is what a channel expects next.
type State uint8

// The states of a channel's content.
const (
	Idle   State = iota // a method
	Header              // the content header of the method in hand
	Body                // more body
)

// Event is what a frame meant.
type Event struct {
	// Type is the frame's type: TypeMethod, TypeHeader or TypeBody.
	Type byte
	// BodySize is the size of the whole body that a header announces.
	BodySize uint64
	// Payload aliases the frame's: the whole of a method frame, the encoded properties of a header, a piece of the body.
	Payload []byte
}

// Begin starts a method's content: the next frame must be its header. Only for methods with content, and only when Idle.
func (c *Content) Begin(id amqp.MethodID) {
	c.state, c.method = Header, id
}

// Reset drops what has come of a content.
func (c *Content) Reset() { *c = Content{} }

// State is what must come next.
func (c *Content) State() State { return c.state }

// Done tells whether the content is complete, or none has begun.
func (c *Content) Done() bool { return c.state == Idle }

// Method is the method whose content this is, or the last one was.
func (c *Content) Method() amqp.MethodID { return c.method }

// Left is how many octets of the body are still to come.
func (c *Content) Left() uint64 { return c.left }

// Frame takes the channel's next frame. A method is let through when Idle; if it has content, the owner calls Begin. The error is an
// *amqp.Error and ends the connection.
func (c *Content) Frame(f Frame) (Event, error) {
	switch c.state {
	case Header:
		return c.header(f)
	case Body:
		return c.body(f)
	}
	if f.Type != TypeMethod {
		return Event{}, amqp.ExpectedMethod()
	}
	return Event{Type: TypeMethod, Payload: f.Payload}, nil
}

func (c *Content) header(f Frame) (Event, error) {
	class := c.method.Class()
	if f.Type != TypeHeader || len(f.Payload) < contentHeaderSize || f.Payload[2] != 0 || f.Payload[3] != 0 {
		return Event{}, amqp.ExpectedHeader(class).At(c.method)
	}
	if got := binary.BigEndian.Uint16(f.Payload); got != class {
		return Event{}, amqp.ExpectedHeaderOfClass(class, got).At(c.method)
	}
	size := binary.BigEndian.Uint64(f.Payload[4:])
	if size > MaxBodySize {
		return Event{}, amqp.BodySizeTooLarge(size, MaxBodySize).At(c.method)
	}
	c.expectBody(size)
	return Event{Type: TypeHeader, BodySize: size, Payload: f.Payload[contentHeaderSize:]}, nil
}

func (c *Content) body(f Frame) (Event, error) {
	if f.Type != TypeBody {
		return Event{}, amqp.ExpectedBody().At(c.method)
	}
	if uint64(len(f.Payload)) > c.left {
		return Event{}, amqp.BodyTooLong().At(c.method)
	}
	c.expectBody(c.left - uint64(len(f.Payload)))
	return Event{Type: TypeBody, Payload: f.Payload}, nil
}

// expectBody says how much is to come; nothing more ends the content.
func (c *Content) expectBody(left uint64) {
	c.state, c.left = Body, left
	if left == 0 {
		c.state = Idle
	}
}
