package exchange

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

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

// The list of starts leads to the share that a look at all runs finds, whatever the weights are and however they change.
func TestJumpStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := new(buckets)
		var shares []*share
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			if len(shares) > 1 && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				i := rapid.IntRange(0, len(shares)-1).Draw(t, "share")
				b.remove(shares[i])
				shares = slices.Delete(shares, i, i+1)
			} else {
				shares = append(shares, &share{weight: rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, maxWeight)).Draw(t, "weight")})
				b.add(shares[len(shares)-1])
			}
			for range 20 {
				hash := rapid.Uint64().Draw(t, "hash")
				bucket := jump(hash, b.total)
				at := slices.IndexFunc(b.runs, func(r run) bool { return r.end > bucket })
				if got := b.pick(hash); got != b.runs[at].share {
					t.Fatalf("bucket %d of %d belongs to another share", bucket, b.total)
				}
			}
		}
	})
}
