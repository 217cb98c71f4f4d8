package main

import (
	"testing"

	"leveret/metrics"
	"leveret/queue"
	"leveret/server"
)

// What queues and the server count comes out in the units that Prometheus wants, with a bound for each count but the last.
func TestDistributions(t *testing.T) {
	h := queue.Histogram{Sum: 2500}
	h.Counts[0], h.Counts[3], h.Counts[queue.DurationBuckets-1] = 4, 2, 1
	d := durations(&h)
	if len(d.Bounds) != len(d.Counts)-1 || d.Bounds[0] != 0.001 || d.Bounds[3] != 0.008 || d.Counts[3] != 2 || d.Sum != 2.5 {
		t.Errorf("durations %+v", d)
	}
	s := server.Sizes{Bytes: 123}
	s.Counts[1] = 3
	d = sizes(&s)
	if len(d.Bounds) != len(d.Counts)-1 || d.Bounds[1] != 1000 || d.Counts[1] != 3 || d.Sum != 123 {
		t.Errorf("sizes %+v", d)
	}
	if q := quantiles(new(queue.Histogram)); q != (metrics.Quantiles{}) {
		t.Errorf("quantiles of nothing are %+v", q)
	}
	if q := quantiles(&h); q.P50 > 0.001 || q.P99 < 30_000 {
		t.Errorf("quantiles are %+v", q)
	}
}
