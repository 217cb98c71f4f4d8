package admin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leveret/ctl"
)

// column is a column of a table and the path of its value in the object, with the name of a format behind a bar: "mem_used|bytes". A title in parentheses is
// left out where there is no room.
type column struct{ title, path string }

// formats show values for people, by the names that stand in paths. What is missing is shown as nothing by all of them.
var formats = map[string]func(v any) string{
	"bytes": func(v any) string { return ctl.Bytes(numberOf(v)) },
	"ms":    func(v any) string { return duration(numberOf(v)) },
	"since": func(v any) string { return duration(now() - numberOf(v)) },
	"until": func(v any) string { return duration(numberOf(v) - now()) },
	"age":   func(v any) string { return duration(numberOf(v)) }, // 0 is nothing
	"some":  ctl.Text,                                            // likewise
}

// now is the present in Unix milliseconds.
func now() float64 { return float64(time.Now().UnixMilli()) }

// numberOf is a value as a number, 0 if it is none.
func numberOf(v any) float64 { return ctl.Object{"n": v}.Number("n") }

// duration shows milliseconds in the two largest units, 1d3h or 2m30s; below a minute with a fraction, 2.5s.
func duration(ms float64) string {
	d := time.Duration(ms) * time.Millisecond
	const day = 24 * time.Hour
	switch {
	// Clocks differ: what was published in a future of ours is new.
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Round(time.Millisecond * time.Duration(1+99*min(1, d/time.Second))).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}

// cell is what a column shows of an object.
func (c column) cell(o ctl.Object) string {
	path, format, _ := strings.Cut(c.path, "|")
	v := o.At(path)
	show := formats[format]
	if v == nil || show == nil {
		return ctl.Text(v)
	}
	if (format == "some" || format == "age") && numberOf(v) == 0 {
		return ""
	}
	return show(v)
}

// tableOf is a table of objects. A column whose values are all numbers stands at the right.
func tableOf(objects []ctl.Object, columns []column) *ctl.Table {
	t := &ctl.Table{Right: make([]bool, len(columns)), Spare: make([]bool, len(columns))}
	for i, c := range columns {
		path, _, _ := strings.Cut(c.path, "|")
		// Titles in parentheses are those that a narrow terminal does without.
		t.Spare[i] = strings.HasPrefix(c.title, "(")
		t.Header = append(t.Header, strings.ToUpper(strings.Trim(c.title, "()")))
		t.Right[i] = len(objects) > 0 && !slices.ContainsFunc(objects, func(o ctl.Object) bool { return !isNumber(o.At(path)) })
	}
	for _, o := range objects {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.cell(o)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// isNumber tells whether a value may stand in a column of numbers: what is missing may.
func isNumber(v any) bool {
	_, err := strconv.ParseFloat(ctl.Text(v), 64)
	return err == nil || v == nil
}

// objectsIn are the objects of a list.
// What is no object is passed over: a broker of another version may have more to tell.
func objectsIn(list []any) (all []ctl.Object) {
	for _, v := range list {
		if o, ok := v.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}

// properties is a table of an object's fields by name; what is empty is left out.
func properties(fields ctl.Object) *ctl.Table {
	t := new(ctl.Table)
	for name, v := range fields {
		if shown := ctl.Text(v); shown != "" {
			t.Rows = append(t.Rows, []string{name, shown})
		}
	}
	slices.SortFunc(t.Rows, slices.Compare[[]string])
	return t
}
