package frame

import (
	"encoding/binary"

	"leveret/amqp"
)

// AppendMethod appends a method frame.
func AppendMethod(dst []byte, channel uint16, m amqp.Method) []byte {
	start := len(dst)
	dst = appendHeader(dst, TypeMethod, channel)
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.ID()))
	return finish(m.AppendTo(dst), start)
}

// AppendContentHeader appends a header frame. properties are encoded, from their flags on.
func AppendContentHeader(dst []byte, channel, class uint16, bodySize uint64, properties []byte) []byte {
	start := len(dst)
	dst = appendHeader(dst, TypeHeader, channel)
	dst = binary.BigEndian.AppendUint16(dst, class)
	dst = append(dst, 0, 0) // weight
	dst = binary.BigEndian.AppendUint64(dst, bodySize)
	return finish(append(dst, properties...), start)
}

// AppendBody appends a body in as many body frames as the agreed frame-max asks for, 0 being no limit. An empty body has no frame.
func AppendBody(dst []byte, channel uint16, body []byte, frameMax uint32) []byte {
	for len(body) > 0 {
		n := len(body)
		if frameMax > Overhead {
			n = min(n, int(frameMax-Overhead))
		}
		start := len(dst)
		dst = appendHeader(dst, TypeBody, channel)
		dst = finish(append(dst, body[:n]...), start)
		body = body[n:]
	}
	return dst
}

// AppendHeartbeat appends a heartbeat frame.
func AppendHeartbeat(dst []byte) []byte {
	return append(dst, TypeHeartbeat, 0, 0, 0, 0, 0, 0, End)
}

// Append appends any frame.
func Append(dst []byte, f Frame) []byte {
	start := len(dst)
	dst = appendHeader(dst, f.Type, f.Channel)
	return finish(append(dst, f.Payload...), start)
}

// appendHeader appends what stands before the payload; the size is filled in by finish.
func appendHeader(dst []byte, frameType byte, channel uint16) []byte {
	return append(dst, frameType, byte(channel>>8), byte(channel), 0, 0, 0, 0)
}

// finish fills in the size of the frame that begins at start, and ends it.
func finish(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start+3:], uint32(len(dst)-start-HeaderSize))
	return append(dst, End)
}
