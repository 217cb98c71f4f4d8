package exchange

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"leveret/amqp"
)

// Two header values are equal for a headers exchange if their canonical forms are the same bytes: integers of any width by value, both
// kinds of floats by value, a string like a byte array of the same bytes, a table whatever the order of its fields. The form starts with
// a letter for the kind, so that values of different kinds are never equal.
const (
	kindInteger = 'i'
	kindFloat   = 'f'
	kindBytes   = 's'
	kindArray   = 'A'
	kindTable   = 'F'
)

// appendCanonical appends the canonical form of an encoded field value. Only arrays and tables make it allocate.
func appendCanonical(dst []byte, tag byte, value []byte) []byte {
	switch tag {
	case 'b':
		return appendInteger(dst, int64(int8(value[0])))
	case 'B':
		return appendInteger(dst, int64(value[0]))
	case 's':
		return appendInteger(dst, int64(int16(binary.BigEndian.Uint16(value))))
	case 'u':
		return appendInteger(dst, int64(binary.BigEndian.Uint16(value)))
	case 'I':
		return appendInteger(dst, int64(int32(binary.BigEndian.Uint32(value))))
	case 'i':
		return appendInteger(dst, int64(binary.BigEndian.Uint32(value)))
	case 'l', 'L':
		return appendInteger(dst, int64(binary.BigEndian.Uint64(value)))
	case 'f':
		return appendFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(value))))
	case 'd':
		return appendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(value)))
	case 'S', 'x':
		return append(append(dst, kindBytes), value[4:]...)
	case 'A', 'F':
		return appendNested(dst, tag, value)
	}
	return append(append(dst, tag), value...)
}

func appendInteger(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kindInteger), uint64(n))
}

func appendFloat(dst []byte, x float64) []byte {
	if x == 0 {
		x = 0 // minus zero is zero
	}
	return binary.BigEndian.AppendUint64(append(dst, kindFloat), math.Float64bits(x))
}

// appendNested decodes an array or table, which is simpler than to walk through its encoding, and rare.
func appendNested(dst []byte, tag byte, value []byte) []byte {
	const name = "\x01v"
	encoded := binary.BigEndian.AppendUint32(nil, uint32(len(name)+1+len(value)))
	encoded = append(append(append(encoded, name...), tag), value...)
	decoded, _, err := amqp.DecodeTable(encoded)
	if err != nil || len(decoded) != 1 { // headers were checked when the message came in
		return append(append(dst, tag), value...)
	}
	return appendValue(dst, decoded[0].Value)
}

// appendValue appends the canonical form of a decoded field value.
func appendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case amqp.Array:
		dst = append(dst, kindArray)
		for _, element := range v {
			dst = appendSized(dst, appendValue(nil, element))
		}
		return dst
	case amqp.Table:
		sorted := slices.Clone(v)
		slices.SortStableFunc(sorted, func(f, g amqp.Field) int { return strings.Compare(f.Name, g.Name) })
		dst = append(dst, kindTable)
		for _, f := range sorted {
			dst = appendSized(dst, []byte(f.Name))
			dst = appendSized(dst, appendValue(nil, f.Value))
		}
		return dst
	}
	const name = "v"
	tag, encoded, _ := amqp.FindField(amqp.AppendTable(nil, amqp.Table{{Name: name, Value: value}}), name)
	return appendCanonical(dst, tag, encoded)
}

// appendSized appends part with its length in front, so that two parts never read like one.
func appendSized(dst, part []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(part))), part...)
}
