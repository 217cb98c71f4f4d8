package archtest

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func badFiles(t *testing.T) []File {
	t.Helper()
	files, err := ReadTree("testdata/bad")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestReadTree(t *testing.T) {
	files := badFiles(t)
	want := File{
		Path:     "amqp/amqp.go",
		Lines:    26,
		NonBlank: 22,
		Comments: 1,
		Package:  "amqp",
		Funcs:    []Func{{"Reach", 1, 0}, {"Deep", 17, 6}},
		Exported: []Symbol{{"Undocumented", false}, {"Reach", true}, {"Deep", false}},
	}
	if !reflect.DeepEqual(files[0], want) {
		t.Errorf("first file is\n%+v, want\n%+v", files[0], want)
	}
	tests := map[string]bool{}
	for _, f := range files {
		if f.Path == "amqp/generated.go" {
			t.Error("a generated file is measured")
		}
		tests[f.Path] = f.Test
	}
	for path, isTest := range map[string]bool{
		"queue/queue.go":               false,
		"queue/queue_test.go":          true,
		"store/storetest/storetest.go": true,
		"test/interop/doc.go":          true,
	} {
		if got, ok := tests[path]; !ok || got != isTest {
			t.Errorf("%s: found %v, a test %v; want a test %v", path, ok, got, isTest)
		}
	}
}

func TestReadTreeTellsBrokenSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "broken.go"), []byte("package broken; func {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTree(dir); err == nil {
		t.Error("a file that is not Go is read without an error")
	}
}

func TestReadFile(t *testing.T) {
	tests := []struct {
		name, src string
		want      File
	}{
		{"comments", "// Package p does it.\npackage p\n\nvar a = 1 // why\n\n/* two\nlines */ var b = 2 /* and */ // again\n",
			File{Lines: 7, NonBlank: 5, Comments: 4, Package: "p", PackageDoc: true}},
		{"a comment apart", "// No package comment.\n\npackage p\n",
			File{Lines: 3, NonBlank: 2, Comments: 1, Package: "p"}},
		{"methods", "package p\n\nfunc (t *T[K, V]) Get() {}\n\nfunc (t T[K]) Put() {}\n\nfunc (u *u) Hidden() {}\n\nfunc (T) own() {}\n\nfunc Asm()\n",
			File{Lines: 11, NonBlank: 6, Package: "p",
				Funcs:    []Func{{"T.Get", 1, 0}, {"T.Put", 1, 0}, {"u.Hidden", 1, 0}, {"T.own", 1, 0}},
				Exported: []Symbol{{"T.Get", false}, {"T.Put", false}, {"Asm", false}}}},
		{"groups", "package p\n\n// Limits.\nconst (\n\tA = 1\n\tB, c = 2, 3\n)\n\nvar (\n\tD int // with words\n\tE int\n)\n\ntype (\n\t// F is said.\n\tF int\n\tg int\n)\n",
			File{Lines: 18, NonBlank: 15, Comments: 3, Package: "p",
				Exported: []Symbol{{"A", true}, {"B", true}, {"D", true}, {"E", false}, {"F", true}}}},
		{"nesting", "package p\n\nfunc f() {\n\tfor {\n\t\tgo func() {\n\t\t\tswitch {\n\t\t\tcase true:\n\t\t\t\tg()\n\t\t\t}\n\t\t}()\n\t}\n\tif true {\n\t}\n}\n",
			File{Lines: 14, NonBlank: 13, Package: "p", Funcs: []Func{{"f", 12, 3}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readFile("p/p.go", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Path = "p/p.go"
			if !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("got\n%+v, want\n%+v", *got, tt.want)
			}
		})
	}
}

func TestPassedOver(t *testing.T) {
	for folder, want := range map[string]bool{"testdata": true, "node_modules": true, "vendor": true, ".git": true, "_old": true, "queue": false, "test": false} {
		if got := passedOver(folder); got != want {
			t.Errorf("passedOver(%q) = %v", folder, got)
		}
	}
}
