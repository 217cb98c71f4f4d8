package queue_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leveret/queue"
	"leveret/store"
)

// TestSetModel compares a set with a map. Numbers lie close together at times, so that pages fill.
func TestSetModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s queue.Set
		model := map[uint64]bool{}
		number := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(2000, 2100), rapid.Uint64Range(0, 20000), rapid.Just(uint64(math.MaxUint64>>1)))
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := number.Draw(t, "n")
				s.Add(n)
				model[n] = true
			},
			"add range": func(t *rapid.T) {
				n := number.Draw(t, "n")
				r := store.Range{First: n, Last: n + rapid.Uint64Range(0, 9000).Draw(t, "length")}
				s.AddRange(r)
				for n := r.First; n <= r.Last; n++ {
					model[n] = true
				}
			},
			"remove": func(t *rapid.T) {
				n := number.Draw(t, "n")
				if got := s.Remove(n); got != model[n] {
					t.Fatalf("removed %d: %t", n, got)
				}
				delete(model, n)
			},
			"clear": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "clear") == 0 {
					s.Clear()
					clear(model)
				}
			},
			"": func(t *rapid.T) { compareSet(t, &s, model, number.Draw(t, "from")) },
		})
	})
}

func compareSet(t *rapid.T, s *queue.Set, model map[uint64]bool, from uint64) {
	var want []uint64
	first, lowest := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for n := range model {
		lowest = min(lowest, n)
		if n >= from {
			want = append(want, n)
			first = min(first, n)
		}
	}
	slices.Sort(want)
	var got []uint64
	last := uint64(0)
	s.Each(from, func(r store.Range) bool {
		if r.First > r.Last || len(got) > 0 && r.First <= last+1 {
			t.Fatalf("run %v after %d", r, last)
		}
		for n := r.First; n <= r.Last; n++ {
			got = append(got, n)
		}
		last = r.Last
		return true
	})
	if !slices.Equal(got, want) {
		t.Fatalf("from %d: got %d numbers, want %d", from, len(got), len(want))
	}
	if n, ok := s.From(from); ok != (len(want) > 0) || ok && n != first {
		t.Fatalf("from %d: got %d, %t", from, n, ok)
	}
	if s.Len() != len(model) || s.First() != lowest || s.Has(from) != model[from] {
		t.Fatalf("%d numbers, the first %d; want %d, %d", s.Len(), s.First(), len(model), lowest)
	}
}
