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

// alarms are the shortages at this moment.
type alarms struct {
	any     atomic.Bool // on is not zero: a look that costs nothing
	mu      sync.Mutex
	real    shortage      // what was found
	forced  shortage      // what an operator says
	on      shortage      // both
	cleared chan struct{} // closed when the last shortage ends; nil while there is none
}

// set begins or ends a shortage; it reports whether it ended the last one.
func (a *alarms) set(s shortage, on bool) (over bool) {
	return a.change(&a.real, s, on)
}

// force begins or ends a shortage that need not be there. It reports whether that ended the last one.
func (a *alarms) force(s shortage, on bool) (over bool) { return a.change(&a.forced, s, on) }

// now are the shortages of this moment.
func (a *alarms) now() shortage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.on
}

func (a *alarms) change(which *shortage, s shortage, on bool) (over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if on {
		*which |= s
	} else {
		*which &^= s
	}
	a.on = a.real | a.forced
	a.any.Store(a.on != 0)
	if a.on != 0 && a.cleared == nil {
		a.cleared = make(chan struct{})
	}
	if over = a.on == 0 && a.cleared != nil; over {
		close(a.cleared)
		a.cleared = nil
	}
	return over
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
	a.mu.Lock()
	defer a.mu.Unlock()
	return reasons[max(a.on, lowMemory)]
}
