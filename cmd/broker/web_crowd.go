package main

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// crowdLimit is how many connections the HTTP servers keep open together. They share the process's files with AMQP, which must not run out of them
// because somebody opens pages without end.
const crowdLimit = 2000

// crowd is the connections of web servers that are no WebSockets. When there are too many, the one that has been without a request for the longest is
// closed, so that whoever opens many keeps nobody else out. It is safe for use by any goroutine.
type crowd struct {
	limit int

	mu   sync.Mutex
	open map[net.Conn]time.Time // since when it has been waiting for a request; the zero time: it is being answered
}

// changed is the servers' [http.Server.ConnState].
func (c *crowd) changed(conn net.Conn, state http.ConnState) {
	if evicted := c.note(conn, state); evicted != nil {
		evicted.Close()
	}
}

// note keeps account of a connection, and returns the one that has to go, if one has to.
func (c *crowd) note(conn net.Conn, state http.ConnState) (evicted net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateHijacked, http.StateClosed:
		delete(c.open, conn)
		return nil
	case http.StateActive:
		c.open[conn] = time.Time{}
		return nil
	}
	if c.open == nil {
		c.open = make(map[net.Conn]time.Time)
	}
	c.open[conn] = time.Now()
	if len(c.open) <= c.limit {
		return nil
	}
	// The newcomer itself has waited for no time, and stays unless all others are being answered.
	oldest := conn
	for other, since := range c.open {
		if !since.IsZero() && since.Before(c.open[oldest]) {
			oldest = other
		}
	}
	delete(c.open, oldest)
	return oldest
}
