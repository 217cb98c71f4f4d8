package amqp

import (
	"encoding/binary"
	"math"
)

// Field tables, as RabbitMQ and its clients write them [AMQP 0-9-1, 4.2.5.5, with RabbitMQ's tags]:
//
//	table = length(4) { name-length(1) name tag(1) value }
//	array = length(4) { tag(1) value }

const (
	// MaxTableDepth is how deep tables and arrays may be nested, the outermost table included.
	MaxTableDepth = 64
	// MaxTableValues is how many values a table may hold, those in nested tables and arrays included. What a value costs to read is many times what it
	// costs to send; no client is known that comes near.
	MaxTableValues = 16 << 10
	// MaxTableSize is the most octets that a table may have.
	MaxTableSize = 16 << 20
)

// Table is a field table. The order of the fields and duplicate names are kept as they came.
type Table []Field

// Field is one named value of a table. The type of Value stands for the tag on the wire:
//
//	bool t   int8 b   int16 s   int32 I    int64 l      float32 f   string S   Array A       Table F
//	         uint8 B  uint16 u  uint32 i   Timestamp T  float64 d   []byte x   Decimal D     nil V
//
// The tag L is read as int64 too. Values of other types can't be encoded.
type Field struct {
	Name  string
	Value any
}

// Array is a list of values of the types that Field lists.
type Array []any

// Timestamp is a time in seconds since 1970.
type Timestamp uint64

// Decimal is the number Value / 10^Scale.
type Decimal struct {
	Scale uint8
	Value uint32
}

// Get returns the value of the first field with that name.
func (t Table) Get(name string) (any, bool) {
	for i := range t {
		if t[i].Name == name {
			return t[i].Value, true
		}
	}
	return nil, false
}

// DecodeTable reads a table with its length from the front of src and returns it with the octets behind it. An empty table is nil. Nothing
// in it aliases src. It may hold any number of values: those that clients send are counted where they come in. The error is an *Error 501.
func DecodeTable(src []byte) (t Table, rest []byte, err error) {
	n, wrong := checkTable(src, math.MaxInt)
	if wrong != faultNone {
		return nil, src, wrong.of(src)
	}
	return decodeFields(src[4:n]), src[n:], nil
}

// decodeFields reads the fields of a table that was checked.
func decodeFields(src []byte) Table {
	if len(src) == 0 {
		return nil
	}
	t := make(Table, 0, countFields(src))
	for d := (cursor{rest: src}); len(d.rest) > 0; {
		name := string(d.key())
		t = append(t, Field{name, decodeValue(&d)})
	}
	return t
}

// decodeValue reads a tag and the value behind it, which were checked.
func decodeValue(d *cursor) any {
	switch d.octet() {
	case 't':
		return d.octet() != 0
	case 'b':
		return int8(d.octet())
	case 'B':
		return d.octet()
	case 's':
		return int16(d.short())
	case 'u':
		return d.short()
	case 'I':
		return int32(d.long())
	case 'i':
		return d.long()
	case 'l', 'L':
		return int64(d.longlong())
	case 'f':
		return math.Float32frombits(d.long())
	case 'd':
		return math.Float64frombits(d.longlong())
	case 'D':
		return Decimal{Scale: d.octet(), Value: d.long()}
	case 'T':
		return Timestamp(d.longlong())
	case 'S':
		return string(d.longstrRaw())
	case 'x':
		return append([]byte{}, d.longstrRaw()...)
	case 'A':
		return decodeItems(d.longstrRaw())
	case 'F':
		return append(Table{}, decodeFields(d.longstrRaw())...)
	}
	return nil // V
}

func decodeItems(src []byte) Array {
	items := make(Array, 0, countItems(src))
	for d := (cursor{rest: src}); len(d.rest) > 0; {
		items = append(items, decodeValue(&d))
	}
	return items
}

// countFields is how many fields a table has that was checked, nested ones not counted. Memory of just that size costs a fraction of what
// growing it does.
func countFields(src []byte) (n int) {
	for ; len(src) > 0; n++ {
		src = src[1+int(src[0]):]
		src = src[valueSize(src):]
	}
	return n
}

// countItems is countFields for an array.
func countItems(src []byte) (n int) {
	for ; len(src) > 0; n++ {
		src = src[valueSize(src):]
	}
	return n
}

// AppendTable appends a table with its length.
func AppendTable(dst []byte, t Table) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for i := range t {
		dst = appendShortstr(dst, t[i].Name)
		dst = appendValue(dst, t[i].Value)
	}
	return putLength(dst, start)
}

// putLength fills in the length of what was appended behind the four octets at start.
func putLength(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// appendValue appends a tag and the value.
func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return append(dst, 't', bit(v, 0))
	case string:
		return appendLongstr(append(dst, 'S'), v)
	case []byte:
		return appendLongstr(append(dst, 'x'), v)
	case float32:
		return binary.BigEndian.AppendUint32(append(dst, 'f'), math.Float32bits(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, 'd'), math.Float64bits(v))
	case Decimal:
		return binary.BigEndian.AppendUint32(append(dst, 'D', v.Scale), v.Value)
	case Timestamp:
		return binary.BigEndian.AppendUint64(append(dst, 'T'), uint64(v))
	case Table:
		return AppendTable(append(dst, 'F'), v)
	case Array:
		dst = append(dst, 'A', 0, 0, 0, 0)
		start := len(dst) - 4
		for _, item := range v {
			dst = appendValue(dst, item)
		}
		return putLength(dst, start)
	case nil:
		return append(dst, 'V')
	}
	return appendInteger(dst, v)
}

// appendInteger appends the tag and value of an integer.
func appendInteger(dst []byte, v any) []byte {
	switch v := v.(type) {
	case int8:
		return append(dst, 'b', uint8(v))
	case uint8:
		return append(dst, 'B', v)
	case int16:
		return binary.BigEndian.AppendUint16(append(dst, 's'), uint16(v))
	case uint16:
		return binary.BigEndian.AppendUint16(append(dst, 'u'), v)
	case int32:
		return binary.BigEndian.AppendUint32(append(dst, 'I'), uint32(v))
	case uint32:
		return binary.BigEndian.AppendUint32(append(dst, 'i'), v)
	case int64:
		return binary.BigEndian.AppendUint64(append(dst, 'l'), uint64(v))
	}
	panic("BUG: a field table holds a value of a type that has no tag")
}
