package queue

import (
	"testing"

	"pgregory.net/rapid"

	"leveret/store"
)

// A tally counts like a map, also beyond what it counts in sets, and is empty when all is forgotten.
func TestTallyModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counted tally
		model := map[uint64]uint32{}
		number := rapid.OneOf(rapid.Uint64Range(1, 6), rapid.Uint64Range(1, 5000))
		t.Repeat(map[string]func(*rapid.T){
			"raise": func(t *rapid.T) {
				n := number.Draw(t, "n")
				for range rapid.SampledFrom([]int{1, 1, 1, tallyLevels + 2}).Draw(t, "times") {
					model[n]++
					if got := counted.raise(n); got != model[n] {
						t.Fatalf("raised to %d, want %d", got, model[n])
					}
				}
			},
			"recover": func(t *rapid.T) {
				n, count := number.Draw(t, "n"), rapid.Uint32Range(0, 2*tallyLevels).Draw(t, "count")
				if model[n] == 0 {
					counted.set(n, count)
					model[n] = count
				}
			},
			"forget": func(t *rapid.T) {
				n := number.Draw(t, "n")
				counted.forget(n)
				delete(model, n)
			},
			"forget range": func(t *rapid.T) {
				r := store.Range{First: number.Draw(t, "first")}
				r.Last = r.First + rapid.Uint64Range(0, 500).Draw(t, "length")
				counted.forgetRange(r)
				for n := r.First; n <= r.Last; n++ {
					delete(model, n)
				}
			},
			"": func(t *rapid.T) {
				sum := uint32(0)
				for n, count := range model {
					if sum += count; counted.of(n) != count {
						t.Fatalf("counts %d of %d, want %d", counted.of(n), n, count)
					}
				}
				if counted.empty() != (sum == 0) {
					t.Fatalf("empty %t, though %d is counted", counted.empty(), sum)
				}
			},
		})
	})
}
