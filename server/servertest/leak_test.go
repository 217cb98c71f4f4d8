package servertest_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"leveret/server/servertest"
)

// witness notes what a check found, in the place of the test.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Helper() {}
func (w *witness) Fatal(...any) {
	w.failed = true
	runtime.Goexit()
}

// look runs the check as a test of its own.
func (w *witness) look(before goleak.Option) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		servertest.NoneLeft(w, before)
	}()
	<-done
}

// What ends in time is not left; what was there before is none of the test's business.
func TestNoneLeft(t *testing.T) {
	early, late := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		<-early
		close(ended)
	}()
	before := goleak.IgnoreCurrent()
	go func() { <-late }()
	w := &witness{TB: t}
	close(late)
	w.look(before)
	if w.failed {
		t.Error("a goroutine that ends is taken for one that is left")
	}
	close(early)
	<-ended
}

// What does not end is found. On the test's own clock the patience for it is over at once.
func TestOneLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, end := goleak.IgnoreCurrent(), make(chan struct{})
		go func() { <-end }()
		w := &witness{TB: t}
		w.look(before)
		if !w.failed {
			t.Error("a goroutine that stays is not found")
		}
		close(end)
	})
}
