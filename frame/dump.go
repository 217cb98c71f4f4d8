package frame

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"leveret/amqp"
)

// Dump prints a frame as a line without its end, the same form in logs, dialogue tests and the README:
//
//	1 queue.declare queue="jobs" durable=1
//	1 header class=60 body-size=5 delivery-mode=2
//	1 body "hello"
//	0 heartbeat
//
// What can't be decoded is printed as `1 frame type=1 payload="..."`. Who sent the frame is for the caller to say.
func Dump(f Frame) string {
	dst := strconv.AppendUint(nil, uint64(f.Channel), 10)
	dst = append(dst, ' ')
	if out, ok := appendDecoded(dst, f); ok {
		return string(out)
	}
	dst = append(dst, "frame type="...)
	dst = strconv.AppendUint(dst, uint64(f.Type), 10)
	return string(strconv.AppendQuote(append(dst, " payload="...), string(f.Payload)))
}

// appendDecoded prints what is behind the channel number, if the frame can be decoded and encodes to the same octets.
func appendDecoded(dst []byte, f Frame) ([]byte, bool) {
	if f.check() != nil {
		return dst, false
	}
	switch f.Type {
	case TypeMethod:
		m := amqp.NewMethod(f.MethodID())
		if m == nil || m.Decode(f.Arguments()) != nil {
			return dst, false
		}
		return amqp.AppendText(dst, m), true
	case TypeHeader:
		return appendHeaderText(dst, f.Payload)
	case TypeBody:
		return strconv.AppendQuote(append(dst, "body "...), string(f.Payload)), true
	}
	return append(dst, "heartbeat"...), true
}

// appendHeaderText prints a content header.
func appendHeaderText(dst, payload []byte) ([]byte, bool) {
	properties, err := amqp.DecodeProperties(payload[contentHeaderSize:])
	if err != nil || payload[2] != 0 || payload[3] != 0 {
		return dst, false
	}
	dst = fmt.Appendf(dst, "header class=%d body-size=%d", binary.BigEndian.Uint16(payload), binary.BigEndian.Uint64(payload[4:]))
	return properties.AppendText(dst), true
}

// ParseLine reads a frame from the line that Dump prints.
func ParseLine(line string) (Frame, error) {
	number, rest, _ := strings.Cut(line, " ")
	channel, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return Frame{}, fmt.Errorf("channel number expected, not %q", number)
	}
	f := Frame{Channel: uint16(channel)}
	kind, fields, _ := strings.Cut(rest, " ")
	switch kind {
	case "heartbeat":
		f.Type = TypeHeartbeat
		if fields != "" {
			err = fmt.Errorf("unexpected %q", fields)
		}
	case "body":
		f.Type = TypeBody
		f.Payload, err = unquote(fields)
	case "header":
		f.Type = TypeHeader
		f.Payload, err = parseHeader(fields)
	case "frame":
		f.Type, f.Payload, err = parseRaw(fields)
	default:
		f.Type = TypeMethod
		f.Payload, err = parseMethod(rest)
	}
	if err != nil {
		return Frame{}, fmt.Errorf("%s: %w", kind, err)
	}
	return f, nil
}

func unquote(literal string) ([]byte, error) {
	text, err := strconv.Unquote(literal)
	if err != nil {
		return nil, fmt.Errorf("text in quotes expected, not %.40q", literal)
	}
	return []byte(text), nil
}

func parseMethod(text string) ([]byte, error) {
	m, err := amqp.ParseText(text)
	if err != nil {
		return nil, err
	}
	return m.AppendTo(binary.BigEndian.AppendUint32(nil, uint32(m.ID()))), nil
}

func parseHeader(fields string) ([]byte, error) {
	class, fields, err := cutNumber(fields, "class=", 16)
	if err != nil {
		return nil, err
	}
	size, fields, err := cutNumber(fields, "body-size=", 64)
	if err != nil {
		return nil, err
	}
	properties, err := amqp.ParseProperties(fields)
	if err != nil {
		return nil, err
	}
	payload := binary.BigEndian.AppendUint16(nil, uint16(class))
	payload = append(payload, 0, 0) // weight
	payload = binary.BigEndian.AppendUint64(payload, size)
	return properties.AppendTo(payload), nil
}

func parseRaw(fields string) (byte, []byte, error) {
	frameType, fields, err := cutNumber(fields, "type=", 8)
	if err != nil {
		return 0, nil, err
	}
	payload, err := unquote(strings.TrimPrefix(fields, "payload="))
	return byte(frameType), payload, err
}

// cutNumber reads a number of so many bits behind its name off the front of the text.
func cutNumber(text, name string, bits int) (uint64, string, error) {
	word, rest, _ := strings.Cut(text, " ")
	digits, found := strings.CutPrefix(word, name)
	n, err := strconv.ParseUint(digits, 10, bits)
	if !found || err != nil {
		return 0, "", fmt.Errorf("%s and a number expected, not %q", name, word)
	}
	return n, rest, nil
}
