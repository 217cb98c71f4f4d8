package server

import "sync"

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

func (s *signal) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}
