package exchange

import (
	"slices"
	"strings"

	"leveret/amqp"
)

// Destination is where a binding leads: a queue, or another *Exchange. Two destinations are the same if they are the same value, not if
// they have the same name: a queue that was deleted and declared again is another one.
type Destination interface {
	Name() string
}

// Binding is one way out of an exchange.
type Binding struct {
	Destination Destination
	Key         string // the binding key
	Arguments   amqp.Table
}

// ToExchange reports whether the destination is another exchange.
func (b *Binding) ToExchange() bool {
	_, ok := b.Destination.(*Exchange)
	return ok
}

// CanonicalArguments is the arguments' encoding with the fields in order of their names: equal for tables that differ in order
// alone. It is empty when there are none.
func (b *Binding) CanonicalArguments() string {
	if len(b.Arguments) == 0 {
		return ""
	}
	sorted := slices.Clone(b.Arguments)
	slices.SortStableFunc(sorted, func(f, g amqp.Field) int { return strings.Compare(f.Name, g.Name) })
	return string(amqp.AppendTable(nil, sorted))
}

// identity tells bindings of one exchange apart.
type identity struct {
	destination    Destination
	key, arguments string
}

func (b *Binding) identity() identity {
	return identity{b.Destination, b.Key, b.CanonicalArguments()}
}

// binding is a Binding in its registry, in a chain with the others to the same destination.
type binding struct {
	Binding
	arguments      string // canonical
	previous, next *binding
}

// registry holds an exchange's bindings: each once, findable by identity and by destination. It is not safe for concurrent use.
type registry struct {
	all    map[identity]*binding
	chains map[Destination]*binding
}

func (r *registry) len() int { return len(r.all) }

// find returns nil when there is no such binding.
func (r *registry) find(id identity) *binding { return r.all[id] }

// first returns some binding to the destination, nil when there is none.
func (r *registry) first(d Destination) *binding { return r.chains[d] }

// add takes a binding in that is not there yet and returns it as it will stay.
func (r *registry) add(id identity, b Binding) *Binding {
	if r.all == nil {
		r.all, r.chains = make(map[identity]*binding), make(map[Destination]*binding)
	}
	e := &binding{Binding: b, arguments: id.arguments}
	if next := r.chains[b.Destination]; next != nil {
		e.next, next.previous = next, e
	}
	r.chains[b.Destination] = e
	r.all[id] = e
	return &e.Binding
}

func (r *registry) remove(b *binding) {
	delete(r.all, identity{b.Destination, b.Key, b.arguments})
	if b.next != nil {
		b.next.previous = b.previous
	}
	switch {
	case b.previous != nil:
		b.previous.next = b.next
	case b.next != nil:
		r.chains[b.Destination] = b.next
	default:
		delete(r.chains, b.Destination)
	}
}

func (r *registry) list() []Binding {
	list := make([]Binding, 0, len(r.all))
	for _, b := range r.all {
		list = append(list, b.Binding)
	}
	return list
}

func (r *registry) listTo(d Destination) []Binding {
	var list []Binding
	for b := r.chains[d]; b != nil; b = b.next {
		list = append(list, b.Binding)
	}
	return list
}
