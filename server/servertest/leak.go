// Package servertest holds what tests of the server, and of what stands on it, have in common.
package servertest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines that were told to end may take on a machine that is busy with other things.
const patience = 10 * time.Second

// NoneLeft holds that the goroutines end that were started since before (goleak.IgnoreCurrent): told to, they need a processor yet. It is called
// last, by the test's goroutine; no other test may run in parallel, as it would be taken for what is left.
func NoneLeft(t testing.TB, before goleak.Option) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		err := goleak.Find(before) // tries for a while by itself
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
