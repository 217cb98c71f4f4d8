// Package events tells whoever wants to know what happens in the broker: a queue was made, a user logged in, memory ran low.
//
// Whoever causes an event calls Emit, from any goroutine, and goes on at once: listeners are told by a goroutine of the bus, one event after
// the other, in order. While no listener wants an event it costs one look at each. A listener that is slow delays the
// others' events but nobody who emits; of more than Backlog that wait the newest are dropped and counted.
package events

import (
	"sync"
	"sync/atomic"
	"time"

	"leveret/amqp"
)

// Backlog is how many events wait for the listeners at most.
const Backlog = 10_000

// Event is one thing that happened.
type Event struct {
	Key        string // what: "queue.created"
	Time       time.Time
	Properties amqp.Table // about it, under the names of the HTTP API; not to be changed
}

// Listener is told of events.
type Listener interface {
	// Wants says whether the listener wants events of that key at present. Any goroutine may ask, and it must not block.
	Wants(key string) bool
	// Take is given one event at a time, in order, by the goroutine of the bus.
	Take(e Event)
}

// Bus takes events to listeners. All its methods may be called from any goroutine; a nil Bus has no listeners and takes none.
type Bus struct {
	listeners atomic.Pointer[[]Listener]
	dropped   atomic.Uint64

	mu      sync.Mutex // guards what follows; a leaf lock
	waiting []Event
	running bool // a goroutine tells the listeners
	closed  bool
	idle    sync.WaitGroup // that goroutine
}

// New makes a bus without listeners.
func New() *Bus { return new(Bus) }

// Listen adds a listener. It is told of events that are emitted after the call.
func (b *Bus) Listen(l Listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Listener
	if old := b.listeners.Load(); old != nil {
		all = append(all, *old...)
	}
	all = append(all, l)
	b.listeners.Store(&all)
}

// Wanted reports whether anybody wants events of that key.
func (b *Bus) Wanted(key string) bool {
	if b == nil {
		return false
	}
	listeners := b.listeners.Load()
	if listeners == nil {
		return false
	}
	for _, l := range *listeners {
		if l.Wants(key) {
			return true
		}
	}
	return false
}

// Emit tells of an event; the properties are asked for, before it returns, only if somebody wants it.
func (b *Bus) Emit(key string, properties func() amqp.Table) {
	if !b.Wanted(key) {
		return
	}
	e := Event{Key: key, Time: time.Now(), Properties: properties()}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if len(b.waiting) >= Backlog {
		b.dropped.Add(1)
		return
	}
	b.waiting = append(b.waiting, e)
	if !b.running {
		b.running = true
		b.idle.Go(b.tell)
	}
}

// Dropped counts the events that were too many.
func (b *Bus) Dropped() uint64 { return b.dropped.Load() }

// Close ends the bus: events that wait are still told, later ones are not. It returns when the listeners have had the last one.
func (b *Bus) Close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.idle.Wait()
}

// tell hands over what waits, until nothing does.
func (b *Bus) tell() {
	for {
		b.mu.Lock()
		batch := b.waiting
		b.waiting = nil
		if len(batch) == 0 {
			b.running = false
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		for _, l := range *b.listeners.Load() {
			for _, e := range batch {
				if l.Wants(e.Key) {
					l.Take(e)
				}
			}
		}
	}
}
