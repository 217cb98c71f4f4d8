package interop

import "testing"

// The field's ladder of retries, of time to live and dead letters: the consumer counts its attempts in x-death, and gives up after the fourth.
// Jobs behind the one that fails do not wait for it.
func TestLadderOfRetries(t *testing.T) {
	eachScripted(t, func(t *testing.T, client string) {
		run(t, client, "ladder", []string{freshQueue(t), "4", "150"},
			"attempt 1 0", "good done", "attempt 2 0", "attempt 3 0", "attempt 4 0", "waited",
			"bad rejected 3 expired 3", "rejected expired")
	})
}
