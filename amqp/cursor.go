package amqp

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// cursor reads values off the front of a buffer. The first fault sticks and everything after it reads as zero, so that a method is a list of
// fields and one check at the end.
type cursor struct {
	rest  []byte
	fault fault
	grown bool // tables may hold any number of values: they came in before, and the broker has added to them
}

// fault is why a cursor stopped.
type fault uint8

const (
	faultNone fault = iota
	faultMalformed
	faultUTF8
	faultTooManyValues
)

// stop notes a fault and drops the rest, so that every later read comes up short without a check of its own.
func (d *cursor) stop(f fault) {
	if d.fault == faultNone {
		d.fault = f
	}
	d.rest = nil
}

func (d *cursor) octet() uint8 {
	if len(d.rest) < 1 {
		d.stop(faultMalformed)
		return 0
	}
	v := d.rest[0]
	d.rest = d.rest[1:]
	return v
}

func (d *cursor) short() uint16 {
	if len(d.rest) < 2 {
		d.stop(faultMalformed)
		return 0
	}
	v := binary.BigEndian.Uint16(d.rest)
	d.rest = d.rest[2:]
	return v
}

func (d *cursor) long() uint32 {
	if len(d.rest) < 4 {
		d.stop(faultMalformed)
		return 0
	}
	v := binary.BigEndian.Uint32(d.rest)
	d.rest = d.rest[4:]
	return v
}

func (d *cursor) longlong() uint64 {
	if len(d.rest) < 8 {
		d.stop(faultMalformed)
		return 0
	}
	v := binary.BigEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return v
}

// take returns the next n octets, a slice of the input that no append can grow into what follows.
func (d *cursor) take(n int) []byte {
	if n > len(d.rest) {
		d.stop(faultMalformed)
		return nil
	}
	v := d.rest[:n:n]
	d.rest = d.rest[n:]
	return v
}

// key reads a short string of any octets; the result aliases the input.
func (d *cursor) key() []byte {
	if len(d.rest) == 0 || len(d.rest) <= int(d.rest[0]) {
		d.stop(faultMalformed)
		return nil
	}
	n := 1 + int(d.rest[0])
	v := d.rest[1:n:n]
	d.rest = d.rest[n:]
	return v
}

// nameKey reads a short string that must be UTF-8; the result aliases the input.
func (d *cursor) nameKey() []byte {
	v := d.key()
	if !ascii(v) && !utf8.Valid(v) {
		d.stop(faultUTF8)
		return nil
	}
	return v
}

// ascii tells what nearly all names are. It costs as much as utf8.Valid for 6 octets and less than half of it for 24.
func ascii(octets []byte) bool {
	var all byte
	for _, c := range octets {
		all |= c
	}
	return all < utf8.RuneSelf
}

// shortstr reads a short string of any octets. old, the value that stood in the field before, is kept if it is the same text: a method that
// is decoded again and again does not allocate for names that repeat.
func (d *cursor) shortstr(old string) string { return reuse(old, d.key()) }

// name reads a short string that must be UTF-8; old as in shortstr.
func (d *cursor) name(old string) string { return reuse(old, d.nameKey()) }

func reuse(old string, octets []byte) string {
	if string(octets) == old {
		return old
	}
	return string(octets)
}

// longstrRaw reads a long string; the result aliases the input.
func (d *cursor) longstrRaw() []byte {
	n := d.long()
	if uint64(n) > uint64(len(d.rest)) {
		d.stop(faultMalformed)
		return nil
	}
	return d.take(int(n))
}

// longstr reads a long string into memory of its own; an empty one is nil.
func (d *cursor) longstr() []byte {
	v := d.longstrRaw()
	if len(v) == 0 {
		return nil
	}
	return bytes.Clone(v)
}

// table reads a field table; an empty one is nil.
func (d *cursor) table() Table {
	if table := d.rawTable(); len(table) > 4 {
		return decodeFields(table[4:])
	}
	return nil
}

// rawTable checks a table and returns it as it stands, with its length.
func (d *cursor) rawTable() []byte {
	values := MaxTableValues
	if d.grown {
		values = math.MaxInt
	}
	n, wrong := checkTable(d.rest, values)
	if wrong != faultNone {
		d.stop(wrong)
		return nil
	}
	return d.take(n)
}

// finish is the one check of a Decode: src is the whole input, of which nothing may be left.
func (d *cursor) finish(id MethodID, src []byte) error {
	if d.fault == faultNone && len(d.rest) == 0 {
		return nil
	}
	return d.failure(id, src)
}

// failure is the fault as an error, or that of octets that are left over. It stands apart from finish so that finish can be inlined.
func (d *cursor) failure(id MethodID, src []byte) error {
	return max(d.fault, faultMalformed).of(src).At(id)
}

// of is the fault as the error that a client is told; src is the whole input.
func (f fault) of(src []byte) *Error {
	switch f {
	case faultUTF8:
		return MalformedUTF8()
	case faultTooManyValues:
		return TooManyValues(MaxTableValues)
	}
	return CannotDecode(src)
}

// bit is a bool's part of an octet of bits.
func bit(set bool, position uint) byte {
	if set {
		return 1 << position
	}
	return 0
}

// appendShortstr appends a short string: a length octet and at most 255 octets, to which a longer text is cut.
func appendShortstr[S string | []byte](dst []byte, s S) []byte {
	if len(s) > 255 {
		s = s[:255]
	}
	dst = append(dst, byte(len(s)))
	return append(dst, s...)
}

// appendLongstr appends a long string: a length of four octets and the octets.
func appendLongstr[S string | []byte](dst []byte, s S) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}
