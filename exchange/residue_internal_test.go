package exchange

import (
	"fmt"
	"testing"

	"leveret/amqp"
)

type name string

func (n name) Name() string { return string(n) }

// What is unbound leaves no nodes behind, whatever it shared with others.
func TestTriePrunes(t *testing.T) {
	x, err := New(Options{Type: "topic"})
	if err != nil {
		t.Fatal(err)
	}
	patterns := []string{"", "a", "a.b", "a.b.c", "a.*.c", "a.#", "#", "*.*", "#.x.#", "a..b", "."}
	for i := range 50 {
		patterns = append(patterns, fmt.Sprintf("a.b.%d.#.*", i))
	}
	for _, p := range patterns {
		for _, q := range []name{"q", "r"} {
			if err := x.Bind(Binding{Destination: q, Key: p}); err != nil {
				t.Fatal(err)
			}
		}
	}
	trie := x.table.(*topic)
	x.UnbindAll(name("q"))
	if len(trie.edges) == 0 {
		t.Error("nodes of the other queue are gone")
	}
	x.UnbindAll(name("r"))
	if len(trie.edges) != 0 || !trie.root.leaf() || !trie.root.bound.empty() {
		t.Errorf("left: %d edges, root %+v", len(trie.edges), trie.root)
	}
	if len(x.bindings.all) != 0 || len(x.bindings.chains) != 0 {
		t.Errorf("left in the registry: %d bindings, %d chains", len(x.bindings.all), len(x.bindings.chains))
	}
}

// Rules that ask for the same in one header are filed under another.
func TestHeadersPart(t *testing.T) {
	x, err := New(Options{Type: "headers"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(100) {
		arguments := amqp.Table{{Name: "kind", Value: "order"}, {Name: "any"}, {Name: "customer", Value: i}}
		if err := x.Bind(Binding{Destination: name(fmt.Sprint(i)), Arguments: arguments}); err != nil {
			t.Fatal(err)
		}
	}
	for header, col := range x.table.(*headers).columns {
		crowd := len(col.present)
		for _, rules := range col.byValue {
			crowd = max(crowd, len(rules))
		}
		if crowd > 1 {
			t.Errorf("%d rules under one value of %s", crowd, header)
		}
	}
}

func TestHeadersLeaveNothing(t *testing.T) {
	x, err := New(Options{Type: "headers"})
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range []string{"all", "any", "all-with-x", "any-with-x"} {
		for n := range int32(3) {
			arguments := amqp.Table{{Name: "x-match", Value: match}, {Name: "a", Value: n}, {Name: "b"}, {Name: "x-c", Value: "v"}}
			b := Binding{Destination: name("q"), Arguments: arguments}
			if err := x.Bind(b); err != nil {
				t.Fatal(err)
			}
			b.Arguments = b.Arguments[:1]
			if err := x.Bind(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	h := x.table.(*headers)
	if len(h.columns) != 3 {
		t.Errorf("%d columns, want a, b and x-c", len(h.columns))
	}
	x.UnbindAll(name("q"))
	if len(h.columns) != 0 || len(h.always) != 0 || len(h.rules) != 0 {
		t.Errorf("left: %d columns, %d always, %d rules", len(h.columns), len(h.always), len(h.rules))
	}
}
