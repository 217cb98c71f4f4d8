package management

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/auth"
	"leveret/server"
)

// What stands in answers is written as JSON that strict clients read: floats have a point, integers none, and nothing is no JSON.
func TestAppendJSON(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{nil, "null"}, {true, "true"}, {"", `""`}, {0, "0"}, {-1, "-1"}, {int64(math.MinInt64), "-9223372036854775808"},
		{uint64(math.MaxUint64), "18446744073709551615"}, {uint16(7), "7"}, {uint32(7), "7"},
		{0.0, "0.0"}, {1.0, "1.0"}, {-2.5, "-2.5"}, {1e21, "1e+21"}, {math.NaN(), "0.0"}, {math.Inf(1), "0.0"}, {math.Inf(-1), "0.0"},
		{json.Number("1.50"), "1.50"},
		{"ä€😀", `"ä€😀"`}, {"a\"b\\c", `"a\"b\\c"`}, {"\n\t\x00\x1f\x7f", `"\n\u0009\u0000\u001f` + "\x7f" + `"`}, {"\xff", `"` + "\uFFFD" + `"`},
		{"<b>&", `"<b>&"`},
		{[]string{"a", "b"}, `["a","b"]`}, {[]string(nil), "[]"}, {[]any{1, "a", nil}, `[1,"a",null]`}, {[]object{{}, {{"a", 1}}}, `[{},{"a":1}]`},
		{object(nil), "{}"}, {object{{"b", 1}, {"a", object{{"c", false}}}}, `{"b":1,"a":{"c":false}}`},
		{map[string]any{"b": 1, "a": 2}, `{"a":2,"b":1}`},
		{amqp.Table{{Name: "x", Value: int32(5)}}, `{"x":5}`},
		{struct{ A int }{3}, `{"A":3}`}, {make(chan int), "null"}, // whatever else comes from elsewhere
	} {
		got := string(appendJSON(nil, tt.value))
		if got != tt.want || !json.Valid([]byte(got)) {
			t.Errorf("%#v: %s, want %s", tt.value, got, tt.want)
		}
	}
}

// Field tables are shown with what JSON has: widths are lost, binary is text, times are seconds.
func TestPlainValues(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{nil, "null"}, {true, "true"}, {"s", `"s"`}, {[]byte("b"), `"b"`}, {int8(-3), "-3"}, {byte(200), "200"}, {int16(-3), "-3"},
		{uint16(3), "3"}, {int32(-3), "-3"}, {uint32(3), "3"}, {int64(-3), "-3"}, {float32(0.5), "0.5"}, {2.0, "2.0"},
		{amqp.Timestamp(1700000000), "1700000000"}, {amqp.Decimal{Scale: 2, Value: 314}, "3.14"},
		{amqp.Table{{Name: "b", Value: "1"}, {Name: "a", Value: amqp.Table{}}}, `{"b":"1","a":{}}`},
		{amqp.Array{int32(1), "x", amqp.Array{}}, `[1,"x",[]]`},
	} {
		if got := string(appendJSON(nil, plainValue(tt.value))); got != tt.want {
			t.Errorf("%#v: %s, want %s", tt.value, got, tt.want)
		}
	}
}

