package archtest

import (
	"bytes"
	"strings"
	"testing"
)

func TestMeasure(t *testing.T) {
	files := []File{
		{Path: "q/a.go", Lines: 100, NonBlank: 80, Comments: 20,
			Funcs:    []Func{{Lines: 5}, {Lines: 7}, {Lines: 30, Nesting: 4}, {Lines: 9}},
			Exported: []Symbol{{"A", true}, {"B", false}}},
		{Path: "q/b.go", Lines: 60, NonBlank: 20, Comments: 5},
		{Path: "q/c.go", Lines: 40},
		{Path: "q/a_test.go", Test: true, Lines: 300, Comments: 300, NonBlank: 300, Funcs: []Func{{Lines: 90}}},
	}
	want := Figures{
		Files: 3, Lines: 200, FileMedian: 60, FileMax: 100,
		Funcs: 4, FuncMedian: 7, FuncP90: 9, FuncMax: 30,
		Deep: 0.25, Comments: 0.25, Documented: 0.5,
		TestLines: 300, TestPerCode: 1.5,
	}
	if got := Measure(files); got != want {
		t.Errorf("Measure:\n%+v, want\n%+v", got, want)
	}
	if got := Measure(nil); got != (Figures{Documented: 1}) {
		t.Errorf("Measure of nothing: %+v", got)
	}
}

func TestPrintFigures(t *testing.T) {
	var out bytes.Buffer
	if err := PrintFigures(&out, badFiles(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bar", "store/storetest", "whole tree", "33.3%"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if rows := strings.Count(out.String(), "\n"); rows != 2+6+1 {
		t.Errorf("%d rows:\n%s", rows, out.String())
	}
}
