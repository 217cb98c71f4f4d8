package interop

import "testing"

// A long job keeps its message as long as it asks for more time; one that does not ask loses it, and its consumer.
func TestLease(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "lease", []string{freshQueue(t), "5000"}, "done 0", "cancelled worker", "forgotten 1")
	})
}
