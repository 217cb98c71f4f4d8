package rabbitmqctl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// appendTerm prints a JSON value as an Erlang term. Texts stand in quotes, the fields of objects are pairs.
// Keys of objects come in order, as maps have none, so that equal answers are equal texts.
func appendTerm(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "undefined"...)
	case string:
		return strconv.AppendQuote(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case json.Number:
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendTerm(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '[')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(strconv.AppendQuote(append(dst, '{'), name), ',')
			dst = append(appendTerm(dst, v[name]), '}')
		}
		return append(dst, ']')
	}
	// What Go counted itself: ints, from lists that the tool makes.
	return fmt.Append(dst, v)
}

// term reads an Erlang term at the start of text and returns it as a JSON value, and the rest: numbers, atoms (as texts; true and false as such, undefined
// as nil), strings, binaries, lists and tuples (as lists).
func term(text string) (v any, rest string, err error) {
	text = strings.TrimLeft(text, " \t\n")
	switch {
	case strings.HasPrefix(text, "<<"):
		v, rest, err = quoted(strings.TrimLeft(text[2:], " "))
		rest = strings.TrimLeft(rest, " ")
		if err == nil && !strings.HasPrefix(rest, ">>") {
			err = notTerm(rest)
		}
		return v, strings.TrimPrefix(rest, ">>"), err
	case strings.HasPrefix(text, `"`):
		return quoted(text)
	case strings.HasPrefix(text, "["):
		return sequence(text[1:], "]")
	// JSON has no tuples; a list is the nearest.
	case strings.HasPrefix(text, "{"):
		return sequence(text[1:], "}")
	}
	end := strings.IndexFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@.-'", r)
	})
	if end < 0 {
		end = len(text)
	}
	// A dot may end the whole expression.
	word := strings.TrimRight(text[:end], ".")
	if word == "" {
		return nil, text, notTerm(text)
	}
	return atom(word), text[len(word):], nil
}

// quoted reads a string.
// Erlang's escapes are nearly those of Go; what differs is refused.
func quoted(text string) (v any, rest string, err error) {
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil || !strings.HasPrefix(prefix, `"`) {
		return nil, text, notTerm(text)
	}
	s, err := strconv.Unquote(prefix)
	return s, text[len(prefix):], err
}

// sequence reads the items of a list or a tuple.
func sequence(text, end string) (v any, rest string, err error) {
	// Commas count as space: whoever leaves one out means the same, and nothing is executed.
	items := []any{}
	for {
		text = strings.TrimLeft(text, " \t\n,")
		if rest, ok := strings.CutPrefix(text, end); ok {
			return items, rest, nil
		}
		var item any
		if item, text, err = term(text); err != nil {
			return nil, text, err
		}
		items = append(items, item)
	}
}

// atom is what a bare word means.
func atom(word string) any {
	if word == "true" || word == "false" {
		return word == "true"
	}
	if word == "undefined" {
		return nil
	}
	if (word[0] == '-' || '0' <= word[0] && word[0] <= '9') && json.Valid([]byte(word)) {
		return json.Number(word) // it goes into JSON as it is, and infinity, which strconv takes for a number, is an atom
	}
	return strings.Trim(word, "'")
}

// notTerm shows where reading ended, as far as fits into a line.
func notTerm(text string) error { return fmt.Errorf("no Erlang term: %.20q", text) }
