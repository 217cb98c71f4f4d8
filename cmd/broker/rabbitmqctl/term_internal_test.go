package rabbitmqctl

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestTerm(t *testing.T) {
	tests := []struct {
		text string
		want any
		rest string
	}{
		{"1", json.Number("1"), ""},
		{" 2047).", json.Number("2047"), ")."},
		{"0.4", json.Number("0.4"), ""},
		{"-1", json.Number("-1"), ""},
		{"true", true, ""},
		{"undefined", nil, ""},
		{"basic", "basic", ""},
		{"'quoted atom", "quoted", " atom"},
		{`"text \"x\""`, `text "x"`, ""},
		{`<<"guest">>`, "guest", ""},
		{`<< "guest" >>`, "guest", ""},
		{"[]", []any{}, ""},
		{`[<<"a">>, {b, 1}]`, []any{"a", []any{"b", json.Number("1")}}, ""},
		{"infinity", "infinity", ""},
		{"nan", "nan", ""},
		{"rabbit@host-1", "rabbit@host-1", ""},
		{"1.5e3", json.Number("1.5e3"), ""},
		{"0x1p-2", "0x1p-2", ""},
		{"-", "-", ""},
		{"[[],{}]", []any{[]any{}, []any{}}, ""},
		{"{infinity, [true, undefined]} rest", []any{"infinity", []any{true, nil}}, " rest"},
		{"4.", json.Number("4"), "."},
	}
	for _, tt := range tests {
		if got, rest, err := term(tt.text); err != nil || !reflect.DeepEqual(got, tt.want) || rest != tt.rest {
			t.Errorf("%s: %#v, rest %q, %v; want %#v", tt.text, got, rest, err, tt.want)
		}
	}
	for _, text := range []string{"", "[1", `<<"a"`, `"a`, "<<1>>", "{a, )", "#{}"} {
		if v, _, err := term(text); err == nil {
			t.Errorf("%s is %#v", text, v)
		}
	}
}

// FuzzTerm: whatever is given, reading ends, the rest is what the text ends with, and what was read can be sent to the API.
func FuzzTerm(f *testing.F) {
	for _, seed := range []string{`[<<"a">>, {b, 1}]`, "undefined", "infinity", "-01", `"x`, "[[[[", "'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, rest, err := term(text)
		if err == nil && (len(rest) > len(text) || text[len(text)-len(rest):] != rest) {
			t.Errorf("%q leaves %q", text, rest)
		}
		if err != nil {
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%q is %#v, which can't be sent: %v", text, v, err)
		}
	})
}

// TestAppendTerm: JSON values as Erlang terms, as RabbitMQ's tool prints tables and lists in them.
func TestAppendTerm(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{nil, "undefined"}, {"", `""`}, {"a\"b\n", `"a\"b\n"`}, {true, "true"}, {false, "false"}, {json.Number("1.50"), "1.50"}, {7, "7"},
		{[]any{}, "[]"}, {[]any{"a", json.Number("1"), nil}, `["a",1,undefined]`}, {map[string]any{}, "[]"},
		{map[string]any{"b": true, "a": []any{map[string]any{"c": "d"}}}, `[{"a",[[{"c","d"}]]},{"b",true}]`},
	} {
		if got := string(appendTerm([]byte("x"), tt.value)); got != "x"+tt.want {
			t.Errorf("%#v: %s, want %s", tt.value, got[1:], tt.want)
		}
	}
}
