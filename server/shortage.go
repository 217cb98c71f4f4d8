package server

import (
	"sync"
	"sync/atomic"
)

// shortage is what the broker is low on.
type shortage uint8

const (
	lowMemory shortage = 1 << iota
	lowDisk
)

// reasons are the words in which clients are told.
var reasons = [...]string{lowMemory: "low on memory", lowDisk: "low on disk", lowMemory | lowDisk: "low on memory & disk"}

// alarms are the shortages at this moment: those that were found, and those that an operator pretends.
type alarms struct {
	any           atomic.Bool // there is one: a look that costs nothing
	mu            sync.Mutex
	found, forced shortage
	cleared       chan struct{} // closed when the last shortage ends; nil while there is none
}

// set notes that a shortage was found, or is over; it reports whether that ended the last one.
func (a *alarms) set(s shortage, on bool) (over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.found = a.found.with(s, on)
	return a.changedLocked()
}

// force is set for what an operator pretends. It ends what was forced alone: a real shortage stays one.
func (a *alarms) force(s shortage, on bool) (over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forced = a.forced.with(s, on)
	return a.changedLocked()
}

// with adds or removes a resource.
func (s shortage) with(other shortage, on bool) shortage {
	if on {
		return s | other
	}
	return s &^ other
}

// changedLocked makes what is found and what is forced into one alarm; over: the last one ends, and whoever waits goes on.
func (a *alarms) changedLocked() (over bool) {
	on := a.found|a.forced != 0
	a.any.Store(on)
	if on && a.cleared == nil {
		a.cleared = make(chan struct{})
	}
	if over = !on && a.cleared != nil; over {
		close(a.cleared)
		a.cleared = nil
	}
	return over
}

// on returns the shortages of this moment.
func (a *alarms) on() shortage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found | a.forced
}

// wait returns a channel that is closed when the broker is low on nothing any more, nil when it is not.
func (a *alarms) wait() <-chan struct{} {
	if !a.any.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cleared
}

// reason says what the broker is low on; when that has just ended, what it has been most likely.
func (a *alarms) reason() string {
	return reasons[max(a.on(), lowMemory)]
}

// Resource is what a broker can be low on.
type Resource uint8

// The resources that alarms are about.
const (
	Memory Resource = Resource(lowMemory)
	Disk   Resource = Resource(lowDisk)
)

// Alarms reports which alarms are on. Any goroutine may ask.
func (s *Server) Alarms() (memory, disk bool) {
	on := s.alarms.on()
	return on&lowMemory != 0, on&lowDisk != 0
}

// AlarmReason says in RabbitMQ's words what the broker is low on, "low on memory" for example, and nothing while it is low on nothing. Whoever
// publishes in some other way than over AMQP must not get past an alarm, and asks this before.
func (s *Server) AlarmReason() string {
	if !s.alarms.any.Load() {
		return ""
	}
	return s.alarms.reason()
}

// ForceAlarm makes the broker behave as if it were low on a resource, or ends that; a shortage that was found is not ended. For tests of
// clients, and to stop publishers by hand. Any goroutine may call it.
func (s *Server) ForceAlarm(r Resource, on bool) {
	s.log.Warn("alarm set by hand", "reason", reasons[r], "on", on)
	s.tellUnblocked(s.alarms.force(shortage(r), on))
}

// SetMemoryLimit changes the memory in bytes from which publishers are held back. It holds until the next start; 0 disables the alarm, 1 holds
// publishers always. The new limit is looked at within a tenth of a second. Any goroutine may call it.
func (s *Server) SetMemoryLimit(bytes uint64) {
	s.log.Info("memory limit changed", "limit", bytes)
	s.memory.limit.Store(bytes)
	if s.options.OnMemoryLimit != nil {
		s.options.OnMemoryLimit(bytes)
	}
	s.budget.SetLimit(int64(bytes / budgetDivisor * budgetShare))
}

// MemoryLimit is the memory in bytes from which publishers are held back, 0: never.
func (s *Server) MemoryLimit() uint64 { return s.memory.limit.Load() }
