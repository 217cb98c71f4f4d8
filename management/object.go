package management

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"leveret/amqp"
)

// field is one named value of an object.
type field struct {
	name  string
	value any
}

// object is a JSON object that keeps the order of its fields. Names are looked up one by one: objects are built and written much more often than
// searched.
type object []field

// get returns the value of a field.
func (o object) get(name string) (any, bool) {
	for i := range o {
		if o[i].name == name {
			return o[i].value, true
		}
	}
	return nil, false
}

// at follows a path of names with dots between them, message_stats.publish_details.rate for one.
func (o object) at(path string) (any, bool) {
	for {
		if v, ok := o.get(path); ok {
			return v, true
		}
		head, rest, nested := strings.Cut(path, ".")
		inner, _ := o.get(head)
		next, isObject := inner.(object)
		if !nested || !isObject {
			return nil, false
		}
		o, path = next, rest
	}
}

// add appends a field.
func (o *object) add(name string, value any) { *o = append(*o, field{name, value}) }

// appendJSON appends a value as JSON. Floats have a decimal point always, as strict clients tell 0 from 0.0; what JSON can't express is 0.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendString(dst, v)
	case float64:
		return appendFloat(dst, v)
	case json.Number:
		return append(dst, v...)
	case object:
		return appendObject(dst, v)
	// A list whose objects are made one by one while they are written: the longest answers are of this kind.
	case sequence:
		return appendSequence(dst, v)
	case []object:
		return appendArray(dst, v)
	case []any:
		return appendArray(dst, v)
	case []string:
		return appendArray(dst, v)
	case map[string]any:
		return appendObject(dst, sortedObject(v))
	case amqp.Table:
		return appendObject(dst, tableObject(v))
	}
	if n, ok := integer(v); ok {
		return strconv.AppendInt(dst, n, 10)
	}
	if n, ok := v.(uint64); ok {
		return strconv.AppendUint(dst, n, 10)
	}
	return appendOther(dst, v)
}

// integer widens the integer types that stand in objects.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	}
	return 0, false
}

// appendOther is for what handlers got from elsewhere and hand on as it is.
func appendOther(dst []byte, v any) []byte {
	encoded, err := json.Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, encoded...)
}

// appendObject appends an object, with its fields in their order.
func appendObject(dst []byte, o object) []byte {
	dst = append(dst, '{')
	for i := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, o[i].name), ':')
		dst = appendJSON(dst, o[i].value)
	}
	return append(dst, '}')
}

// appendArray appends a list; nil is an empty one, never null.
func appendArray[T any](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, list[i])
	}
	return append(dst, ']')
}

// appendFloat appends a number that has a point or an exponent, however whole it is.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	for _, b := range dst[start:] {
		if b == '.' || b == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// verbatim are the octets that stand for themselves in a JSON string.
var verbatim = func() (table [256]bool) {
	for b := byte(' '); b < utf8.RuneSelf; b++ {
		table[b] = b != '"' && b != '\\'
	}
	return table
}()

// appendString appends a JSON string. Text stands as it is, in UTF-8; octets that are none are replaced.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0 // how much of s was not copied yet
	for i := 0; i < len(s); {
		b := s[i]
		if verbatim[b] {
			i++
			continue
		}
		size := 1
		dst = append(dst, s[plain:i]...)
		if b < utf8.RuneSelf {
			dst = appendEscaped(dst, b)
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
		}
		i += size
		plain = i
	}
	return append(append(dst, s[plain:]...), '"')
}

// appendEscaped appends an ASCII octet that can't stand for itself.
func appendEscaped(dst []byte, b byte) []byte {
	const hex = "0123456789abcdef"
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}

// sortedObject gives the fields of a map an order, that of their names.
func sortedObject(m map[string]any) object {
	o := make(object, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		o.add(name, m[name])
	}
	return o
}
