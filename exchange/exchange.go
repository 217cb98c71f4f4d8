package exchange

import (
	"errors"
	"sync"
	"sync/atomic"

	"leveret/amqp"
)

// ErrDeleted is returned by Bind when the exchange was deleted in the meantime.
var ErrDeleted = errors.New("exchange is deleted")

// Options is what an exchange was declared with, and what it has from its virtual host. It does not change in the exchange's life.
type Options struct {
	Name, Type string
	Durable    bool
	AutoDelete bool // deleted with its last binding as source
	Internal   bool // clients may not publish to it
	Arguments  amqp.Table

	// Graph is the version of all exchanges of the virtual host together; each change of any of them counts it up.
	Graph *atomic.Uint64
	// Resolve finds the alternate exchange by its name, nil when there is none. It is called without a lock held. It may be nil: none.
	Resolve func(name string) *Exchange
}

// Exchange is one exchange and its bindings as source.
type Exchange struct {
	opts     Options
	keyed    bool // the type looks at the keys alone
	settings atomic.Pointer[Settings]
	version  atomic.Uint64
	traffic  Counter

	mu       sync.RWMutex // guards the fields below; a leaf lock
	bindings registry
	table    table
	deleted  bool
}

// New makes an exchange without bindings. An unknown type or an argument that the type refuses is an *amqp.Error 406.
func New(opts Options) (*Exchange, error) {
	t, err := newTable(opts.Type, opts.Arguments)
	if err != nil {
		return nil, err
	}
	x := &Exchange{opts: opts, table: t, keyed: t.keyed()}
	s := SettingsOf(opts.Arguments)
	x.settings.Store(&s)
	return x, nil
}

// Name is the exchange's name; it makes an Exchange a destination of bindings.
func (x *Exchange) Name() string { return x.opts.Name }

// Options are the properties it was declared with; the table must not be changed.
func (x *Exchange) Options() Options { return x.opts }

// Bind adds a binding to a destination; one that is there already is left as it is. It returns an *amqp.Error 406 when the exchange's type
// refuses the key or the arguments, and ErrDeleted when the exchange is gone.
func (x *Exchange) Bind(b Binding) error {
	_, err := x.BindAndRecall(b)
	return err
}

// BindAndRecall is Bind, and returns the messages that the destination is to get because it is bound now, in order; the exchange type keeps
// them. What is routed from here on, the destination gets by itself.
func (x *Exchange) BindAndRecall(b Binding) ([]amqp.Message, error) {
	id := b.identity()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.deleted {
		return nil, ErrDeleted
	}
	if err := x.table.check(&b); err != nil {
		return nil, err
	}
	if x.bindings.find(id) != nil {
		return nil, nil
	}
	x.table.add(x.bindings.add(id, b))
	x.changed()
	if r, ok := x.table.(recaller); ok {
		return r.recall(), nil
	}
	return nil, nil
}

// Check returns the error that Bind would return for the binding's key and arguments.
func (x *Exchange) Check(b Binding) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.table.check(&b)
}

// Has reports whether there is such a binding.
func (x *Exchange) Has(b Binding) bool {
	id := b.identity()
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bindings.find(id) != nil
}

// Unbind removes a binding and reports whether it was there.
func (x *Exchange) Unbind(b Binding) bool {
	id := b.identity()
	x.mu.Lock()
	defer x.mu.Unlock()
	found := x.bindings.find(id)
	if found == nil {
		return false
	}
	x.drop(found)
	x.changed()
	return true
}

// UnbindAll removes all bindings to a destination and returns how many there were.
func (x *Exchange) UnbindAll(d Destination) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for b := x.bindings.first(d); b != nil; b = x.bindings.first(d) {
		x.drop(b)
		n++
	}
	if n > 0 {
		x.changed()
	}
	return n
}

// Delete takes all bindings out, for good, and returns them: the exchange routes nothing more and takes no binding. With ifUnused it does
// so only when there are none, and ok is false otherwise.
func (x *Exchange) Delete(ifUnused bool) (bindings []Binding, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ifUnused && x.bindings.len() > 0 {
		return nil, false
	}
	bindings = x.bindings.list()
	x.deleted = true
	x.bindings = registry{}
	x.table, _ = newTable(x.opts.Type, x.opts.Arguments) // they made a table before, so they do again
	x.changed()
	return bindings, true
}

// Len is the number of bindings that the exchange is the source of.
func (x *Exchange) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bindings.len()
}

// Bindings returns the bindings that the exchange is the source of, in no order.
func (x *Exchange) Bindings() []Binding {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bindings.list()
}

// Bound reports whether there is any binding to the destination.
func (x *Exchange) Bound(d Destination) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bindings.first(d) != nil
}

// BindingsTo returns the bindings to one destination, in no order.
func (x *Exchange) BindingsTo(d Destination) []Binding {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bindings.listTo(d)
}

// drop takes a binding out of the registry and the table; x.mu is held.
func (x *Exchange) drop(b *binding) {
	x.bindings.remove(b)
	x.table.remove(&b.Binding)
}

// changed makes all routes that were read from this exchange invalid. x.mu is held, so whoever reads the new version sees the change.
func (x *Exchange) changed() {
	x.version.Add(1)
	if x.opts.Graph != nil {
		x.opts.Graph.Add(1)
	}
}
