package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"leveret/ctl"

	"github.com/spf13/pflag"
)

// usageText is what an error of usage says; it is one for which the exit code is 64.
func usageText(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var usage *ctl.UsageError
	if !errors.As(err, &usage) {
		t.Errorf("%v is no error of usage", err)
	}
	return err.Error()
}

// What a flag's text becomes in a request, by the kind of the field.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		kind        kind
		given, want string // JSON, or an error
	}{
		{text, "", `""`}, {text, "true", `"true"`}, {text, "a b", `"a b"`},
		{boolean, "true", "true"}, {boolean, "false", "false"}, {boolean, "1", "true"}, {boolean, "yes", "--f is true or false, not yes"},
		{number, "0", "0"}, {number, "-5", "-5"}, {number, "9223372036854775807", "9223372036854775807"}, {number, "1.5", "--f is a number, not 1.5"},
		{number, "9223372036854775808", "--f is a number, not 9223372036854775808"}, {number, "", "--f is a number, not "},
		{object, `{"x-max-length": 5}`, `{"x-max-length":5}`}, {object, "{}", "{}"},
		{object, "[]", `--f is a JSON object such as {"x-max-length": 1000}, not []`}, {object, "null", `--f is a JSON object such as {"x-max-length": 1000}, not null`},
		{object, "{", `--f is a JSON object such as {"x-max-length": 1000}, not {`},
		{value, "5", "5"}, {value, `"5"`, `"5"`}, {value, "queue-length", `"queue-length"`}, {value, `{"a":[1]}`, `{"a":[1]}`}, {value, "{", `"{"`}, {value, "null", "null"},
		{tags, "a,b", `"a,b"`}, {tags, "", `""`},
	} {
		parsed, err := (&field{name: "f", kind: tt.kind}).parse(tt.given)
		if got := jsonOr(t, parsed, err); got != tt.want {
			t.Errorf("kind %d, %q: %s, want %s", tt.kind, tt.given, got, tt.want)
		}
	}
}

// given are the flags of a command line for the fields of a noun.
func given(t *testing.T, fields []field, args ...string) (values, *pflag.FlagSet) {
	t.Helper()
	v, flags := values{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	v.addFlags(flags, fields)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return v, flags
}

// The body of a request has what was given, and of what was not the required fields alone; what stands in the path is not in it.
func TestBody(t *testing.T) {
	n := &noun{item: "/things/{vhost}/{name}", fields: []field{
		{name: "name", key: "name"}, {name: "size", key: "size", kind: number}, {name: "durable", key: "durable", kind: boolean, fallback: "true"},
		{name: "pattern", key: "pattern", required: true}, {name: "switch", kind: boolean},
	}}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, `{"durable":true,"pattern":""}`},
		{[]string{"--name", "n", "--size", "3"}, `{"durable":true,"pattern":"","size":3}`},
		{[]string{"--durable=false", "--pattern", ".*", "--switch"}, `{"durable":false,"pattern":".*"}`},
		{[]string{"--durable", "--size", "x"}, "--size is a number, not x"},
	} {
		v, _ := given(t, n.fields, tt.args...)
		body, err := n.body(v)
		if got := jsonOr(t, body, err); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.args, got, tt.want)
		}
	}
}

// What identifies an object has to have a value; other required fields have to be given, and may be empty: no right at all is one.
func TestRequired(t *testing.T) {
	fields := []field{{name: "for", required: true, identifies: true}, {name: "read", required: true}, {name: "note"}}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "--for is required"}, {[]string{"--for", ""}, "--for is required"}, {[]string{"--for", "u"}, "--read is required"},
		{[]string{"--for", "u", "--read", ""}, ""}, {[]string{"--for", "u", "--read", ".*", "--note", "n"}, ""},
	} {
		v, flags := given(t, fields, tt.args...)
		if got := usageText(t, v.check(flags, fields)); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.args, got, tt.want)
		}
	}
}

