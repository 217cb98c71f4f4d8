package amqp

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// Two field values are equal if their canonical forms are the same bytes: integers of any width by value, both kinds of floats by value, a
// string like a byte array of the same bytes, a table whatever the order of its fields. The form starts with a letter for the kind, so that
// values of different kinds are never equal.
const (
	kindInteger = 'i'
	kindFloat   = 'f'
	kindBytes   = 's'
	kindArray   = 'A'
	kindTable   = 'F'
)

// AppendCanonical appends the canonical form of an encoded field value, as FindField and EachField give it. Only arrays and tables make it
// allocate.
func AppendCanonical(dst []byte, tag byte, value []byte) []byte {
	if n, ok := FieldInteger(tag, value); ok {
		return binary.BigEndian.AppendUint64(append(dst, kindInteger), uint64(n))
	}
	switch tag {
	case 'f':
		return canonicalFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(value))))
	case 'd':
		return canonicalFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(value)))
	case 'S', 'x':
		return append(append(dst, kindBytes), value[4:]...)
	case 'A', 'F':
		return canonicalNested(dst, tag, value)
	}
	return append(append(dst, tag), value...)
}

// FieldInteger is the value of an encoded field that is an integer of any width; timestamps are none.
func FieldInteger(tag byte, value []byte) (n int64, ok bool) {
	switch tag {
	case 'b':
		return int64(int8(value[0])), true
	case 'B':
		return int64(value[0]), true
	case 's':
		return int64(int16(binary.BigEndian.Uint16(value))), true
	case 'u':
		return int64(binary.BigEndian.Uint16(value)), true
	case 'I':
		return int64(int32(binary.BigEndian.Uint32(value))), true
	case 'i':
		return int64(binary.BigEndian.Uint32(value)), true
	case 'l', 'L':
		return int64(binary.BigEndian.Uint64(value)), true
	}
	return 0, false
}

func canonicalFloat(dst []byte, x float64) []byte {
	if x == 0 {
		x = 0 // minus zero is zero
	}
	return binary.BigEndian.AppendUint64(append(dst, kindFloat), math.Float64bits(x))
}

// canonicalNested decodes an array or table, which is simpler than to walk through its encoding, and rare.
func canonicalNested(dst []byte, tag byte, value []byte) []byte {
	const name = "\x01v"
	encoded := binary.BigEndian.AppendUint32(nil, uint32(len(name)+1+len(value)))
	encoded = append(append(append(encoded, name...), tag), value...)
	decoded, _, err := DecodeTable(encoded)
	if err != nil || len(decoded) != 1 { // headers were checked when the message came in
		return append(append(dst, tag), value...)
	}
	return AppendCanonicalValue(dst, decoded[0].Value)
}

// AppendCanonicalValue appends the canonical form of a decoded field value.
func AppendCanonicalValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case Array:
		dst = append(dst, kindArray)
		for _, element := range v {
			dst = appendSized(dst, AppendCanonicalValue(nil, element))
		}
		return dst
	case Table:
		sorted := slices.Clone(v)
		slices.SortStableFunc(sorted, func(f, g Field) int { return strings.Compare(f.Name, g.Name) })
		dst = append(dst, kindTable)
		for _, f := range sorted {
			dst = appendSized(dst, []byte(f.Name))
			dst = appendSized(dst, AppendCanonicalValue(nil, f.Value))
		}
		return dst
	}
	var scratch [64]byte
	encoded := appendValue(scratch[:0], value)
	return AppendCanonical(dst, encoded[0], encoded[1:])
}

// appendSized appends part with its length in front, so that two parts never read like one.
func appendSized(dst, part []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(part))), part...)
}
