package server

import (
	"sync"

	"leveret/amqp"
	"leveret/auth"
	"leveret/vhost"
)

// admission counts the connections that are inside a virtual host, and refuses one more where there are enough.
type admission struct {
	mu      sync.Mutex // a leaf lock; guards what follows
	all     int
	vhosts  map[string]int
	users   map[string]int
	waiting map[string]chan struct{} // by virtual host: closed when nobody is left inside

	channels     int
	userChannels map[string]int
}

// entered is where a connection is and whose it is, from connection.open on.
type entered struct {
	vhost *vhost.VHost
	user  string
}

// enter lets a connection into a virtual host, or says what refuses it.
//
// [connection.open]: the broker's limit comes first, then whether the virtual host is there, its limit, the user's, and last the right to be there.
func (c *connection) enter(name string) (*vhost.VHost, error) {
	s, user := c.server, c.user.Name()
	userLimit, limited := c.user.Limit(auth.MaxConnections)
	a := &s.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if most := s.options.ConnectionMax; most > 0 && a.all >= most {
		return nil, amqp.NodeConnectionLimit(most)
	}
	v := s.VHost(name) // looked up under the lock: a deletion hides it first and then looks who is inside
	if v == nil {
		return nil, amqp.NoVHost(name)
	}
	if limit, ok := v.Limits().Of(vhost.MaxConnections); ok && int64(a.vhosts[name]) >= limit {
		return nil, amqp.VHostConnectionLimit(name, user, int(limit))
	}
	if limited && int64(a.users[user]) >= userLimit {
		return nil, amqp.UserConnectionLimit(user, int(userLimit))
	}
	if a.vhosts == nil {
		a.vhosts, a.users = make(map[string]int), make(map[string]int)
	}
	a.all++
	a.vhosts[name]++
	a.users[user]++
	c.entered.Store(&entered{v, user})
	return v, nil
}

// leave counts a connection out; it may be called twice, and for one that never came in.
func (c *connection) leave() {
	at := c.entered.Swap(nil)
	if at == nil {
		return
	}
	a, name := &c.server.admission, at.vhost.Name()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all--
	countDown(a.users, at.user)
	if countDown(a.vhosts, name); a.vhosts[name] == 0 && a.waiting[name] != nil {
		close(a.waiting[name])
		delete(a.waiting, name)
	}
}

// countDown keeps no zeros: names come and go.
func countDown(counts map[string]int, name string) {
	if counts[name]--; counts[name] == 0 {
		delete(counts, name)
	}
}

// emptied returns a channel that is closed when no connection is inside a virtual host that was hidden before.
func (a *admission) emptied(name string) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	gone := make(chan struct{})
	if a.vhosts[name] == 0 {
		close(gone)
		return gone
	}
	if a.waiting == nil {
		a.waiting = make(map[string]chan struct{})
	}
	a.waiting[name] = gone
	return gone
}

// Connections counts the open connections: all, those in a virtual host, those of a user. Empty names ask for nothing.
func (s *Server) Connections(vhost, user string) (all, inVHost, ofUser int) {
	a := &s.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all, a.vhosts[vhost], a.users[user]
}

// userDeleted ends the connections of a user that is gone.
func (s *Server) userDeleted(name string) {
	for _, c := range s.snapshot() {
		if at := c.entered.Load(); at != nil && at.user == name {
			c.kill(amqp.UserDeleted(name))
		}
	}
}