// Names come into paths escaped, each as one part, whatever stands in them.
func TestExpand(t *testing.T) {
	name, other := "a/b c", "%"
	v := values{"name": &name, "other": &other}
	for path, want := range map[string]string{
		"/queues/{vhost}/{name}": "/queues/%2F/a%2Fb%20c", "/queues": "/queues", "/x/{other}/y": "/x/%25/y", "/{name}/{name}": "/a%2Fb%20c/a%2Fb%20c",
		"/x/{name/y}": "/x/%7Bname/y%7D",
	} {
		if got := v.expand(path, "/"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// --where compares what tables show, and all conditions have to fit.
func TestConditions(t *testing.T) {
	var o ctl.Object
	if err := ctl.Decode([]byte(`{"name":"q","durable":true,"messages":5,"arguments":{"x":"a=b"},"policy":null}`), &o); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		given []string
		want  bool
	}{
		{nil, true}, {[]string{"name=q"}, true}, {[]string{"name=r"}, false}, {[]string{"durable=true", "messages=5"}, true}, {[]string{"durable=true", "messages=6"}, false},
		{[]string{"arguments.x=a=b"}, true}, {[]string{"policy="}, true}, {[]string{"nothing="}, true}, {[]string{"name="}, false},
	} {
		c, err := conditions(tt.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.fit(o); got != tt.want || len(c.fields()) != len(tt.given) {
			t.Errorf("%q: %v, want %v; fields %q", tt.given, got, tt.want, c.fields())
		}
	}
	if _, err := conditions([]string{"name=q", "durable"}); usageText(t, err) != "--where is FIELD=VALUE, not durable" {
		t.Errorf("without a value: %v", err)
	}
}

// The API's words for what is not there become words that name it; those that do so already stay.
func TestLacking(t *testing.T) {
	for _, tt := range []struct{ reason, path, want string }{
		{"exchange_not_found", "/exchanges/%2F/x%20y/publish", "there is no exchange 'x y' in virtual host '/'"},
		{"vhost_not_found", "/queues/nowhere/q", "there is no virtual host 'nowhere'"},
		{"vhost_or_user_not_found", "/permissions/%2F/nobody", "there is no virtual host '/', or no user 'nobody'"},
		{"Access refused.", "/queues/%2F/secret", "access to 'secret' is refused"},
		{"not found: Not Found", "/connections/127.0.0.1:1", "there is no connection '127.0.0.1:1'"},
		{"not found: Not Found", "/queues/nowhere?columns=name", "there is no virtual host 'nowhere'"},
		{"not found: Not Found", "/users/nobody", "there is no user 'nobody'"},
		{"not found: Not Found", "/user-limits/nobody", "there is no user limit 'nobody'"},
		{"not found: Not Found", "/queues/%2F/q", ""},
		{"not found: Not Found", "/overview", ""},
		{"Validation failed", "/policies/%2F/p", ""},
	} {
		if got := lacking(tt.reason, pathParts(tt.path)); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.reason, tt.path, got, tt.want)
		}
	}
	other := errors.New("other")
	if got := named(other); got != other {
		t.Errorf("an error that is no refusal became %v", got)
	}
	if got := named(&ctl.Refusal{Status: http.StatusNotFound, Reason: "vhost_not_found", Path: "/queues/v"}); got.Error() != "there is no virtual host 'v'" {
		t.Errorf("a refusal became %v", got)
	}
}

// A small number without a unit is a share of the memory, all else is bytes.
func TestLimit(t *testing.T) {
	for given, want := range map[string]string{
		"0.6": `{"share":0.6}`, "0": `{"share":0}`, "1": `{"share":1}`, "100": `{"share":100}`, "101": `{"bytes":101}`, "512MiB": `{"bytes":536870912}`, "1GB": `{"bytes":1000000000}`,
		"-1": "a limit is bytes such as 512MiB, or a fraction such as 0.6, not -1", "much": "a limit is bytes such as 512MiB, or a fraction such as 0.6, not much",
		"NaN": "a limit is bytes such as 512MiB, or a fraction such as 0.6, not NaN", "": "a limit is bytes such as 512MiB, or a fraction such as 0.6, not ",
	} {
		body, err := limit("bytes", "share")(given)
		got := usageText(t, err)
		if err == nil {
			encoded, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			got = string(encoded)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", given, got, want)
		}
	}
}

// Nouns are found in singular and plural, with dashes or underscores.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		first, second string
		want          []string
	}{
		{"queue", "queues", []string{"queues"}}, {"vhost_limit", "vhost_limits", []string{"vhost_limits", "vhost-limit", "vhost-limits"}},
		{"permissions", "permissions", nil},
	} {
		if got := names(tt.first, tt.second); !slices.Equal(got, tt.want) {
			t.Errorf("%s, %s: %q, want %q", tt.first, tt.second, got, tt.want)
		}
	}
}

