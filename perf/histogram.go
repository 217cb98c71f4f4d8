package perf

import (
	"math/bits"
	"time"
)

// A histogram counts durations in buckets that are linear within each power of two: 64 to a power, so that a value is known to 1.6 %.
//
//	0 ... 127 ns     a bucket each
//	128 ... 255 ns   64 buckets of 2 ns
//	256 ... 511 ns   64 buckets of 4 ns, and so on
//
// The zero value is empty. It is not safe for concurrent use.
type histogram struct {
	buckets [buckets]uint64
	count   uint64
	max     time.Duration
}

const (
	stepBits = 6
	steps    = 1 << stepBits
	buckets  = (64 - stepBits) * steps
)

// bucket returns where a duration is counted.
func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	shift := max(bits.Len64(n)-stepBits-1, 0)
	return shift*steps + int(n>>shift)
}

// upper returns the largest duration that is counted in a bucket.
func upper(bucket int) time.Duration {
	if bucket < 2*steps {
		return time.Duration(bucket)
	}
	shift := bucket/steps - 1
	return time.Duration(uint64(bucket-shift*steps+1)<<shift - 1)
}

// add counts n values of one duration.
func (h *histogram) add(d time.Duration, n uint64) {
	h.buckets[bucket(d)] += n
	h.count += n
	h.max = max(h.max, d)
}

// merge counts all that other has counted.
func (h *histogram) merge(other *histogram) {
	if other.count == 0 {
		return
	}
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
	h.count += other.count
	h.max = max(h.max, other.max)
}

// subtract takes away what an earlier copy of the same histogram had counted. The maximum becomes that of the highest bucket left.
func (h *histogram) subtract(earlier *histogram) {
	highest := 0
	for i := range h.buckets {
		h.buckets[i] -= earlier.buckets[i]
		if h.buckets[i] > 0 {
			highest = i
		}
	}
	h.count -= earlier.count
	h.max = min(h.max, upper(highest))
}

// quantile returns the duration that a share q of all values does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := max(1, uint64(q*float64(h.count)+0.5))
	var seen uint64
	for i, n := range h.buckets {
		if seen += n; seen >= rank {
			return min(upper(i), h.max)
		}
	}
	return h.max
}

// Latency sums a distribution up, in microseconds.
type Latency struct {
	Count uint64  `json:"count"`
	P50   float64 `json:"p50_us"`
	P95   float64 `json:"p95_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p99_9_us"`
	Max   float64 `json:"max_us"`
}

// latency sums up what was counted. Tenths of a microsecond are below what a bucket tells, but keep short times apart.
func (h *histogram) latency() Latency {
	us := func(d time.Duration) float64 { return float64(d.Round(100*time.Nanosecond)) / 1e3 }
	return Latency{
		Count: h.count,
		P50:   us(h.quantile(0.50)),
		P95:   us(h.quantile(0.95)),
		P99:   us(h.quantile(0.99)),
		P999:  us(h.quantile(0.999)),
		Max:   us(h.max),
	}
}
