package amqp

import (
	"fmt"
	"strconv"
	"strings"
)

// Reply texts show values the way RabbitMQ prints them, in Erlang's notation: clients and their test suites know the texts.

// erlangBinary prints octets: <<"ab">> if all are printable ASCII, else numbers, <<0,20>>. What no reply text can hold is left out.
func erlangBinary[S string | []byte](octets S) string {
	if len(octets) > maxReplyText {
		octets = octets[:maxReplyText]
	}
	if len(octets) == 0 {
		return "<<>>"
	}
	if printable(octets) {
		return `<<` + erlangString(octets) + `>>`
	}
	out := []byte("<<")
	for i := range len(octets) {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendUint(out, uint64(octets[i]), 10)
	}
	return string(out) + ">>"
}

// erlangString prints a text in double quotes.
func erlangString[S string | []byte](text S) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(text)) + `"`
}

func printable[S string | []byte](octets S) bool {
	for i := range len(octets) {
		if octets[i] < ' ' || octets[i] > '~' {
			return false
		}
	}
	return true
}

// FormatValue prints the value of a field the way reply texts show it: numbers and booleans plain, strings as they are, and tables and
// arrays in a notation of their own, which is not contractual.
func FormatValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return erlangBinary(v)
	case nil:
		return "undefined"
	case Table, Array, Decimal:
		return string(appendValueText(nil, v))
	}
	return fmt.Sprint(v)
}

// erlangTerm prints the value of a field as a term: as FormatValue does, but strings as the octets that they are.
func erlangTerm(v any) string {
	if s, ok := v.(string); ok {
		return erlangBinary(s)
	}
	return FormatValue(v)
}

func formatMethodNumbers(id MethodID) string {
	return fmt.Sprintf("%d.%d", id.Class(), id.Method())
}
