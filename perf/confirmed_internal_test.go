package perf

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Spans behave as the sets of numbers that they stand for.
func TestSpansAreSets(t *testing.T) {
	numbers := rapid.SliceOfN(rapid.Uint64Range(1, 60), 0, 80)
	rapid.Check(t, func(t *rapid.T) {
		var sets [2]map[uint64]bool
		var both [2]spans
		for i := range both {
			sets[i] = map[uint64]bool{}
			for _, n := range numbers.Draw(t, "numbers") {
				both[i].add(n)
				sets[i][n] = true
			}
			both[i] = both[i].joined()
			if both[i].len() != uint64(len(sets[i])) {
				t.Fatalf("%v stands for %d numbers", both[i], len(sets[i]))
			}
		}
		var got, want []uint64
		for _, s := range both[0].without(both[1]) {
			for n := s.first; n <= s.last; n++ {
				got = append(got, n)
			}
		}
		for n := uint64(1); n <= 60; n++ {
			if sets[0][n] && !sets[1][n] {
				want = append(want, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v without %v is %v, want %v", both[0], both[1], got, want)
		}
	})
}
