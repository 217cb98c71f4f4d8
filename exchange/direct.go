package exchange

import "leveret/amqp"

func init() {
	types["direct"] = func(amqp.Table) (table, error) { return direct{}, nil }
}

// direct leads to the destinations whose binding key is one of the routing keys, byte for byte.
type direct map[string]*set

func (direct) check(*Binding) error { return nil }

func (direct) keyed() bool { return true }

func (t direct) add(b *Binding) {
	s := t[b.Key]
	if s == nil {
		s = new(set)
		t[b.Key] = s
	}
	s.add(b.Destination)
}

func (t direct) remove(b *Binding) {
	s := t[b.Key]
	s.remove(b.Destination)
	if s.empty() {
		delete(t, b.Key)
	}
}

func (t direct) route(r *Routing) {
	for _, key := range r.Keys {
		if s := t[string(key)]; s != nil {
			r.collect(s)
		}
	}
}
