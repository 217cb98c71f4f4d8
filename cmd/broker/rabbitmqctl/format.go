package rabbitmqctl

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"leveret/ctl"
)

// columnsAndRows is what a list verb prints: names of columns, and the values of each row.
type columnsAndRows struct {
	columns []string
	rows    [][]any
}

// tabled has a row for each object, with the values of the columns as they are called in it.
func tabled(objects []ctl.Object, columns ...string) *columnsAndRows {
	out := &columnsAndRows{columns: columns}
	for _, o := range objects {
		row := make([]any, len(columns))
		for i, name := range columns {
			row[i] = o.At(name)
		}
		out.rows = append(out.rows, row)
	}
	return out
}

// print prints a list in the form that is asked for.
func (s *session) print(l *columnsAndRows) error {
	// What scripts read goes to the output, all else to the errors.
	out := s.cmd.OutOrStdout()
	headers := !s.silent && !s.noTableHeaders && len(l.rows) > 0 // RabbitMQ's tool prints them before the first row
	switch s.formatter {
	// The default, for people and for scripts that split lines at tabs.
	case "", "table":
		return l.table(out, headers)
	// With lines drawn around, for people alone.
	case "pretty_table":
		return l.pretty(out, headers)
	case "csv":
		return l.csv(out, headers)
	case "json":
		return l.json(out)
	case "erlang":
		return l.erlang(out)
	}
	return &ctl.UsageError{Text: "there is no formatter " + s.formatter + ": table, pretty_table, json, csv, erlang"}
}

// table has a tab between columns. Scripts split lines by it, so no value may hold one.
func (l *columnsAndRows) table(out io.Writer, headers bool) error {
	var b strings.Builder
	if headers && len(l.columns) > 0 {
		b.WriteString(strings.Join(l.columns, "\t") + "\n")
	}
	for _, row := range l.rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(cell(v))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// cell is a value in a table: texts and numbers as they are, what is missing as nothing, all else as an Erlang term.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(v)
	}
	if texts, ok := textsOf(v); ok {
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return string(appendTerm(nil, v))
}

// textsOf are the items of a list of texts, which stand without quotes.
func textsOf(v any) (texts []string, ok bool) {
	list, ok := v.([]any)
	for _, item := range list {
		text, isText := item.(string)
		if !isText {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, ok
}

// pretty has lines around its cells.
func (l *columnsAndRows) pretty(out io.Writer, headers bool) error {
	// In letters, not octets. Those that are two columns wide on a terminal are taken for one.
	widths := make([]int, len(l.columns))
	for i, name := range l.columns {
		widths[i] = len([]rune(name))
	}
	for _, row := range l.rows {
		for i, v := range row {
			widths[i] = max(widths[i], len([]rune(cell(v))))
		}
	}
	var b strings.Builder
	rule := func(left, cross, right string) {
		var bars []string
		for _, width := range widths {
			bars = append(bars, strings.Repeat("─", width+2))
		}
		b.WriteString(left + strings.Join(bars, cross) + right + "\n")
	}
	line := func(values []string) {
		for i, v := range values {
			b.WriteString("│ " + v + strings.Repeat(" ", widths[i]-len([]rune(v))+1))
		}
		b.WriteString("│\n")
	}
	rule("┌", "┬", "┐")
	if headers {
		line(l.columns)
		rule("├", "┼", "┤")
	}
	for _, row := range l.rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		line(cells)
	}
	rule("└", "┴", "┘")
	_, err := io.WriteString(out, b.String())
	return err
}

// csv has commas between columns, and quotes where a value needs them.
func (l *columnsAndRows) csv(out io.Writer, headers bool) error {
	w := csv.NewWriter(out)
	if headers {
		if err := w.Write(l.columns); err != nil {
			return err
		}
	}
	for _, row := range l.rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// json is a list of objects, whose fields are in the order of the columns.
func (l *columnsAndRows) json(out io.Writer) error {
	var b strings.Builder
	b.WriteByte('[')
	between := "\n{"
	for _, row := range l.rows {
		b.WriteString(between)
		between = "\n,{"
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			name, _ := json.Marshal(l.columns[i]) // texts always can be
			value, err := json.Marshal(v)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s:%s", name, value)
		}
		b.WriteByte('}')
	}
	// RabbitMQ streams its rows, one a line; scripts that read line by line depend on that.
	b.WriteString("\n]\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// erlang is a list of property lists.
// One row a line, in the notation that Erlang's own file:consult reads.
func (l *columnsAndRows) erlang(out io.Writer) error {
	b := []byte{'['}
	for n, row := range l.rows {
		if n > 0 {
			b = append(b, ",\n "...)
		}
		b = append(b, '[')
		for i, v := range row {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendTerm(fmt.Appendf(b, "{%s,", l.columns[i]), v), '}')
		}
		b = append(b, ']')
	}
	_, err := out.Write(append(b, "]\n"...))
	return err
}
