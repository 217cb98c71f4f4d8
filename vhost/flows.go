package vhost

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"leveret/exchange"
	"leveret/queue"
)

// Flow counts the messages that clients published to one exchange and that it put into one queue. Any goroutine may use it.
type Flow struct {
	Exchange *exchange.Exchange
	Queue    *queue.Queue
	messages atomic.Uint64
}

// Add counts n more messages. Publishers call it once a batch.
func (f *Flow) Add(n uint64) { f.messages.Add(n) }

// Messages is how many there were.
func (f *Flow) Messages() uint64 { return f.messages.Load() }

// flows are those of a virtual host. Publishers look a flow up once and keep it, so the lock is nobody's bottleneck.
type flows struct {
	mu    sync.Mutex
	by    map[flowKey]*Flow
	crowd Crowd
}

// flowKey tells flows apart by what they are between, and not by names, which can come again.
type flowKey struct {
	exchange *exchange.Exchange
	queue    *queue.Queue
}

// Flow returns the flow from an exchange to a queue of this virtual host. Any goroutine may call it.
func (v *VHost) Flow(x *exchange.Exchange, q *queue.Queue) *Flow {
	fs, key := &v.flows, flowKey{x, q}
	f, crowded := fs.of(key)
	if crowded {
		fs.forget(v.ended(fs.list()))
	}
	return f
}

// of returns a flow, and whether it is time to look which have ended.
func (fs *flows) of(key flowKey) (f *Flow, crowded bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.by[key]; f != nil {
		return f, false
	}
	if fs.by == nil {
		fs.by = make(map[flowKey]*Flow)
	}
	f, crowded = &Flow{Exchange: key.exchange, Queue: key.queue}, fs.crowd.Full(len(fs.by))
	fs.by[key] = f
	return f, crowded
}

// list is a copy, to be looked through without the lock.
func (fs *flows) list() []*Flow {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Collect(maps.Values(fs.by))
}

// forget drops flows that have ended.
func (fs *flows) forget(ended []*Flow) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range ended {
		delete(fs.by, flowKey{f.Exchange, f.Queue})
	}
	fs.crowd.Looked(len(fs.by))
}

// ended are those of the flows whose exchange or queue is gone. No lock is held: it looks names up.
func (v *VHost) ended(list []*Flow) []*Flow { return slices.DeleteFunc(list, v.flowing) }

// flowing reports whether both ends of a flow are there.
func (v *VHost) flowing(f *Flow) bool { return !f.Queue.Closed() && v.Has(f.Exchange) }

// Has reports whether an exchange is there still, and not another one of its name. Any goroutine may call it.
func (v *VHost) Has(x *exchange.Exchange) bool { return v.Exchange([]byte(x.Name())) == x }

// Flows returns the flows whose exchange and queue are there, in no order. Any goroutine may call it.
func (v *VHost) Flows() []*Flow {
	return slices.DeleteFunc(v.flows.list(), func(f *Flow) bool { return !v.flowing(f) })
}
