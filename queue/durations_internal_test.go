package queue

import (
	"testing"

	"pgregory.net/rapid"
)

// The quantile of durations that all lie in one bucket lies in it too, whatever the share; none make 0.
func TestQuantile(t *testing.T) {
	var none Histogram
	if got := none.Quantile(0.5); got != 0 {
		t.Errorf("the median of nothing is %g, want 0", got)
	}
	for _, c := range []struct {
		name      string
		durations []int64
		share     float64
		from, to  float64
	}{
		{"below a millisecond", []int64{0, 0, 0}, 0.99, 0, 1},
		{"all alike", []int64{100, 100, 100, 100}, 0.5, 64, 128},
		{"median of two halves", []int64{1, 1, 1, 1000, 1000, 1000}, 0.5, 1, 2},
		{"the slowest", []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 5000}, 0.95, 4096, 8192},
		{"a clock that was set back", []int64{-5}, 0.5, 0, 1},
		{"longer than any bucket", []int64{1 << 50}, 0.5, 1 << (DurationBuckets - 2), 1 << (DurationBuckets - 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Durations
			for _, ms := range c.durations {
				d.add(ms, 1)
			}
			h := d.Histogram()
			if got := h.Quantile(c.share); got < c.from || got > c.to {
				t.Errorf("%g, want %g to %g", got, c.from, c.to)
			}
			if h.Count() != uint64(len(c.durations)) {
				t.Errorf("%d counted, want %d", h.Count(), len(c.durations))
			}
		})
	}
}

// A quantile is never further off than its bucket is wide, whatever the durations.
func TestQuantileModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(rapid.Int64Range(0, 1<<20), 1, 200).Draw(t, "durations")
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		var d Durations
		sum := uint64(0)
		for _, ms := range durations {
			d.add(ms, 1)
			sum += uint64(ms)
		}
		h := d.Histogram()
		if h.Sum != sum {
			t.Fatalf("sum %d, want %d", h.Sum, sum)
		}
		got := h.Quantile(share)
		below, notAbove := 0, 0
		for _, ms := range durations {
			from, to := bucketBounds(bucketOf(ms))
			if to <= got {
				below++
			}
			if from <= got {
				notAbove++
			}
		}
		if wanted := share * float64(len(durations)); float64(below) > wanted+1e-6 || float64(notAbove) < wanted-1e-6 {
			t.Fatalf("%g: %d of %d lie below, %d not above, want a share of %g", got, below, len(durations), notAbove, share)
		}
	})
}

// What is recent is of the span at hand and the one before; older durations are forgotten.
func TestRecentForgets(t *testing.T) {
	var r recent
	const start = 1_000 * recentSpan
	r.add(start, 3, 5)
	r.add(start+recentSpan-1, 100, 2)
	for _, c := range []struct {
		after int64
		want  uint64
	}{{0, 7}, {recentSpan, 7}, {2*recentSpan - 1, 7}, {2 * recentSpan, 0}, {20 * recentSpan, 0}} {
		h := r.histogram(start + c.after)
		if got := h.Count(); got != c.want {
			t.Errorf("%d ms later there are %d, want %d", c.after, got, c.want)
		}
	}
	r.add(start+recentSpan, 9, 1)
	h := r.histogram(start + recentSpan)
	if got := h.Count(); got != 8 {
		t.Errorf("%d in the second span, want 8", got)
	}
	r.add(start+2*recentSpan, 9, 1)
	h = r.histogram(start + 2*recentSpan)
	if got := h.Count(); got != 2 {
		t.Errorf("%d in the third span, want the 2 of it and the second", got)
	}
}
