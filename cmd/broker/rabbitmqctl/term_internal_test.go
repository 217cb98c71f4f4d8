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

// FuzzTerm: whatever is given, reading ends, and the rest is what the text ends with.
func FuzzTerm(f *testing.F) {
	for _, seed := range []string{`[<<"a">>, {b, 1}]`, "undefined", `"x`, "[[[[", "'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, rest, err := term(text); err == nil && (len(rest) > len(text) || text[len(text)-len(rest):] != rest) {
			t.Errorf("%q leaves %q", text, rest)
		}
	})
}
