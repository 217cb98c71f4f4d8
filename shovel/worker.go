package shovel

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// worker is one shovel at work.
type worker struct {
	order  *order
	value  any // the parameter that the order was made of
	broker Broker
	node   string // the name in the header that tells a message's way
	log    *slog.Logger
	finish func() // removes the parameter of a shovel that has done all it had to
	cancel context.CancelFunc
	done   chan struct{}    // closed when run has returned, or never began
	over   <-chan time.Time // its lifetime has passed; the run's alone, nil: it has no end
	ended  bool             // the number to move is known; the run's alone
	left   int64            // messages to move, once ended; the run's alone

	mu     sync.Mutex // guards status
	status Status
}

// run makes sessions until there is nothing more to do.
func (w *worker) run(ctx context.Context) {
	defer close(w.done)
	w.left = w.order.count
	// Else the number is the source's length, which the first session finds out.
	w.ended = w.order.ending == ""
	if w.order.lifetime > 0 {
		timer := time.NewTimer(w.order.lifetime)
		defer timer.Stop()
		w.over = timer.C
	}
	for {
		w.note(func(s *Status) { s.State, s.Reason, s.Since = Starting, "", time.Now() })
		w.tell(Starting, "")
		err := w.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			w.log.Warn("shovel stopped", "error", err, "again_in", w.order.reconnect)
			w.terminate(err.Error())
			switch w.pause(ctx) {
			case again:
				continue
			case forGood:
				return
			}
		}
		w.log.Info("shovel has done its work", "forwarded", w.current().Forwarded)
		w.terminate("done")
		// Last, as it takes the parameter away, on which the manager ends this worker.
		w.finish()
		return
	}
}

// afterwards is what comes after a session that failed.
type afterwards uint8

const (
	again   afterwards = iota // another one
	forGood                   // nothing
	over                      // nothing, and the shovel's lifetime has passed
)

// pause waits until the next session is due, and says whether there is one.
func (w *worker) pause(ctx context.Context) afterwards {
	var due <-chan time.Time // never, without reconnecting
	switch {
	case w.order.reconnect > 0:
		timer := time.NewTimer(w.order.reconnect)
		defer timer.Stop()
		due = timer.C
	// Without reconnecting only a lifetime is left to wait for.
	case w.over == nil:
		return forGood
	}
	select {
	case <-ctx.Done():
		return forGood
	case <-w.over:
		return over
	case <-due:
		return again
	}
}

// stop ends the worker and returns when it has.
func (w *worker) stop() {
	w.cancel()
	<-w.done
}

// terminate shows the end of a session and tells of it. What it counted stays.
func (w *worker) terminate(reason string) {
	w.note(func(s *Status) {
		s.State, s.Reason, s.Since, s.Blocked, s.Pending = Terminated, reason, time.Now(), false, 0
	})
	w.tell(Terminated, reason)
}

// tell emits the event of a new state.
func (w *worker) tell(state State, reason string) {
	if v := w.broker.VHost(w.order.vhost); v != nil {
		v.TellShovel(w.order.name, string(state), reason)
	}
}

// note changes what is shown.
func (w *worker) note(change func(*Status)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.status)
}

// current is what is shown; any goroutine may ask.
func (w *worker) current() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}
