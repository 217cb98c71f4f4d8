package ctl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Object is a JSON object as Decode makes it.
type Object map[string]any

// At follows a path of names with dots between them, message_stats.publish_details.rate for one; nil where it leads nowhere. A name that has
// dots of its own is found first.
func (o Object) At(path string) any {
	if v, ok := o[path]; ok {
		return v
	}
	head, rest, nested := strings.Cut(path, ".")
	inner, isObject := o[head].(map[string]any)
	if !nested || !isObject {
		return nil
	}
	return Object(inner).At(rest)
}

// Text is the value at a path as it stands in a table.
func (o Object) Text(path string) string { return Text(o.At(path)) }

// Text shows a JSON value in a cell: objects as key=value, lists with commas, what is missing as nothing. What stands inside of others has brackets,
// so that it can be told where it ends.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	case float64:
		return fmt.Sprint(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = nested(item)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+"="+nested(v[name]))
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

// nested is the text of a value inside of another.
func nested(v any) string {
	switch v.(type) {
	case []any:
		return "[" + Text(v) + "]"
	case map[string]any:
		return "{" + Text(v) + "}"
	}
	return Text(v)
}

// Number is the value at a path as a number, 0 if it is none.
func (o Object) Number(path string) float64 {
	n, ok := o.At(path).(json.Number)
	if !ok {
		return 0
	}
	f, err := n.Float64()
	if err != nil {
		return 0
	}
	return f
}

// Sort orders objects by the texts or numbers at the paths.
func Sort(list []Object, paths ...string) {
	slices.SortStableFunc(list, func(a, b Object) int {
		for _, path := range paths {
			if c := cmp.Or(cmp.Compare(a.Number(path), b.Number(path)), cmp.Compare(a.Text(path), b.Text(path))); c != 0 {
				return c
			}
		}
		return 0
	})
}

// Bytes shows a number of bytes for people.
func Bytes(n float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if n < 1024 {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + " " + unit
		}
		n /= 1024
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + " TiB"
}

// ParseBytes reads a number of bytes with a unit: 1GB, 512MiB, 1000.
func ParseBytes(given string) (int64, error) {
	// K is 1024 and KB 1000, as in RabbitMQ's configuration.
	digits := strings.TrimRight(given, "kKMGTiBb")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit, known := byteUnits[strings.ToUpper(strings.TrimPrefix(given, digits))]
	if err != nil || !known || n < 0 || n > math.MaxInt64/unit {
		return 0, &UsageError{Text: given + " is no number of bytes, such as 1000000, 512MiB or 2GB"}
	}
	return n * unit, nil
}

var byteUnits = map[string]int64{"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "KB": 1000, "M": 1 << 20, "MIB": 1 << 20, "MB": 1_000_000,
	"G": 1 << 30, "GIB": 1 << 30, "GB": 1_000_000_000, "T": 1 << 40, "TIB": 1 << 40, "TB": 1_000_000_000_000}
