package server

import (
	"sync"

	"leveret/amqp"
)

// shortage is what the broker is low on.
type shortage uint8

const (
	lowMemory shortage = 1 << iota
	lowDisk
)

// reasons are the words in which clients are told.
var reasons = [...]string{lowMemory: "low on memory", lowDisk: "low on disk", lowMemory | lowDisk: "low on memory & disk"}

// alarms hold publishers back while the broker is low on anything.
type alarms struct {
	mu      sync.Mutex
	on      shortage
	cleared chan struct{} // closed when the last shortage ends; nil while there is none
}

// set begins or ends a shortage.
func (a *alarms) set(s shortage, on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if on {
		a.on |= s
	} else {
		a.on &^= s
	}
	switch {
	case a.on != 0 && a.cleared == nil:
		a.cleared = make(chan struct{})
	case a.on == 0 && a.cleared != nil:
		close(a.cleared)
		a.cleared = nil
	}
}

// wait returns what the broker is low on, in words, and a channel that is closed when it no longer is; nil when it is low on nothing.
func (a *alarms) wait() (reason string, cleared <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return reasons[a.on], a.cleared
}

// waitAlarm holds the reader of a connection that has published while an alarm is on. The client is told if it wants to be.
//
// [connection.blocked]: an extension of RabbitMQ: sent once, only to clients that announced it, only when they publish.
func (c *connection) waitAlarm() {
	reason, cleared := c.server.alarms.wait()
	if cleared == nil {
		return
	}
	if c.client.blockedNotify {
		c.out.reply(0, &amqp.ConnectionBlocked{Reason: reason})
		c.out.Flush(true)
	}
	c.blocked.Store(true)
	c.holdBack(cleared)
	c.blocked.Store(false)
	if c.client.blockedNotify {
		c.out.reply(0, &amqp.ConnectionUnblocked{})
		c.out.Flush(true)
	}
}

// waitLog holds the reader of a connection that has published into the log while too much waits there for the disk.
func (c *connection) waitLog() {
	s := c.server
	for s.store.Pressure() {
		synced := s.synced.wait()
		if !s.store.Pressure() { // the sync was faster
			return
		}
		if !c.holdBack(synced) {
			return
		}
	}
}

// holdBack makes the reader wait, until the connection is to end at most, or the store fails: then the broker stops. It reports whether what
// it waited for happened. A client that is not read from is not silent.
func (c *connection) holdBack(until <-chan struct{}) bool {
	c.heart.blocked.Store(true)
	defer c.heart.blocked.Store(false)
	select {
	case <-until:
		return true
	case <-c.server.store.Failed():
	case <-c.stop:
	}
	return false
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
