package archtest

import (
	"strings"
	"testing"
)

const root = "../.."

// TestTree applies every rule to this repository.
func TestTree(t *testing.T) {
	pkgs, err := List(root, "./...")
	if err != nil {
		t.Fatal(err)
	}
	deps, err := List(root, "-deps", "./...")
	if err != nil {
		t.Fatal(err)
	}
	files, err := ReadTree(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) == 0 || len(files) == 0 {
		t.Fatalf("the go command lists %d packages, the tree has %d files", len(pkgs), len(files))
	}
	rules := []struct {
		name  string
		found []string
	}{
		{"imports go down the ladder", Ladder(pkgs)},
		{"package names tell something", Names(pkgs)},
		{"third-party modules in their place", Dependencies(pkgs)},
		{"licences are permissive", Licences(deps)},
		{"packages and exported names are documented", Docs(files)},
		{"files and functions are short", Bars(files, exceptions)},
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, finding := range rule.found {
				t.Error(finding)
			}
		})
	}
}

// sameFindings compares what a rule found with the wanted beginnings of its
// sentences, in any order.
func sameFindings(t *testing.T, found []string, want ...string) {
	t.Helper()
	left := append([]string(nil), found...)
	for _, w := range want {
		i := indexPrefix(left, w)
		if i < 0 {
			t.Errorf("not found: %q, among %q", w, found)
			continue
		}
		left = append(left[:i], left[i+1:]...)
	}
	if len(left) > 0 {
		t.Errorf("found too much: %q", left)
	}
}

func indexPrefix(sentences []string, prefix string) int {
	for i, s := range sentences {
		if strings.HasPrefix(s, prefix) {
			return i
		}
	}
	return -1
}
