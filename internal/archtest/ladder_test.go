package archtest

import (
	"slices"
	"testing"
)

func badPackages(t *testing.T) []Package {
	t.Helper()
	pkgs, err := List("testdata/bad", "./...")
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

func TestBadTreeLadder(t *testing.T) {
	sameFindings(t, Ladder(badPackages(t)),
		"amqp imports store, which is not below it",
		"queue imports store/storetest, which is for tests alone",
		"the tests of queue import util, which is not below it",
		"util: no rung of the ladder",
	)
}

func TestBadTreeNames(t *testing.T) {
	sameFindings(t, Names(badPackages(t)), `util: "util" says nothing`)
}

func TestBadTreeDependencies(t *testing.T) {
	sameFindings(t, Dependencies(badPackages(t)),
		"store imports example.org/unknown",
		"store imports github.com/spf13/cobra",
		"queue imports pgregory.net/rapid",
		"the tests of queue import github.com/rabbitmq/amqp091-go",
	)
}

// TestRungsStandInOrder keeps the table itself a ladder: a rung names only those above it in the list.
func TestRungsStandInOrder(t *testing.T) {
	for i, r := range rungs {
		for _, may := range r.may {
			if !slices.ContainsFunc(rungs[:i], func(below rung) bool { return below.path == may }) {
				t.Errorf("%s may import %s, which has no line before it", r.path, may)
			}
		}
	}
}

func TestRungOf(t *testing.T) {
	tests := []struct {
		pkg, rung string
		ok        bool
	}{
		{"amqp", "amqp", true},
		{"amqp/internal/gen", "amqp", true},
		{"store/storetest", "store", true},
		{"cmd/broker", "cmd/broker", true},
		{"cmd/other", "", false},
		{"test/interop", "test", true},
		{".", "", false},
	}
	for _, tt := range tests {
		got, ok := rungOf(tt.pkg)
		if got.path != tt.rung || ok != tt.ok {
			t.Errorf("rungOf(%q) = %q, %v; want %q, %v", tt.pkg, got.path, ok, tt.rung, tt.ok)
		}
	}
}
