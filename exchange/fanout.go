package exchange

import "leveret/amqp"

func init() {
	types["fanout"] = func(amqp.Table) (table, error) { return new(fanout), nil }
}

// fanout leads to all destinations, whatever the keys.
type fanout struct {
	bound set
}

func (*fanout) check(*Binding) error { return nil }

func (*fanout) keyed() bool { return true }

func (t *fanout) add(b *Binding) { t.bound.add(b.Destination) }

func (t *fanout) remove(b *Binding) { t.bound.remove(b.Destination) }

func (t *fanout) route(r *Routing) { r.collect(&t.bound) }