// What clients send becomes a field table, or is refused; nothing of it is lost in silence.
func TestFieldTables(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                                                   "map[]",
		`{"arguments":null}`:                                   "[]",
		`{"arguments":[]}`:                                     "[]",
		`{"arguments":{}}`:                                     "[]",
		`{"arguments":{"a":1}}`:                                "[{a 1}]",
		`{"arguments":{"a":1.5,"b":"s"}}`:                      "[{a 1.5} {b s}]",
		`{"arguments":{"a":[true,{"b":[]}]}}`:                  "[{a [true [{b []}]]}]",
		`{"arguments":{"a":9223372036854775807}}`:              "[{a 9223372036854775807}]",
		`{"arguments":{"a":9223372036854775808}}`:              "[{a 9.223372036854776e+18}]",
		`{"arguments":{"a":1e999}}`:                            "a number is out of range: 1e999",
		`{"arguments":{"a":null}}`:                             "null_not_allowed",
		`{"arguments":{"a":[{"b":null}]}}`:                     "null_not_allowed",
		`{"arguments":"x"}`:                                    "arguments must be an object",
		`{"arguments":[1]}`:                                    "arguments must be an object",
		`{"arguments":7}`:                                      "arguments must be an object",
		`{"arguments":{"` + strings.Repeat("k", 255) + `":1}}`: "[{" + strings.Repeat("k", 255) + " 1}]",
		`{"arguments":{"` + strings.Repeat("k", 256) + `":1}}`: "key should be less than 255 bytes, actually was 256\n",
		`{"arguments":{"a":{"` + strings.Repeat("k", 300) + `":true}}}`: "key should be less than 255 bytes, actually was 300\n",
	} {
		o, ok := parseObject([]byte(body))
		if !ok {
			t.Fatalf("%s is no object", body)
		}
		given, _ := o.get("arguments")
		table, err := fieldTable(given)
		got := fmt.Sprint([]amqp.Field(table))
		if err != nil {
			got = reasonOf(err)
		}
		if body == "{}" {
			want = "[]"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// reasonOf is what a client is told of an error.
func reasonOf(err error) string {
	f, _ := asFailure(err)
	reason, _ := f.body.get("reason")
	if text, isText := reason.(string); isText {
		return text
	}
	return string(appendJSON(nil, reason))
}

// Values of a wrong kind stand in errors as RabbitMQ prints them.
func TestTerms(t *testing.T) {
	for raw, want := range map[string][2]string{
		`"a"`: {`<<"a">>`, "a"}, `1`: {"1", "1"}, `1.50`: {"1.50", "1.50"}, `true`: {"true", "true"}, `false`: {"false", "false"}, `null`: {"null", "null"},
		`[]`: {"[]", "[]"}, `[1,"a",[true]]`: {`[1,<<"a">>,[true]]`, `[1,<<"a">>,[true]]`},
		`{"a":{"b":1},"c":"d"}`: {`[{<<"a">>,[{<<"b">>,1}]},{<<"c">>,<<"d">>}]`, `[{<<"a">>,[{<<"b">>,1}]},{<<"c">>,<<"d">>}]`},
	} {
		o, _ := parseObject([]byte(`{"v":` + raw + `}`))
		v, _ := o.get("v")
		if got := [2]string{term(v), termText(v)}; got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// Fields of bodies are read with RabbitMQ's tolerance: booleans and numbers may be texts.
func TestFieldsOfBodies(t *testing.T) {
	read := map[string]func(o object) (any, error){
		"boolean": func(o object) (any, error) { return o.boolean("v", true) },
		"text":    func(o object) (any, error) { return o.text("v", "fallback") },
		"integer": func(o object) (any, error) { return o.integer("v", 42) },
	}
	for _, tt := range []struct{ body, boolean, text, integer string }{
		{`{}`, "true", "fallback", "42"},
		{`{"v":false}`, "false", `["not_string",false]`, `["not_integer",false]`},
		{`{"v":true}`, "true", `["not_string",true]`, `["not_integer",true]`},
		{`{"v":"false"}`, "false", "false", `["not_integer","false"]`},
		{`{"v":"true"}`, "true", "true", `["not_integer","true"]`},
		{`{"v":"yes"}`, `["not_boolean","yes"]`, "yes", `["not_integer","yes"]`},
		{`{"v":"-7"}`, `["not_boolean","-7"]`, "-7", "-7"},
		{`{"v":7}`, `["not_boolean",7]`, `["not_string",7]`, "7"},
		{`{"v":7.0}`, `["not_boolean",7.0]`, `["not_string",7.0]`, `["not_integer",7.0]`},
		{`{"v":9223372036854775808}`, `["not_boolean",9223372036854775808]`, `["not_string",9223372036854775808]`, `["not_integer",9223372036854775808]`},
		{`{"v":""}`, `["not_boolean",""]`, "", `["not_integer",""]`},
		{`{"v":null}`, `["not_boolean",null]`, `["not_string",null]`, `["not_integer",null]`},
	} {
		o, ok := parseObject([]byte(tt.body))
		if !ok {
			t.Fatalf("%s is no object", tt.body)
		}
		for kind, want := range map[string]string{"boolean": tt.boolean, "text": tt.text, "integer": tt.integer} {
			v, err := read[kind](o)
			got := fmt.Sprint(v)
			if err != nil {
				got = reasonOf(err)
			}
			if got != want {
				t.Errorf("%s as %s: %s, want %s", tt.body, kind, got, want)
			}
		}
	}
}

// What counts as an object, up to how deep it may be.
func TestParseObject(t *testing.T) {
	nested := func(depth int) string { return `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}` }
	for _, tt := range []struct {
		name, raw string
		ok        bool
	}{
		{"nothing", "", true}, {"spaces", " \r\n\t", true}, {"null", " null ", true}, {"an object", ` {"a":1} `, true},
		{"a list", "[]", false}, {"a text", `"a"`, false}, {"a number", "1", false}, {"half an object", `{"a":`, false}, {"two objects", "{}{}", false},
		{"something behind it", `{} x`, false}, {"a comma too much", `{"a":1,}`, false}, {"single quotes", `{'a':1}`, false}, {"octets", "\xff\xfe", false},
		{"as deep as may be", nested(maxDepth - 1), true}, {"deeper", nested(maxDepth), false}, {"much deeper", nested(9_000), false},
	} {
		if _, ok := parseObject([]byte(tt.raw)); ok != tt.ok {
			t.Errorf("%s: %v, want %v", tt.name, ok, tt.ok)
		}
	}
	o, _ := parseObject([]byte(`{"b":1,"a":2,"b":3}`))
	if got := string(appendJSON(nil, o)); got != `{"b":1,"a":2,"b":3}` {
		t.Errorf("order and duplicates are lost: %s", got)
	}
}

// All that is missing is told at once, in lines where RabbitMQ breaks them.
func TestRequire(t *testing.T) {
	o := object{{"a", nil}, {"b", 1}}
	long := strings.Repeat("x", 30)
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, ""}, {[]string{"a", "b"}, ""}, {[]string{"a", "c"}, "[{key_missing,c}]"}, {[]string{"c", "b", "d"}, "[{key_missing,c},{key_missing,d}]"},
		{[]string{long, long}, "[{key_missing," + long + "},\n {key_missing," + long + "}]"},
	} {
		got := ""
		if err := o.require(tt.names...); err != nil {
			got = reasonOf(err)
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.names, got, tt.want)
		}
	}
}

// Paths into objects prefer a field that is called so with its dots.
func TestFieldAt(t *testing.T) {
	o := object{{"a", object{{"b", object{{"c", 1}}}, {"x.y", 2}}}, {"a.b", 3}, {"n", nil}}
	for path, want := range map[string]any{"a.b": 3, "a.b.c": 1, "a.x.y": 2, "n": nil} {
		if got, found := o.at(path); !found || got != want {
			t.Errorf("%s: %v %v, want %v", path, got, found, want)
		}
	}
	for _, path := range []string{"", "b", "a.c", "n.x", "a.b.c.d", "a."} {
		if got, found := o.at(path); found {
			t.Errorf("%q: found %v", path, got)
		}
	}
}

// Values of different kinds have an order among them, so that any field of any list can be sorted by.
func TestCompareValues(t *testing.T) {
	ordered := []any{
		-1, nil, 0.5, uint16(1), json.Number("1.5"), int64(2), uint64(math.MaxUint64), false, true, "", "B", "a", "b",
	}
	for i, x := range ordered {
		for j, y := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compareValues(x, y); got != want {
				t.Errorf("%v and %v: %d, want %d", x, y, got, want)
			}
		}
	}
	if compareValues(object{}, []any{}) != 0 || compareValues("x", object{}) != -1 || compareValues(nil, 0) != 0 {
		t.Error("the rest comes last, and all of it is alike")
	}
}

