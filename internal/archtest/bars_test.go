package archtest

import "testing"

func TestBadTreeDocs(t *testing.T) {
	sameFindings(t, Docs(badFiles(t)),
		"amqp: 0 package comments",
		"amqp/amqp.go: Deep has no comment",
		"amqp/amqp.go: Undocumented has no comment",
		"store: 2 package comments",
	)
}

func TestBadTreeBars(t *testing.T) {
	sameFindings(t, Bars(badFiles(t), nil),
		"amqp/amqp.go:Deep: nested 6 deep, over 5",
		"amqp/amqp.go:Deep: nested 6 deep",
		"1 of 3 functions are nested over 3 deep",
	)
}

func TestBars(t *testing.T) {
	files := []File{
		{Path: "a.go", Lines: maxFileLines, Funcs: []Func{{Name: "fits", Lines: maxFuncLines}}},
		{Path: "b.go", Lines: maxFileLines + 1, Funcs: []Func{{Name: "long", Lines: maxFuncLines + 1}, {Name: "table", Lines: 300}}},
		{Path: "a_test.go", Test: true, Funcs: []Func{{Name: "fits", Lines: maxTestFuncLines}, {Name: "long", Lines: maxTestFuncLines + 1}}},
	}
	sameFindings(t, Bars(files, map[string]string{
		"b.go:table": "a table of all methods",
		"a.go:fits":  "was longer once",
	}),
		"a.go:fits: an exception that is not needed",
		"b.go: 501 lines, over 500",
		"b.go:long: 61 lines, over 60",
		"a_test.go:long: 101 lines, over 100",
	)
}

func TestDeepShareCountsProductCode(t *testing.T) {
	files := []File{
		{Path: "a.go", Funcs: append(make([]Func, 49), Func{Name: "deep", Nesting: deepNesting + 1})},
		{Path: "a_test.go", Test: true, Funcs: []Func{{Nesting: deepNesting + 1}}},
	}
	sameFindings(t, deepShare(files)) // 2 %: just at the bar
	files[0].Funcs = files[0].Funcs[1:]
	sameFindings(t, deepShare(files), "a.go:deep: nested 4 deep", "1 of 49 functions")
}
