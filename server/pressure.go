package server

import (
	"sync"
	"time"
)

// waitLog holds the reader of a connection that has published into the log while too much waits there for the disk. That ends without any
// client's help, so nobody is told. A client that is not read from is not silent.
func (c *connection) waitLog() {
	s := c.server
	if !s.store.Pressure() {
		return
	}
	c.waiting.Store(true)
	defer c.waiting.Store(false)
	for {
		synced := s.synced.wait()
		if !s.store.Pressure() {
			return
		}
		select {
		case <-synced:
		case <-s.store.Failed(): // nothing is synced any more, and the broker stops
			return
		case <-c.stop:
			return
		}
	}
}

// confirmPatience is how long a connection that ends because the broker stops waits for its confirms.
const confirmPatience = 2 * time.Second

// awaitConfirms sends the confirms of everything that was published, when it is durable.
func (c *connection) awaitConfirms() {
	patience := time.NewTimer(confirmPatience)
	defer patience.Stop()
	for {
		synced := c.server.synced.wait()
		if !c.confirmDurable(c.server.store.Durable(), true) {
			return
		}
		select {
		case <-synced:
		case <-c.server.store.Failed():
			return
		case <-patience.C:
			return
		}
	}
}

// signal wakes whoever waits for the next time that something happens. The zero signal is ready for use.
type signal struct {
	mu   sync.Mutex
	next chan struct{} // nil when nobody waits
}

// wait returns a channel that is closed at the next notify.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// notify wakes all that wait now; who comes later waits for the next one.
func (s *signal) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}
