package shovel

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"sync"

	"leveret/vhost"
)

// Component is the component of the runtime parameters that are shovels.
const Component = "shovel"

// Broker is what shovels need of the broker that they are in. A [leveret/server.Server] is one.
type Broker interface {
	VHosts() []*vhost.VHost
	VHost(name string) *vhost.VHost
	// Connect makes a connection to the broker; one that is trusted needs no password.
	Connect(trusted bool) (net.Conn, error)
	// OnParameters has f called, which does not wait, after parameters have changed.
	OnParameters(f func())
}

// Manager keeps a shovel running for each parameter. Make one with New before the broker lets clients in, start it with Start, end it with
// Close before the broker is closed. The other methods may be called from any goroutine.
type Manager struct {
	broker Broker
	node   string
	log    *slog.Logger
	wake   chan struct{} // parameters may have changed
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex // guards workers; leaf but for the workers' own
	workers map[key]*worker
}

// key is what a shovel is found by.
type key struct{ vhost, name string }

// New makes a manager, which does nothing yet. node is the name by which messages tell where they have been.
func New(b Broker, node string, log *slog.Logger) *Manager {
	m := &Manager{broker: b, node: node, log: log, wake: make(chan struct{}, 1), workers: make(map[key]*worker)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	b.OnParameters(m.look)
	return m
}

// Start starts the shovels that there are parameters of, and from then on those that come.
func (m *Manager) Start() {
	m.look()
	m.done.Go(func() {
		for {
			select {
			case <-m.ctx.Done():
				// Nothing is wanted any more: all end.
				m.adjust(nil)
				return
			case <-m.wake:
				m.adjust(m.wanted())
			}
		}
	})
}

// Close ends all shovels and returns when they have.
func (m *Manager) Close() {
	m.cancel()
	m.done.Wait()
}

// look has the manager compare shovels and parameters again.
func (m *Manager) look() {
	select {
	case m.wake <- struct{}{}:
	default: // it will
	}
}

// wanted are the parameters of all shovels.
func (m *Manager) wanted() map[key]any {
	all := make(map[key]any)
	for _, v := range m.broker.VHosts() {
		for _, p := range v.Parameters(Component) {
			all[key{v.Name(), p.Name}] = p.Value
		}
	}
	return all
}

// adjust ends the workers whose parameter has changed or gone, and starts those that are missing.
func (m *Manager) adjust(wanted map[key]any) {
	var ending sync.WaitGroup
	// A changed shovel is another one: what it had under way goes back to its source first.
	taken := m.take(func(k key, w *worker) bool {
		value, ok := wanted[k]
		return !ok || !reflect.DeepEqual(value, w.value)
	})
	for _, w := range taken {
		// At once, since each may wait for a broker that does not answer.
		ending.Go(w.stop)
	}
	ending.Wait()
	for _, w := range taken {
		k := key{w.order.vhost, w.order.name}
		if v := m.broker.VHost(k.vhost); v != nil && wanted != nil && wanted[k] == nil {
			v.TellShovelRemoved(k.name)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, value := range wanted {
		if m.workers[k] == nil {
			m.workers[k] = m.start(k, value)
		}
	}
}

// take takes workers off the list.
func (m *Manager) take(which func(key, *worker) bool) []*worker {
	m.mu.Lock()
	defer m.mu.Unlock()
	var taken []*worker
	for k, w := range m.workers {
		if which(k, w) {
			taken = append(taken, w)
			delete(m.workers, k)
		}
	}
	return taken
}

// start makes a worker, with m.mu held. One whose order can't be understood has ended before it began, and is there to be
// seen.
func (m *Manager) start(k key, value any) *worker {
	o, err := parse(k.vhost, k.name, value)
	w := &worker{
		order: o, value: value, broker: m.broker, node: m.node, log: m.log.With("shovel", k.name, "vhost", k.vhost),
		finish: func() { m.finish(k, value) }, done: make(chan struct{}), status: o.initial(),
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(m.ctx)
	if err != nil {
		w.log.Error("shovel cannot run", "error", err)
		w.terminate(err.Error())
		close(w.done)
		return w
	}
	m.done.Go(func() { w.run(ctx) })
	return w
}

// finish removes the parameter of a shovel that has done its work, unless somebody has set another one by now.
func (m *Manager) finish(k key, value any) {
	v := m.broker.VHost(k.vhost)
	if v == nil {
		return
	}
	if now, ok := v.Parameter(Component, k.name); !ok || !reflect.DeepEqual(now, value) {
		return
	}
	if _, err := v.ClearParameter(Component, k.name); err != nil {
		m.log.Error("a finished shovel's parameter is not removed", "shovel", k.name, "vhost", k.vhost, "error", err)
	}
}

// List is all shovels that there are parameters of, by virtual host and name. One that has just come is starting, even if its worker is not there yet.
func (m *Manager) List() []Status {
	wanted := m.wanted()
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Status, 0, len(wanted))
	for k, value := range wanted {
		if w := m.workers[k]; w != nil && reflect.DeepEqual(value, w.value) {
			list = append(list, w.current())
			continue
		}
		o, _ := parse(k.vhost, k.name, value) // what is wrong with it is the worker's to say
		list = append(list, o.initial())
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Name, b.Name)) })
	return list
}

// Restart ends a shovel's session and begins anew, with what it counts as well. It reports whether there is such a shovel.
func (m *Manager) Restart(vhost, name string) bool {
	ended := m.take(func(k key, _ *worker) bool { return k == key{vhost, name} })
	// Taken off the list, and so missing for the manager, which starts it anew.
	for _, w := range ended {
		w.stop()
	}
	m.look()
	return len(ended) > 0
}
