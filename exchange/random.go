package exchange

import (
	"math/rand/v2"

	"leveret/amqp"
)

// LocalRandom is the type that leads to a random queue of this node, where queues alone can be bound, and only classic ones: that the
// destination is one is for the virtual host to see to.
const LocalRandom = "x-local-random"

func init() {
	types["x-random"] = func(amqp.Table) (table, error) { return new(random), nil }
	types[LocalRandom] = func(amqp.Table) (table, error) { return new(localRandom), nil }
}

// random leads to one of the destinations, each as likely as any other, whatever the keys.
type random struct {
	fanout
}

func (*random) keyed() bool { return false }

func (t *random) route(r *Routing) {
	if n := len(t.bound.members); n > 0 {
		r.reach(t.bound.members[rand.IntN(n)].destination)
	}
}

// localRandom is random with rules for its bindings. All queues are on this node.
type localRandom struct {
	random
}

func (*localRandom) check(b *Binding) error {
	if b.Key != "" {
		return amqp.BindingKeyNotEmpty(b.Key)
	}
	if b.ToExchange() {
		return amqp.DestinationNotFound()
	}
	return nil
}
