package perf

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBucketsMeet(t *testing.T) {
	for b := range buckets - 1 {
		last := upper(b)
		if bucket(last) != b {
			t.Fatalf("bucket %d ends at %d, which is counted in bucket %d", b, last, bucket(last))
		}
		if last < math.MaxInt64 && bucket(last+1) != b+1 {
			t.Fatalf("%d is counted in bucket %d, not in %d", last+1, bucket(last+1), b+1)
		}
		if last == math.MaxInt64 {
			break
		}
	}
	if got := bucket(math.MaxInt64); got >= buckets {
		t.Errorf("the longest duration is counted in bucket %d of %d", got, buckets)
	}
	if got := bucket(-5); got != 0 {
		t.Errorf("a negative duration is counted in bucket %d", got)
	}
}

var durations = rapid.Custom(func(rt *rapid.T) time.Duration {
	return time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(1, 62).Draw(rt, "bits")).Draw(rt, "d"))
})

// TestQuantilesFollowModel compares quantiles with those of the sorted values.
func TestQuantilesFollowModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(durations, 1, 200).Draw(rt, "values")
		h := new(histogram)
		for _, d := range values {
			h.add(d, 1)
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.5, 0.95, 0.99, 0.999, 1} {
			rank := max(1, int(q*float64(len(values))+0.5))
			want, got := values[rank-1], h.quantile(q)
			if got < want || float64(got-want) > float64(want)/64 {
				rt.Fatalf("quantile %v of %v is %d, want %d and at most 1/64 over it", q, values, got, want)
			}
		}
	})
}

// TestSumsAndDifferences holds that merging and subtracting are as if the values had been counted together, or the later ones alone.
func TestSumsAndDifferences(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		first, second := rapid.SliceOfN(durations, 0, 50).Draw(rt, "first"), rapid.SliceOfN(durations, 1, 50).Draw(rt, "second")
		var a, b, both histogram
		for _, d := range first {
			a.add(d, 2)
			both.add(d, 2)
		}
		for _, d := range second {
			b.add(d, 3)
			both.add(d, 3)
		}
		sum := a
		sum.merge(&b)
		if sum != both {
			rt.Fatalf("merged %+v, together %+v", sum.latency(), both.latency())
		}
		sum.subtract(&a)
		if sum.buckets != b.buckets || sum.count != b.count {
			rt.Fatalf("after taking away %+v, want %+v", sum.latency(), b.latency())
		}
		if sum.max < b.max || bucket(sum.max) != bucket(b.max) {
			rt.Fatalf("the maximum is %d, want %d up to its bucket", sum.max, b.max)
		}
	})
}

func TestEmptyHistogram(t *testing.T) {
	if got := new(histogram).latency(); got != (Latency{}) {
		t.Errorf("%+v", got)
	}
}

func BenchmarkHistogram(b *testing.B) {
	h := new(histogram)
	for d := time.Duration(1); b.Loop(); d = d*5%10_000_019 + 1 {
		h.add(d, 1)
	}
}
