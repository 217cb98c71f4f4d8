package ctl

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table is text in columns. Columns are as wide as they have to be and two blanks apart; where they are too wide for the terminal
// the widest give way, and an ellipsis stands for the middle of what is cut: names that begin alike often differ at the end.
type Table struct {
	Header []string // none: no header line
	Rows   [][]string
	Right  []bool // columns of numbers stand at the right
	Spare  []bool // columns that are left out before others are cut: those with nothing in them, then the others from the last on
	Width  int    // of the terminal in characters, 0: any
}

const (
	gap      = "  "
	leastCut = 8 // no column is cut to less
)

// Write writes the table.
func (t *Table) Write(w io.Writer) error {
	widths := t.widths()
	out := bufio.NewWriter(w)
	rows := t.Rows
	if len(t.Header) > 0 {
		rows = append([][]string{t.Header}, t.Rows...)
	}
	for _, row := range rows {
		var line strings.Builder
		for i, width := range widths {
			if width < 0 { // left out
				continue
			}
			if i > 0 {
				line.WriteString(gap)
			}
			cell := ""
			if i < len(row) {
				cell = cut(plain(row[i]), width)
			}
			blanks := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(cell)))
			if i < len(t.Right) && t.Right[i] {
				line.WriteString(blanks + cell)
			} else {
				line.WriteString(cell + blanks)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " "))
		out.WriteByte('\n')
	}
	return out.Flush()
}

// widths are the columns' widths after some have been left out, which have -1, and the widest have given way.
func (t *Table) widths() []int {
	var widths []int
	measure := func(row []string) {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(plain(cell)))
		}
	}
	measure(t.Header)
	for _, row := range t.Rows {
		measure(row)
	}
	if t.Width <= 0 || len(widths) == 0 {
		return widths
	}
	total := -len(gap)
	for _, width := range widths {
		total += width + len(gap)
	}
	// First those that are empty, then any.
	for _, any := range []bool{false, true} {
		for i := min(len(t.Spare), len(widths)) - 1; i >= 0 && total > t.Width; i-- {
			if t.Spare[i] && widths[i] >= 0 && (any || t.empty(i)) {
				total -= widths[i] + len(gap)
				widths[i] = -1
			}
		}
	}
	for ; total > t.Width; total-- {
		widest := slices.Max(widths)
		if widest <= leastCut {
			break
		}
		widths[slices.Index(widths, widest)]--
	}
	return widths
}

// empty tells whether a column has nothing in it.
func (t *Table) empty(column int) bool {
	return !slices.ContainsFunc(t.Rows, func(row []string) bool { return column < len(row) && row[column] != "" })
}

// plain makes one line of a cell that no terminal takes for a command: names can hold any bytes.
func plain(cell string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, cell)
}

// cut shortens a cell to a width: two thirds of what remains are of its begin.
func cut(cell string, width int) string {
	if utf8.RuneCountInString(cell) <= width {
		return cell
	}
	if width < 1 {
		return ""
	}
	all := []rune(cell)
	tail := (width - 1) / 3
	return string(all[:width-1-tail]) + "…" + string(all[len(all)-tail:])
}