// Errors of flags are errors of usage; a number below 0 is called what it is, as it looks like a flag.
func TestFlagError(t *testing.T) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for arg, want := range map[string]string{"--nothing": "unknown flag: --nothing", "-5": "-5 is below 0, which can't be", "-x": "unknown shorthand flag: 'x' in -x"} {
		if got := usageText(t, flagError(nil, flags.Parse([]string{arg}))); got != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
}

// A column of numbers stands at the right; one in parentheses may be left out; what is no value is no cell.
func TestTableOf(t *testing.T) {
	var objects []ctl.Object
	if err := ctl.Decode([]byte(`[{"name":"a","n":5,"x":null},{"name":"7","n":null,"x":"1"}]`), &objects); err != nil {
		t.Fatal(err)
	}
	table := tableOf(objects, []column{{"name", "name"}, {"(number)", "n"}, {"x", "x"}})
	if !slices.Equal(table.Header, []string{"NAME", "NUMBER", "X"}) || !slices.Equal(table.Right, []bool{false, true, true}) || !slices.Equal(table.Spare, []bool{false, true, false}) {
		t.Errorf("header %q, right %v, spare %v", table.Header, table.Right, table.Spare)
	}
	if len(table.Rows) != 2 || !slices.Equal(table.Rows[0], []string{"a", "5", ""}) || !slices.Equal(table.Rows[1], []string{"7", "", "1"}) {
		t.Errorf("rows %q", table.Rows)
	}
	if of := tableOf(nil, []column{{"n", "n"}}); of.Right[0] || len(of.Rows) != 0 {
		t.Errorf("a table of nothing: %+v", of)
	}
}

// A shovel that would put messages back where it takes them from is refused; one with a destination, or to another broker, is not.
func TestIntoItself(t *testing.T) {
	for _, tt := range []struct {
		args    []string
		refused bool
	}{
		{[]string{"--source-queue", "a"}, true}, {[]string{"--source-queue", "a", "--destination-queue", "b"}, false},
		{[]string{"--source-queue", "a", "--destination-queue", "a"}, true},
		{[]string{"--source-queue", "a", "--destination-queue", "a", "--destination-uri", "amqp://other"}, false},
		{[]string{"--source-queue", "a", "--destination-exchange", "x"}, false}, {[]string{"--source-queue", "a", "--destination-uri", "amqp://other"}, false},
		{[]string{"--source-uri", "amqp://one", "--destination-uri", "amqp://one"}, true},
	} {
		v, _ := given(t, shovelNoun.fields, tt.args...)
		if got := intoItself(v); (got != "") != tt.refused {
			t.Errorf("%q: %q", tt.args, got)
		}
	}
}

// jsonOr is a value as JSON, or the text of the error that there is in place of it.
func jsonOr(t *testing.T, value any, err error) string {
	t.Helper()
	if err != nil {
		return usageText(t, err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