func TestAccepts(t *testing.T) {
	for header, want := range map[string]bool{
		"": true, "*/*": true, "application/json": true, "application/*;q=0.5": true, "text/html, application/json;q=0.1": true,
		"text/html": false, "text/*": false, "application/bert": false, "application/jsonx": false, "json": false,
	} {
		if got := accepts(header); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

func TestAddressParts(t *testing.T) {
	for _, tt := range []struct {
		address net.Addr
		host    string
		port    int
	}{
		{nil, "", 0}, {&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 5672}, "10.0.0.1", 5672}, {&net.TCPAddr{IP: net.IPv6loopback, Port: 1}, "::1", 1},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0", Port: 9}, "fe80::1%eth0", 9}, {&net.TCPAddr{Port: 7}, "", 7},
		{&net.UnixAddr{Name: "/run/x.sock", Net: "unix"}, "/run/x.sock", 0},
	} {
		if host, port := addressParts(tt.address); host != tt.host || port != tt.port {
			t.Errorf("%v: %q %d, want %q %d", tt.address, host, port, tt.host, tt.port)
		}
	}
}

// properties_key is what other tools send back in paths, so its form is part of the API.
func TestPropertiesKey(t *testing.T) {
	for _, tt := range []struct{ key, hash, want string }{
		{"", "", "~"}, {"a", "", "a"}, {"a.b-c_d", "", "a.b-c_d"}, {"a b", "", "a+b"}, {"a/b", "", "a%2Fb"}, {"a~b", "", "a%7Eb"}, {"#", "", "%23"},
		{"ä", "", "%C3%A4"}, {"", "hash", "~hash"}, {"a", "hash", "a~hash"},
	} {
		if got := (&binding{key: tt.key, hash: tt.hash}).propertiesKey(); got != tt.want {
			t.Errorf("key %q, hash %q: %s, want %s", tt.key, tt.hash, got, tt.want)
		}
	}
	if one, other := argumentsHash("a"), argumentsHash("b"); one == other || len(one) != 6 || one != argumentsHash("a") {
		t.Errorf("hashes %s and %s", one, other)
	}
}

// Errors from below become a status and a text in one place; what is not meant for clients stays in the log.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		want   string
		fault  bool
	}{
		{notFound(), 404, "Not Found", false},
		{fmt.Errorf("wrapped: %w", missing("x_not_found")), 404, "x_not_found", false},
		{amqp.NoQueue("q", "/"), 404, amqp.NoQueue("q", "/").Explanation(), false},
		{auth.ErrNoName, 400, auth.ErrNoName.Error(), false},
		{fmt.Errorf("user x: %w", auth.ErrInvalidHash), 400, "user x: " + auth.ErrInvalidHash.Error(), false},
		{auth.ErrInvalidRegexp, 400, `["invalid_regexp","` + auth.ErrInvalidRegexp.Error() + `"]`, false},
		{server.ErrNoVHost, 404, server.ErrNoVHost.Error(), false},
		{server.ErrVHostProtected, 412, server.ErrVHostProtected.Error(), false},
		{&server.VHostRefusal{Text: "no"}, 400, "no", false},
		{errors.New("disk /secret/path is broken"), 500, "internal error, see the broker's log", true},
	} {
		f, fault := asFailure(tt.err)
		if f.status != tt.status || reasonOf(tt.err) != tt.want || fault != tt.fault {
			t.Errorf("%v: %d %q fault %v, want %d %q %v", tt.err, f.status, reasonOf(tt.err), fault, tt.status, tt.want, tt.fault)
		}
		if f.status != http.StatusInternalServerError && fault {
			t.Errorf("%v is a fault with status %d", tt.err, f.status)
		}
	}
}
