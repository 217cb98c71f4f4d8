package archtest

import (
	"fmt"
	"io"
	"path"
	"slices"
	"text/tabwriter"
)

// Figures are the size figures of some files: those of a package, or of a tree.
type Figures struct {
	Files, Lines           int
	FileMedian, FileMax    int
	Funcs                  int
	FuncMedian, FuncP90    int
	FuncMax                int
	Deep                   float64 // share of functions nested over 3 deep
	Comments               float64 // comment lines among those not blank
	Documented             float64 // exported names with a comment
	TestLines, TestPerCode float64 // lines of tests, and a line of code
}

// Measure takes the figures of the product files; of test files it counts the lines.
func Measure(files []File) Figures {
	var m Figures
	var fileLines, funcLines []int
	var nonBlank, comments, exported, undocumented, deep int
	for _, f := range files {
		if f.Test {
			m.TestLines += float64(f.Lines)
			continue
		}
		fileLines = append(fileLines, f.Lines)
		m.Lines += f.Lines
		nonBlank += f.NonBlank
		comments += f.Comments
		for _, fn := range f.Funcs {
			funcLines = append(funcLines, fn.Lines)
			if fn.Nesting > deepNesting {
				deep++
			}
		}
		for _, s := range f.Exported {
			exported++
			if !s.Documented {
				undocumented++
			}
		}
	}
	m.Files, m.Funcs = len(fileLines), len(funcLines)
	m.FileMedian, m.FileMax = quantile(fileLines, 0.5), quantile(fileLines, 1)
	m.FuncMedian, m.FuncP90, m.FuncMax = quantile(funcLines, 0.5), quantile(funcLines, 0.9), quantile(funcLines, 1)
	m.Deep, m.Comments, m.Documented = share(deep, m.Funcs), share(comments, nonBlank), 1-share(undocumented, exported)
	if m.Lines > 0 {
		m.TestPerCode = m.TestLines / float64(m.Lines)
	}
	return m
}

// quantile returns the element of ns below which the share at of them lies, 0 if there is none.
func quantile(ns []int, at float64) int {
	if len(ns) == 0 {
		return 0
	}
	slices.Sort(ns)
	return ns[int(at*float64(len(ns)-1))]
}

// share returns part as a share of whole, 0 when there is no whole.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// PrintFigures writes a table with a line a package and one for the whole tree,
// below the bars that CONTRIBUTING.md explains.
func PrintFigures(w io.Writer, files []File) error {
	byPackage := map[string][]File{}
	for _, f := range files {
		dir := path.Dir(f.Path)
		byPackage[dir] = append(byPackage[dir], f)
	}
	packages := make([]string, 0, len(byPackage))
	for dir := range byPackage {
		packages = append(packages, dir)
	}
	slices.Sort(packages)

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "package\tfiles\tlines\tmedian\tmax\tfuncs\tmedian\tp90\tmax\tnest>3\tcomments\tdoc\ttest/code\t")
	fmt.Fprintln(t, "bar\t\t\t150\t500\t\t10\t35\t60\t2%\t15-25%\t100%\t0.9-1.4\t")
	for _, dir := range packages {
		printRow(t, dir, Measure(byPackage[dir]))
	}
	printRow(t, "whole tree", Measure(files))
	return t.Flush()
}

// printRow writes the figures of one package, or of the tree.
func printRow(w io.Writer, name string, m Figures) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f%%\t%.1f%%\t%.0f%%\t%.2f\t\n",
		name, m.Files, m.Lines, m.FileMedian, m.FileMax, m.Funcs, m.FuncMedian, m.FuncP90, m.FuncMax,
		100*m.Deep, 100*m.Comments, 100*m.Documented, m.TestPerCode)
}
