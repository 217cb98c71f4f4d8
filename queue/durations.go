package queue

import (
	"math/bits"
	"sync/atomic"
)

// DurationBuckets is into how many lengths durations are sorted. Bucket 0 is below a millisecond, bucket i from 2^(i-1) ms to below 2^i ms, and the
// last takes all that is longer, from about nine hours on.
const DurationBuckets = 27

// Histogram counts durations by their bucket.
type Histogram struct {
	Counts [DurationBuckets]uint64
	Sum    uint64 // of all durations, ms
}

// Count is how many durations there are.
func (h *Histogram) Count() (n uint64) {
	for _, count := range h.Counts {
		n += count
	}
	return n
}

// Quantile is the duration in ms that a share of all, 0 to 1, does not exceed, about: the counts know durations up to a factor of two. It is 0 if
// there are none.
func (h *Histogram) Quantile(share float64) float64 {
	left := share * float64(h.Count())
	for i, count := range h.Counts {
		if count > 0 && left <= float64(count) {
			from, to := bucketBounds(i)
			return from + (to-from)*max(0, left)/float64(count)
		}
		left -= float64(count)
	}
	return 0
}

// bucketBounds are the durations in ms that a bucket begins and ends at.
func bucketBounds(i int) (from, to float64) {
	if i == 0 {
		return 0, 1
	}
	return float64(uint64(1) << (i - 1)), float64(uint64(1) << i)
}

// bucketOf is the bucket of a duration. Clocks that were set back make none.
func bucketOf(ms int64) int { return min(bits.Len64(uint64(max(ms, 0))), DurationBuckets-1) }

// Durations is a histogram that grows, and that all queues of a broker share. It is safe for concurrent use.
type Durations struct {
	counts [DurationBuckets]atomic.Uint64
	sum    atomic.Uint64
}

func (d *Durations) add(ms int64, times uint64) {
	d.counts[bucketOf(ms)].Add(times)
	d.sum.Add(uint64(max(ms, 0)) * times)
}

// Histogram is what was counted so far; counts of the same moment may be in it or not.
func (d *Durations) Histogram() (h Histogram) {
	h.Sum = d.sum.Load()
	for i := range h.Counts {
		h.Counts[i] = d.counts[i].Load()
	}
	return h
}

// Timings are how long the messages of all queues waited, from their publish to their first delivery, and how long clients took for them, from delivery
// to ack. A deleted queue's stay in.
type Timings struct{ Wait, Processing Durations }

// recentSpan is the length of one of the two spans of recent durations, in ms.
const recentSpan = 2 * 60 * 1000

// recent is a histogram of the last two to four minutes. One goroutine at a time may add, others may look; who looks while a span begins may miss
// what was just added.
type recent struct {
	spans [2]struct {
		number atomic.Int64 // of the span, counted from the beginning of time
		counts [DurationBuckets]atomic.Uint32
	}
}

func (r *recent) add(now, ms int64, times uint64) {
	number := now / recentSpan
	s := &r.spans[number%2]
	if s.number.Load() != number {
		for i := range s.counts {
			s.counts[i].Store(0)
		}
		s.number.Store(number)
	}
	c := &s.counts[bucketOf(ms)]
	c.Store(c.Load() + uint32(times))
}

// histogram is what was added lately. It has no sum.
func (r *recent) histogram(now int64) (h Histogram) {
	number := now / recentSpan
	for i := range r.spans {
		s := &r.spans[i]
		if at := s.number.Load(); at != number && at != number-1 {
			continue
		}
		for i := range s.counts {
			h.Counts[i] += uint64(s.counts[i].Load())
		}
	}
	return h
}
