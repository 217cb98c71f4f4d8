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
	node   string
	log    *slog.Logger
	finish func() // removes the parameter of a shovel that has done all it had to
	cancel context.CancelFunc
	done   chan struct{}
	ended  bool // the number to move is known; the run's alone
	left   int64

	mu     sync.Mutex // guards status
	status Status
}

// run makes sessions until there is nothing more to do.
func (w *worker) run(ctx context.Context) {
	defer close(w.done)
	w.left = w.order.count
	w.ended = w.order.ending == ""
	for {
		w.note(func(s *Status) { s.State, s.Reason, s.Since = Starting, "", time.Now() })
		err := w.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			w.log.Info("shovel has done its work", "forwarded", w.current().Forwarded)
			w.terminate("done")
			w.finish()
			return
		}
		w.log.Warn("shovel stopped", "error", err, "again_in", w.order.reconnect)
		w.terminate(err.Error())
		if !w.pause(ctx) {
			return
		}
	}
}

// pause waits until the next session is due, and reports whether there is one.
func (w *worker) pause(ctx context.Context) bool {
	if w.order.reconnect == 0 {
		return false
	}
	timer := time.NewTimer(w.order.reconnect)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// stop ends the worker and returns when it has.
func (w *worker) stop() {
	w.cancel()
	<-w.done
}

func (w *worker) terminate(reason string) {
	w.note(func(s *Status) {
		s.State, s.Reason, s.Since, s.Blocked, s.Pending = Terminated, reason, time.Now(), false, 0
	})
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
