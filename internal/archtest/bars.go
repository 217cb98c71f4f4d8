package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// The bars that every file and function is held to; figures.go has those of the
// tree as a whole.
const (
	maxFileLines     = 500
	maxFuncLines     = 60
	maxTestFuncLines = 100 // a test's table counts as lines of its function
	maxNesting       = 5
	deepNesting      = 3 // more than this is rare:
	maxDeepShare     = 0.02
)

// exceptions from the bars on size, by file or by file:function, each with its reason.
var exceptions = map[string]string{}

// Bars reports files and functions over their bar, and exceptions that are not needed
// any more: a list that nobody shortens would end as a second set of bars.
func Bars(files []File, exceptions map[string]string) []string {
	var found []string
	used := map[string]bool{}
	over := func(name, sentence string, args ...any) {
		if _, excepted := exceptions[name]; excepted {
			used[name] = true
			return
		}
		found = append(found, name+": "+fmt.Sprintf(sentence, args...))
	}
	for _, f := range files {
		if f.Lines > maxFileLines {
			over(f.Path, "%d lines, over %d", f.Lines, maxFileLines)
		}
		limit := maxFuncLines
		if f.Test {
			limit = maxTestFuncLines
		}
		for _, fn := range f.Funcs {
			if fn.Lines > limit {
				over(f.Path+":"+fn.Name, "%d lines, over %d", fn.Lines, limit)
			}
			if fn.Nesting > maxNesting {
				over(f.Path+":"+fn.Name, "nested %d deep, over %d", fn.Nesting, maxNesting)
			}
		}
	}
	for name := range exceptions {
		if !used[name] {
			found = append(found, name+": an exception that is not needed any more")
		}
	}
	return append(found, deepShare(files)...)
}

// deepShare reports the deeply nested functions when they are more than a rarity. A
// bar on each would be met by splitting a loop where it reads best in one piece.
func deepShare(files []File) []string {
	var deep []string
	funcs := 0
	for _, f := range files {
		if f.Test {
			continue
		}
		funcs += len(f.Funcs)
		for _, fn := range f.Funcs {
			if fn.Nesting > deepNesting {
				deep = append(deep, fmt.Sprintf("%s:%s: nested %d deep", f.Path, fn.Name, fn.Nesting))
			}
		}
	}
	if float64(len(deep)) <= maxDeepShare*float64(funcs) {
		return nil
	}
	return append(deep, fmt.Sprintf("%d of %d functions are nested over %d deep, more than %.0f %%", len(deep), funcs, deepNesting, 100*maxDeepShare))
}

// Docs reports packages without a package comment or with two, and exported names
// of product code without a comment.
func Docs(files []File) []string {
	var found []string
	comments := map[string]int{}
	for _, f := range files {
		dir := path.Dir(f.Path)
		if strings.HasSuffix(f.Path, "_test.go") { // no documentation tool shows it
			continue
		}
		if _, ok := comments[dir]; !ok {
			comments[dir] = 0
		}
		if f.PackageDoc {
			comments[dir]++
		}
		if f.Test {
			continue
		}
		for _, s := range f.Exported {
			if !s.Documented {
				found = append(found, fmt.Sprintf("%s: %s has no comment", f.Path, s.Name))
			}
		}
	}
	for dir, n := range comments {
		if n != 1 {
			found = append(found, fmt.Sprintf("%s: %d package comments, not one", dir, n))
		}
	}
	slices.Sort(found)
	return found
}
