package amqp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FormatTerm prints a value out of JSON the way RabbitMQ's texts about policies and parameters show it: strings as binaries, <<"a">>, lists
// in brackets, objects as maps with their keys in order.
func FormatTerm(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return textTerm(v)
	case float64:
		return floatTerm(v)
	case []any:
		return "[" + joined(v, FormatTerm) + "]"
	case map[string]any:
		return "#{" + joined(slices.Sorted(maps.Keys(v)), func(key string) string {
			return textTerm(key) + " => " + FormatTerm(v[key])
		}) + "}"
	}
	return fmt.Sprint(v)
}

// pairsTerm prints an object as a list of pairs.
func pairsTerm(object map[string]any) string {
	return "[" + joined(slices.Sorted(maps.Keys(object)), func(key string) string {
		return "{" + textTerm(key) + "," + FormatTerm(object[key]) + "}"
	}) + "]"
}

func joined[T any](items []T, format func(T) string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = format(item)
	}
	return strings.Join(parts, ",")
}

func textTerm(s string) string {
	if printable(s) {
		return "<<" + erlangString(s) + ">>"
	}
	if utf8.ValidString(s) {
		return "<<" + erlangString(s) + "/utf8>>"
	}
	return erlangBinary(s)
}

// floatTerm always shows that it is no integer.
func floatTerm(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".eIN") {
		return s
	}
	return s + ".0"
}
