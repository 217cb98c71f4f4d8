package amqp

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
)

// knownFlags are the property flags that stand for a value; bit 1 stands for none and is ignored.
const knownFlags = ^uint16(0b11)

// Persistent is the delivery mode of messages that survive a restart in durable queues.
const Persistent = 2

// Has tells whether all properties that the flags name are there.
func (p *Properties) Has(flags uint16) bool { return p.Flags&flags == flags }

// DecodeProperties reads the properties of a content header, from the flags on. The error is an *Error 501 with basic.publish's ids.
func DecodeProperties(raw []byte) (Properties, error) {
	d := cursor{rest: raw, grown: true}
	p := Properties{Flags: d.propertyFlags()}
	p.read(&d)
	return p, d.finish(MethodBasicPublish, raw)
}

// AppendTo appends the flags and the values as a content header holds them.
func (p *Properties) AppendTo(dst []byte) []byte {
	return p.appendValues(binary.BigEndian.AppendUint16(dst, p.Flags&knownFlags))
}

// propertyFlags reads the flag words. The lowest bit of a word announces another one; since there are no more than 14 properties, the further
// words must name none.
func (d *cursor) propertyFlags() uint16 {
	flags := d.short()
	for more := flags & 1; more != 0; {
		word := d.short()
		if word&^1 != 0 {
			d.stop(faultMalformed)
		}
		more = word & 1
	}
	return flags & knownFlags
}

// MaxExpiration is the longest time to live in milliseconds, ten years.
const MaxExpiration = 315_360_000_000

// ParseExpiration reads the expiration property: a decimal number of milliseconds. The error is an *Error 406.
func ParseExpiration(text []byte) (ms uint64, err error) {
	digits := text
	negative := len(digits) > 0 && digits[0] == '-'
	if negative || len(digits) > 0 && digits[0] == '+' {
		digits = digits[1:]
	}
	end := 0
	for end < len(digits) && '0' <= digits[end] && digits[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, InvalidExpiration(text, "no_integer")
	}
	if end < len(digits) {
		return 0, InvalidExpiration(text, "{leftover_string,"+erlangString(digits[end:])+"}")
	}
	ms, err = strconv.ParseUint(string(digits), 10, 64)
	switch {
	case negative && ms != 0:
		return 0, InvalidExpiration(text, "{value_negative,-"+plainNumber(digits)+"}")
	case errors.Is(err, strconv.ErrRange), ms > MaxExpiration:
		return 0, InvalidExpiration(text, "{value_too_large,"+plainNumber(digits)+"}")
	}
	return ms, nil
}

// plainNumber is a number without leading zeros, however large it is.
func plainNumber(digits []byte) string { return strings.TrimLeft(string(digits), "0") }
