package server

import "sync"

// unconfirmed are the connections with publishes that wait for the log, each once.
type unconfirmed struct {
	mu   sync.Mutex
	list []*connection
	free []*connection // an empty list to go on with
}

// add notes a connection that has publishes to be confirmed, once.
func (u *unconfirmed) add(c *connection) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !c.unconfirmed {
		c.unconfirmed = true
		u.list = append(u.list, c)
	}
}

// take empties the list; the caller gives it back.
func (u *unconfirmed) take() []*connection {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.list
	for _, c := range list {
		c.unconfirmed = false
	}
	u.list, u.free = u.free, nil
	return list
}

// giveBack returns a list to be used again; it may pin no connection.
func (u *unconfirmed) giveBack(list []*connection) {
	clear(list)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.free = list[:0]
}

// directConfirms is how many connections who synced the log writes confirms to by itself: that is quicker than to wake their writers, and
// for so many takes about as long as a sync. The writers of all others are woken before, so that they work meanwhile.
const directConfirms = 32

// confirmDurable sends the confirms that the log has released. Who syncs the log calls it, after each sync.
func (s *Server) confirmDurable() {
	s.synced.notify()
	list := s.unconfirmed.take()
	for i, c := range list {
		if c.confirmDurable(s.store.Durable(), i >= len(list)-directConfirms) {
			s.unconfirmed.add(c)
		}
	}
	s.unconfirmed.giveBack(list)
}
