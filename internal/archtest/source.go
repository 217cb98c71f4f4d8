package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// File holds the facts about one Go source file that the bars look at.
type File struct {
	Path       string // below the root of the tree, with slashes
	Test       bool   // a test, or in a folder that exists for tests
	Lines      int
	NonBlank   int
	Comments   int    // lines that are a comment or end in one
	Package    string // name in the package clause
	PackageDoc bool   // has a comment on the package clause
	Funcs      []Func
	Exported   []Symbol
}

// Func is a function or method with a body.
type Func struct {
	Name    string // with its receiver's type: Queue.Push
	Lines   int    // opening and closing line included
	Nesting int    // blocks inside the body's own
}

// Symbol is an exported function, method, type, constant or variable.
type Symbol struct {
	Name       string
	Documented bool
}

// ReadTree reads all Go files below root, leaving out what is generated, what is
// a test's input, and folders that the go command passes over too.
func ReadTree(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && passedOver(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := readFile(filepath.ToSlash(below), src)
		if file != nil {
			files = append(files, *file)
		}
		return err
	})
	return files, err
}

// passedOver tells folders whose Go files are no part of the module: inputs of
// tests, other people's code, and what the go command does not look at either.
func passedOver(folder string) bool {
	switch folder {
	case "testdata", "vendor", "node_modules":
		return true
	}
	return strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

// readFile measures the source of one file; nil when it is generated, for nobody
// reads that.
func readFile(below string, src []byte) (*File, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, below, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(syntax) {
		return nil, nil
	}
	f := &File{
		Path:       below,
		Test:       isTestFile(below),
		Package:    syntax.Name.Name,
		PackageDoc: syntax.Doc != nil,
		Comments:   commentLines(fset, syntax),
	}
	for line := range strings.Lines(string(src)) {
		f.Lines++
		if strings.TrimSpace(line) != "" {
			f.NonBlank++
		}
	}
	for _, decl := range syntax.Decls {
		f.addDecl(fset, decl)
	}
	return f, nil
}

// isTestFile tells a test from product code. Support packages count as tests: no
// binary has them.
func isTestFile(below string) bool {
	dir := path.Dir(below)
	return strings.HasSuffix(below, "_test.go") || strings.HasPrefix(below, "test/") || isTestSupport(dir)
}

// commentLines counts the lines that a comment touches. Two comments on one line
// count once, so that the share of comments is one of lines.
func commentLines(fset *token.FileSet, syntax *ast.File) int {
	touched := map[int]bool{}
	for _, group := range syntax.Comments {
		for _, c := range group.List {
			for line := fset.Position(c.Pos()).Line; line <= fset.Position(c.End()).Line; line++ {
				touched[line] = true
			}
		}
	}
	return len(touched)
}

// addDecl notes a top-level declaration. A method counts as exported when its type is
// too: nobody outside can name the others, and most of them satisfy an interface
// that says what they do.
func (f *File) addDecl(fset *token.FileSet, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		receiver := receiverType(d)
		name := strings.TrimPrefix(receiver+"."+d.Name.Name, ".")
		if d.Name.IsExported() && (receiver == "" || ast.IsExported(receiver)) {
			f.Exported = append(f.Exported, Symbol{name, d.Doc != nil})
		}
		if d.Body != nil {
			lines := fset.Position(d.End()).Line - fset.Position(d.Pos()).Line + 1
			f.Funcs = append(f.Funcs, Func{name, lines, depth(d.Body) - 1})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			f.addSpec(d, spec)
		}
	}
}

// addSpec notes the exported names of a type, constant or variable declaration. A
// comment on the whole group explains its members.
func (f *File) addSpec(group *ast.GenDecl, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			f.Exported = append(f.Exported, Symbol{s.Name.Name, s.Doc != nil || s.Comment != nil || group.Doc != nil})
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				f.Exported = append(f.Exported, Symbol{name.Name, s.Doc != nil || s.Comment != nil || group.Doc != nil})
			}
		}
	}
}

// receiverType names the type that a method belongs to, empty for a function.
func receiverType(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch inner := t.(type) {
		case *ast.StarExpr:
			t = inner.X
		case *ast.IndexExpr: // one type parameter
			t = inner.X
		case *ast.IndexListExpr:
			t = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return ""
		}
	}
}

// depth counts the blocks around the innermost statement of n, those of function
// literals included. A switch is one block, its cases are none: they read as a list.
func depth(n ast.Node) int {
	deepest := 0
	ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
		if _, ok := n.(*ast.BlockStmt); !ok {
			return true
		}
		blocks := 1
		for _, outer := range stack {
			if _, ok := outer.(*ast.BlockStmt); ok {
				blocks++
			}
		}
		deepest = max(deepest, blocks)
		return true
	})
	return deepest
}
