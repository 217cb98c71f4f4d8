// Package amqp holds the words of AMQP 0-9-1: its methods and properties (generated from internal/gen/protocol.txt), field tables, and the
// errors that end channels and connections, with every reply text that the broker sends.
//
// Nothing here does I/O, starts a goroutine or keeps state, so all of it may be called from anywhere; a method or table that is being
// decoded into belongs to the caller. What Decode returns is copied from its input, except fields of type []byte in basic.publish, return,
// deliver and get-ok, which alias it, and PropertyIndex: those live as long as the input's buffer.
//
// Decoders never panic and never allocate more than a small multiple of the octets that are really there, whatever lengths the input claims.
package amqp

//go:generate go run ./internal/gen

// Method is one AMQP method with its arguments. Only this package implements it.
type Method interface {
	// ID tells which method it is.
	ID() MethodID
	// AppendTo appends the arguments, without the ids, as they stand on the wire.
	AppendTo(dst []byte) []byte
	// Decode reads the arguments, without the ids. It fails with an *Error 501 that carries the method's ids.
	Decode(src []byte) error
	// visit shows each argument by name, in order; printing and parsing of text are built on it.
	visit(v visitor)
}

// MethodID is a method's id as it stands on the wire: the class number in the upper 16 bits, the method's number in the lower.
type MethodID uint32

// Class is the class number.
func (id MethodID) Class() uint16 { return uint16(id >> 16) }

// Method is the method's number in its class.
func (id MethodID) Method() uint16 { return uint16(id) }

// String is the method's name, such as "queue.declare", or its numbers if it has none.
func (id MethodID) String() string {
	if name := id.name(); name != "" {
		return name
	}
	return formatMethodNumbers(id)
}
