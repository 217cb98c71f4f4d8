package rabbitmqctl

import (
	"encoding/json"
	"strings"
	"testing"

	"leveret/ctl"
)

// Each formatter prints the same list in its form; what scripts split by never stands in a value.
func TestFormatters(t *testing.T) {
	rows := &columnsAndRows{columns: []string{"name", "v"}, rows: [][]any{
		{"a\tb\nc", json.Number("1")}, {"ä", nil}, {"x,\"y\"", []any{"p", "q"}}, {"", map[string]any{"k": true}},
	}}
	empty := &columnsAndRows{columns: []string{"name", "v"}}
	print := map[string]func(l *columnsAndRows, out *strings.Builder, headers bool) error{
		"table":  func(l *columnsAndRows, out *strings.Builder, headers bool) error { return l.table(out, headers) },
		"pretty": func(l *columnsAndRows, out *strings.Builder, headers bool) error { return l.pretty(out, headers) },
		"csv":    func(l *columnsAndRows, out *strings.Builder, headers bool) error { return l.csv(out, headers) },
		"json":   func(l *columnsAndRows, out *strings.Builder, _ bool) error { return l.json(out) },
		"erlang": func(l *columnsAndRows, out *strings.Builder, _ bool) error { return l.erlang(out) },
	}
	for _, tt := range []struct {
		form    string
		list    *columnsAndRows
		headers bool
		want    string
	}{
		{"table", rows, true, "name\tv\na\\tb\\nc\t1\nä\t\nx,\"y\"\t[p, q]\n\t[{\"k\",true}]\n"},
		{"table", rows, false, "a\\tb\\nc\t1\nä\t\nx,\"y\"\t[p, q]\n\t[{\"k\",true}]\n"},
		{"table", empty, false, ""},
		{"csv", rows, true, "name,v\na\\tb\\nc,1\nä,\n\"x,\"\"y\"\"\",\"[p, q]\"\n,\"[{\"\"k\"\",true}]\"\n"},
		{"csv", empty, false, ""},
		{"json", rows, true, "[\n{\"name\":\"a\\tb\\nc\",\"v\":1}\n,{\"name\":\"ä\",\"v\":null}\n,{\"name\":\"x,\\\"y\\\"\",\"v\":[\"p\",\"q\"]}\n,{\"name\":\"\",\"v\":{\"k\":true}}\n]\n"},
		{"json", empty, true, "[\n]\n"},
		{"erlang", rows, true, "[[{name,\"a\\tb\\nc\"},{v,1}],\n [{name,\"ä\"},{v,undefined}],\n [{name,\"x,\\\"y\\\"\"},{v,[\"p\",\"q\"]}],\n [{name,\"\"},{v,[{\"k\",true}]}]]\n"},
		{"erlang", empty, true, "[]\n"},
		{"pretty", &columnsAndRows{columns: []string{"name", "v"}, rows: [][]any{{"ä", nil}, {"long", 1}}}, true,
			"┌──────┬───┐\n│ name │ v │\n├──────┼───┤\n│ ä    │   │\n│ long │ 1 │\n└──────┴───┘\n"},
		{"pretty", empty, false, "┌──────┬───┐\n└──────┴───┘\n"},
	} {
		var b strings.Builder
		if err := print[tt.form](tt.list, &b, tt.headers); err != nil || b.String() != tt.want {
			t.Errorf("%s: %v\n got %q\nwant %q", tt.form, err, b.String(), tt.want)
		}
	}
}

// How many arguments a verb takes stands in what its help says.
func TestCount(t *testing.T) {
	for args, want := range map[string][2]int{
		"": {0, 0}, "<user>": {1, 1}, "<user> [password]": {1, 2}, "[pid]": {0, 1}, "<user> [tag] [...]": {1, 1000}, "<name> <pattern> <definition>": {3, 3},
	} {
		if least, most := (verb{args: args}).count(); least != want[0] || most != want[1] {
			t.Errorf("%q: %d to %d, want %v", args, least, most, want)
		}
	}
}

// Columns that nothing has are refused; not those that RabbitMQ has and objects lack, and none where nothing is listed.
func TestKnownColumns(t *testing.T) {
	l := &list{fields: map[string]string{"queue_name": "queue.name"}}
	objects := []ctl.Object{{"name": "q"}, {"queue": map[string]any{"name": "q"}, "null": nil}}
	for columns, want := range map[string]string{
		"name": "", "name queue_name queue.name null": "", "slave_pids policy": "", "colour": "colour", "colour name size": "colour,size",
	} {
		text := ""
		if err := l.known(strings.Fields(columns), objects); err != nil {
			text = err.Error()
		}
		if want != "" {
			want = "Error (argument validation): Info key(s) " + want + " are not supported"
		}
		if text != want {
			t.Errorf("%s: %q, want %q", columns, text, want)
		}
	}
	if err := l.known([]string{"colour"}, nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

// What a verb says fills in its arguments, and only the reason of verbs that close something is told to clients.
func TestSays(t *testing.T) {
	s := &session{vhost: "v", timeout: 1.5, cmd: New("rabbitmqctl")}
	v := verb{doing: "{0} and {1} in {vhost}, {timeout} s, priority {priority}"}
	if got, want := v.says(s, []string{"a", "b"}), "a and b in v, 1.5 s, priority "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for name, want := range map[string]string{"close_connection": "why", "close_all_connections": "why", "delete_queue": ""} {
		if got := (verb{name: name}).reason([]string{"x", "why"}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := (verb{name: "close_connection"}).reason(nil); got != "" {
		t.Errorf("without arguments: %q", got)
	}
}
