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
