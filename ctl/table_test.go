package ctl_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"leveret/ctl"

	"pgregory.net/rapid"
)

func table(t *testing.T, table ctl.Table) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTable(t *testing.T) {
	rows := [][]string{{"jobs", "12"}, {"a queue with a long name", "1234567"}, {"short"}}
	tests := []struct {
		name  string
		table ctl.Table
		want  string
	}{
		{"aligned", ctl.Table{Header: []string{"NAME", "READY"}, Rows: rows, Right: []bool{false, true}},
			"NAME                        READY\njobs                           12\na queue with a long name  1234567\nshort\n"},
		{"cut to fit", ctl.Table{Header: []string{"NAME", "READY"}, Rows: rows, Right: []bool{false, true}, Width: 24},
			"NAME               READY\njobs                  12\na queue wi…name  1234567\nshort\n"},
		{"no further than it is readable", ctl.Table{Rows: rows, Width: 4}, "jobs      12\na que…me  1234567\nshort\n"},
		{"what is spare goes first", ctl.Table{Header: []string{"NAME", "POLICY", "READY"}, Rows: [][]string{{"a long name", "short", "7"}}, Spare: []bool{false, true}, Width: 20},
			"NAME         READY\na long name  7\n"},
		{"what is spare and empty goes before what is not", ctl.Table{Header: []string{"A", "EMPTY", "B"}, Rows: [][]string{{"a", "", "b"}, {"x"}}, Spare: []bool{false, true, true}, Width: 6},
			"A  B\na  b\nx\n"},
		{"what is spare stays where it fits", ctl.Table{Rows: [][]string{{"name", "x", "7"}}, Spare: []bool{true, true}, Width: 10}, "name  x  7\n"},
		{"no header", ctl.Table{Rows: [][]string{{"a", "b"}}}, "a  b\n"},
		{"nothing", ctl.Table{}, ""},
		{"no commands to the terminal", ctl.Table{Rows: [][]string{{"\x1b[2Jé\n", "x"}}}, "�[2Jé�  x\n"},
	}
	for _, tt := range tests {
		if got := table(t, tt.table); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestTableFits: whatever is in the cells, lines are no longer than the terminal as long as columns can give way, and there are as many as rows.
func TestTableFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		row := rapid.SliceOfN(rapid.String(), columns, columns)
		tab := ctl.Table{Header: row.Draw(t, "header"), Rows: rapid.SliceOf(row).Draw(t, "rows"), Width: rapid.IntRange(60, 120).Draw(t, "width")}
		var b strings.Builder
		if err := tab.Write(&b); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(tab.Rows)+1 {
			t.Fatalf("%d lines for %d rows", len(lines), len(tab.Rows))
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > tab.Width {
				t.Fatalf("%q is over %d", line, tab.Width)
			}
		}
	})
}

func TestValues(t *testing.T) {
	var o ctl.Object
	if err := ctl.Decode([]byte(`{"a":{"b":{"rate":1.50}},"n":7,"t":true,"list":["x",1],"o":{"z":1,"y":"v"},"deep":[{"k":["p","q"]},2],"headers":{"h":{"t":"a"}},"none":null,"a.b":"own","big":12345678901234567890}`), &o); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a.b.rate": "1.50", "n": "7", "t": "true", "list": "x, 1", "o": "y=v, z=1", "deep": "{k=[p, q]}, 2", "headers": "h={t=a}", "none": "", "a.b": "own", "a.c": "", "n.x": "",
		"big": "12345678901234567890"} {
		if got := o.Text(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if o.Number("a.b.rate") != 1.5 || o.Number("t") != 0 || o.Number("missing") != 0 {
		t.Error("numbers")
	}
	if ctl.Text(2.5) != "2.5" || ctl.Text(struct{}{}) != "{}" {
		t.Error("texts of other types")
	}
	for n, want := range map[float64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 1 << 20: "1 MiB", 3 << 30: "3 GiB", 5 << 40: "5 TiB"} {
		if got := ctl.Bytes(n); got != want {
			t.Errorf("%v is %q, want %q", n, got, want)
		}
	}
}

func TestSort(t *testing.T) {
	var list []ctl.Object
	if err := ctl.Decode([]byte(`[{"v":"b","n":10},{"v":"a","n":9},{"v":"a","n":10},{"v":"c"}]`), &list); err != nil {
		t.Fatal(err)
	}
	ctl.Sort(list, "n", "v")
	var got strings.Builder
	for _, o := range list {
		got.WriteString(o.Text("v") + o.Text("n") + " ")
	}
	if want := "c a9 a10 b10 "; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}
