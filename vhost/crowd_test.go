package vhost_test

import (
	"testing"

	"pgregory.net/rapid"

	"leveret/vhost"
)

// Whatever comes and goes: what is kept is bounded by what is there, and looking costs a few members for each that came.
func TestCrowd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var crowd vhost.Crowd
		const free = 64 // members that no look is spent on
		there, kept, most, came, seen := 0, 0, 0, 0, 0
		for _, comes := range rapid.SliceOfN(rapid.Bool(), 0, 2000).Draw(t, "comes") {
			if !comes {
				there = max(0, there-1)
				continue
			}
			if crowd.Full(kept) {
				seen += kept
				kept = there
				crowd.Looked(kept)
			}
			there, kept, came = there+1, kept+1, came+1
			most = max(most, there)
			if kept > max(free, 2*most) {
				t.Fatalf("%d are kept, and there were never more than %d", kept, most)
			}
		}
		if seen > 2*came {
			t.Fatalf("%d members were looked at when %d came", seen, came)
		}
	})
}
