// Package frame cuts the octets of an AMQP 0-9-1 connection into frames and puts frames together [AMQP 0-9-1, 4.2.3]:
//
//	0      1         3      7              size+7   size+8
//	+------+---------+------+---------------+-------+
//	| type | channel | size |    payload    | 0xCE  |
//	+------+---------+------+---------------+-------+
//
// It also follows the order of method, header and body frames on a channel (Content), and prints frames as lines and reads them back.
//
// Nothing here does I/O except Reader, and nothing starts a goroutine. Parse, Content and the Append functions do not allocate, apart from
// growing dst and from errors. All errors about a peer's octets are *amqp.Error.
package frame

import (
	"encoding/binary"

	"leveret/amqp"
)

// Frame types.
const (
	TypeMethod    = 1
	TypeHeader    = 2
	TypeBody      = 3
	TypeHeartbeat = 8
)

const (
	// HeaderSize is the size of what stands before the payload.
	HeaderSize = 7
	// Overhead is the size of a frame without its payload. Frame-max, which both sides agree on, counts it.
	Overhead = 8
	// End is the octet that ends a frame.
	End = 0xCE
	// MinSize is the smallest frame-max that may be agreed on.
	MinSize = 4096

	methodIDSize      = 4  // class and method
	contentHeaderSize = 12 // class, weight and body size
)

// Frame is one frame. Payload aliases the buffer that was parsed and lives as long as it; its capacity ends with it.
type Frame struct {
	Type    byte
	Channel uint16
	Payload []byte
}

// MethodID is the method that a method frame carries; Parse has checked that it is there.
func (f Frame) MethodID() amqp.MethodID { return amqp.MethodID(binary.BigEndian.Uint32(f.Payload)) }

// Arguments are the arguments of a method frame.
func (f Frame) Arguments() []byte { return f.Payload[methodIDSize:] }

// Parse takes the first frame off buf and returns it with its size in octets. n == 0 without an error means that the frame is not complete.
// max is the agreed frame-max, 0 for no limit. As in RabbitMQ the payload alone may have max octets, which is 8 more than the protocol
// allows; a size over that is an error as soon as the frame's first 7 octets are there.
func Parse(buf []byte, max uint32) (f Frame, n int, err error) {
	if len(buf) < HeaderSize {
		return Frame{}, 0, nil
	}
	size := binary.BigEndian.Uint32(buf[3:])
	if size > max && max != 0 {
		return Frame{}, 0, amqp.FrameTooLarge(buf[0], size, max)
	}
	if uint64(len(buf)) < uint64(size)+Overhead {
		return Frame{}, 0, nil
	}
	end := HeaderSize + int(size)
	f = Frame{Type: buf[0], Channel: binary.BigEndian.Uint16(buf[1:]), Payload: buf[HeaderSize:end:end]}
	if buf[end] != End {
		return Frame{}, 0, amqp.InvalidFrameEnd(f.Type, f.Payload, buf[end])
	}
	if err := f.check(); err != nil {
		return Frame{}, 0, err
	}
	return f, end + 1, nil
}

// check tells whether the frame can be one of its type and may stand on its channel: content never on channel 0, heartbeats only there.
func (f Frame) check() error {
	valid, misplaced := false, false
	switch f.Type {
	case TypeMethod:
		valid = len(f.Payload) >= methodIDSize
	case TypeHeader:
		valid, misplaced = len(f.Payload) >= contentHeaderSize, f.Channel == 0
	case TypeBody:
		valid, misplaced = true, f.Channel == 0
	case TypeHeartbeat:
		valid, misplaced = len(f.Payload) == 0, f.Channel != 0
	}
	if !valid {
		return amqp.UnknownFrame(f.Type, f.Payload)
	}
	if misplaced {
		return amqp.UnexpectedFrame(f.Type, f.Payload)
	}
	return nil
}

// Missing tells how many octets the first frame of buf still needs, at least 1, so that a reader can make room for them. buf holds no
// complete frame. Before the size is known it asks for the 7 octets that say it.
func Missing(buf []byte) int {
	if len(buf) < HeaderSize {
		return HeaderSize - len(buf)
	}
	size := uint64(binary.BigEndian.Uint32(buf[3:])) + Overhead
	return int(max(size, uint64(len(buf))+1) - uint64(len(buf)))
}
