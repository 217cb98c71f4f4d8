package exchange

import (
	"cmp"
	"slices"

	"leveret/amqp"
)

func init() {
	types["x-modulus-hash"] = func(amqp.Table) (table, error) { return new(modulusHash), nil }
}

// modulusHash leads to one destination, the same for the same keys: the bindings stand in order of their destinations, and the hash modulo
// their number says which. A destination that is bound several times has several shares. Binding keys do not matter.
type modulusHash struct {
	bindings []*Binding // in order
}

func (*modulusHash) check(*Binding) error { return nil }

func (*modulusHash) keyed() bool { return false }

func (t *modulusHash) add(b *Binding) {
	at, _ := slices.BinarySearchFunc(t.bindings, b, compareBindings)
	t.bindings = slices.Insert(t.bindings, at, b)
}

func (t *modulusHash) remove(b *Binding) {
	at, _ := slices.BinarySearchFunc(t.bindings, b, compareBindings)
	for t.bindings[at] != b { // several may be equal but for their arguments
		at++
	}
	t.bindings = slices.Delete(t.bindings, at, at+1)
}

func compareBindings(a, b *Binding) int {
	return cmp.Or(cmp.Compare(a.Destination.Name(), b.Destination.Name()), cmp.Compare(a.Key, b.Key))
}

func (t *modulusHash) route(r *Routing) {
	if n := uint64(len(t.bindings)); n > 0 {
		r.reach(t.bindings[hashKeys(r)%n].Destination)
	}
}
