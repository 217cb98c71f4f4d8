package exchange_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
)

// destination stands for a queue.
type destination struct{ name string }

func (d *destination) Name() string { return d.name }

func newQueue(name string) *destination { return &destination{name} }

// world is the exchanges of a test, which know each other by name.
type world struct {
	t         testing.TB
	graph     atomic.Uint64
	exchanges map[string]*exchange.Exchange
}

func newWorld(t testing.TB) *world {
	return &world{t: t, exchanges: make(map[string]*exchange.Exchange)}
}

func (w *world) exchange(kind, name string, arguments ...amqp.Field) *exchange.Exchange {
	w.t.Helper()
	x, err := exchange.New(exchange.Options{
		Name: name, Type: kind, Arguments: arguments, Graph: &w.graph,
		Resolve: func(name string) *exchange.Exchange { return w.exchanges[name] },
	})
	if err != nil {
		w.t.Fatalf("exchange of type %s: %v", kind, err)
	}
	w.exchanges[name] = x
	return x
}

func (w *world) bind(from *exchange.Exchange, to exchange.Destination, key string, arguments ...amqp.Field) {
	w.t.Helper()
	if err := from.Bind(exchange.Binding{Destination: to, Key: key, Arguments: arguments}); err != nil {
		w.t.Fatalf("bind %s to %s with %q: %v", to.Name(), from.Name(), key, err)
	}
}

func (w *world) unbind(from *exchange.Exchange, to exchange.Destination, key string, arguments ...amqp.Field) bool {
	return from.Unbind(exchange.Binding{Destination: to, Key: key, Arguments: arguments})
}

func field(name string, value any) amqp.Field { return amqp.Field{Name: name, Value: value} }

func table(fields ...amqp.Field) []byte { return amqp.AppendTable(nil, fields) }

func keys(keys ...string) *exchange.Routing {
	r := new(exchange.Routing)
	for _, k := range keys {
		r.Keys = append(r.Keys, []byte(k))
	}
	return r
}

// names routes and gives the queues found, sorted by name; a queue found twice stands there twice.
func names(x *exchange.Exchange, r *exchange.Routing) []string {
	x.Route(r)
	found := []string{}
	for _, d := range r.Found() {
		found = append(found, d.Name())
	}
	slices.Sort(found)
	return found
}

func expect(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
