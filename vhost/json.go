package vhost

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"leveret/amqp"
)

// Plain brings a value that came out of JSON, by whatever way, to the types in which this package gives such values out: nil, bool, string,
// int64 for whole numbers, float64 for others, []any and map[string]any. It copies.
func Plain(v any) any { return plain(v) }

// plain brings a value that came out of JSON, by whatever way, to the few types that the package works with: nil, bool, string, int64 for
// whole numbers, float64 for others, []any and map[string]any. It copies, so that the value is nobody else's.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v
	case float64:
		return plainFloat(v)
	case int:
		return int64(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case map[string]any:
		return plainObject(v)
	}
	return plainOther(v)
}

// plainObject copies an object with numbers as int64 or float64, so that what is kept can't be changed from outside.
func plainObject(object map[string]any) map[string]any {
	copied := make(map[string]any, len(object))
	for key, value := range object {
		copied[key] = plain(value)
	}
	return copied
}

// plainFloat makes an integer of a float that is a whole number and small enough to be exact.
func plainFloat(f float64) any {
	const exact = 1 << 53
	if f == math.Trunc(f) && math.Abs(f) <= exact {
		return int64(f)
	}
	return f
}

// plainOther goes by way of the text for types that are neither JSON's own nor ours; what has no such text is null.
func plainOther(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		return nil
	}
	return plain(decoded)
}

// maxFieldName is how long, in bytes, the name of a field may be.
const maxFieldName = 255

// fieldValue is a plain value as the value of a field.
func fieldValue(v any) any {
	switch v := v.(type) {
	case []any:
		list := make(amqp.Array, len(v))
		for i, item := range v {
			list[i] = fieldValue(item)
		}
		return list
	case map[string]any:
		table := make(amqp.Table, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			table = append(table, amqp.Field{Name: key[:min(len(key), maxFieldName)], Value: fieldValue(v[key])})
		}
		return table
	}
	return v
}
