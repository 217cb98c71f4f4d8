package amqp

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// Integer returns the value of an integer of any width; of anything else, booleans, floats, timestamps and strings among it, it says no.
func Integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// TypeName is the word that reply texts use for the type of a value.
func TypeName(v any) string {
	switch v.(type) {
	case bool:
		return "bool"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64:
		return "long"
	case float32:
		return "float"
	case float64:
		return "double"
	}
	return wideTypeName(v)
}

// wideTypeName is TypeName for values that are no numbers.
func wideTypeName(v any) string {
	switch v.(type) {
	case Decimal:
		return "decimal"
	case string:
		return "longstr"
	case []byte:
		return "binary"
	case Timestamp:
		return "timestamp"
	case Table:
		return "table"
	case Array:
		return "array"
	}
	return "void"
}

// EqualValue tells whether two values are equal the way arguments are compared: integers and floats by value across their widths, strings
// and octets by their octets, arrays item by item, and tables field by field in any order. An integer never equals a float.
func EqualValue(a, b any) bool {
	if x, ok := Integer(a); ok {
		y, ok := Integer(b)
		return ok && x == y
	}
	if x, ok := float(a); ok {
		y, ok := float(b)
		return ok && (x == y || math.Float64bits(x) == math.Float64bits(y))
	}
	if x, ok := octets(a); ok {
		y, ok := octets(b)
		return ok && bytes.Equal(x, y)
	}
	switch a := a.(type) {
	case Array:
		b, ok := b.(Array)
		return ok && slices.EqualFunc(a, b, EqualValue)
	case Table:
		b, ok := b.(Table)
		return ok && EqualTable(a, b)
	}
	switch b.(type) {
	case Array, Table, []byte:
		return false // these can't be compared by ==
	}
	return a == b
}

// EqualTable tells whether two tables hold equal fields, in whatever order.
func EqualTable(a, b Table) bool {
	if len(a) != len(b) {
		return false
	}
	equal := func(x, y Field) bool { return x.Name == y.Name && EqualValue(x.Value, y.Value) }
	if slices.EqualFunc(a, b, equal) {
		return true
	}
	return slices.EqualFunc(sorted(a), sorted(b), equal)
}

// sorted is a copy by name; the fields of one name stay in their order.
func sorted(t Table) Table {
	t = slices.Clone(t)
	slices.SortStableFunc(t, func(x, y Field) int { return strings.Compare(x.Name, y.Name) })
	return t
}

// Number is the value of an integer, a float or a decimal. Clients that have no floats, such as pika, send decimals.
func Number(v any) (float64, bool) {
	if n, ok := Integer(v); ok {
		return float64(n), true
	}
	if d, ok := v.(Decimal); ok {
		return float64(d.Value) / math.Pow10(int(d.Scale)), true
	}
	return float(v)
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case float32:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func octets(v any) ([]byte, bool) {
	switch v := v.(type) {
	case string:
		return []byte(v), true
	case []byte:
		return v, true
	}
	return nil, false
}
