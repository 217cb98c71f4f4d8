package server

import (
	"encoding/binary"
	"unicode/utf8"

	"leveret/amqp"
	"leveret/frame"
)

// Where things stand in the three frames of a publish.
const (
	publishFixed   = 4 + 2 // class and method, and the ticket that nobody looks at
	headerFixed    = 2 + 2 + 8
	publishLeast   = frame.Overhead + publishFixed + 2 + 1
	headerLeast    = frame.Overhead + headerFixed + 2
	publishFlags   = 1 // mandatory; 2 is immediate
	publishAllowed = publishFlags
)

// wholePublish takes a publish whose method, header and body frames stand one behind the other in the input, as nearly all do, without going
// through the state machine of contents: that costs half of the work on a small message. It returns the octets it took, 0 if the input
// begins with anything else, which the general way then handles; so nothing here has to report an error but publish itself.
func (c *connection) wholePublish() int {
	ch := c.last
	if ch == nil || ch.closing || ch.toSettle || c.state != stateRunning || !ch.content.state.Done() || ch.tx != nil {
		return 0
	}
	w, n := cutPublish(c.in.pending(), ch.number, c.frameMax)
	if n == 0 || uint64(len(w.body)) > c.server.options.MaxMessageSize {
		return 0
	}
	p := &c.publisher
	t := &ch.content
	m := p.room(ch)
	if total := amqp.MessageHeadSize + len(w.address) + len(w.properties) + len(w.body); total > ownMemory || total > cap(m) {
		m = p.place(ch, total)
	}
	m = append(append(append(append(m, emptyHead[:]...), w.address...), w.properties...), w.body...)
	t.message, t.properties, t.tooLarge, t.drop = m, len(w.properties), 0, false
	t.mandatory, t.immediate = w.mandatory, false
	if err := c.publish(ch); err != nil {
		c.fail(ch, err)
	}
	return n
}

// emptyHead is appended where the head of a message will be filled in.
var emptyHead [amqp.MessageHeadSize]byte

// whole is a publish in one piece; its slices alias the input.
type whole struct {
	address    []byte // exchange and routing key, as short strings
	properties []byte
	body       []byte
	mandatory  bool
}

// cutPublish cuts the three frames of a publish on a channel off the input. It returns 0 if they do not all stand there, or if anything
// about them is unusual.
func cutPublish(in []byte, channel uint16, frameMax uint32) (w whole, n int) {
	if len(in) < publishLeast || in[0] != frame.TypeMethod || binary.BigEndian.Uint16(in[1:]) != channel ||
		amqp.MethodID(binary.BigEndian.Uint32(in[frame.HeaderSize:])) != amqp.MethodBasicPublish {
		return w, 0
	}
	at := frame.HeaderSize + int(binary.BigEndian.Uint32(in[3:]))
	if at < publishLeast-1 || at+headerLeast >= len(in) || in[at] != frame.End {
		return w, 0
	}
	w.address = in[frame.HeaderSize+publishFixed : at-1]
	key := 1 + int(w.address[0])
	if key >= len(w.address) || key+1+int(w.address[key]) != len(w.address) || in[at-1] > publishAllowed || !plain(w.address[1:key]) {
		return w, 0
	}
	w.mandatory = in[at-1]&publishFlags != 0
	n = w.cutContent(in[at+1:], channel, frameMax)
	if n == 0 {
		return w, 0
	}
	return w, at + 1 + n
}

// plain reports whether a name is ASCII, and so needs no further look at its encoding.
func plain(name []byte) bool {
	for _, b := range name {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cutContent cuts the header frame and the body frame, which has to be one or none.
func (w *whole) cutContent(in []byte, channel uint16, frameMax uint32) int {
	size := int(binary.BigEndian.Uint32(in[3:]))
	end := frame.HeaderSize + size
	if in[0] != frame.TypeHeader || binary.BigEndian.Uint16(in[1:]) != channel || size < headerFixed+2 || end >= len(in) ||
		frameMax > 0 && size > int(frameMax) || in[end] != frame.End ||
		binary.BigEndian.Uint32(in[frame.HeaderSize:]) != uint32(amqp.ClassBasic)<<16 {
		return 0
	}
	body := binary.BigEndian.Uint64(in[frame.HeaderSize+4:])
	w.properties = in[frame.HeaderSize+headerFixed : end]
	if body == 0 {
		return end + 1
	}
	in = in[end+1:]
	if len(in) < frame.Overhead || in[0] != frame.TypeBody || binary.BigEndian.Uint16(in[1:]) != channel ||
		uint64(binary.BigEndian.Uint32(in[3:])) != body || body > uint64(len(in)-frame.Overhead) || frameMax > 0 && body > uint64(frameMax) ||
		in[frame.HeaderSize+body] != frame.End {
		return 0
	}
	w.body = in[frame.HeaderSize : frame.HeaderSize+body]
	return end + 1 + frame.Overhead + int(body)
}
