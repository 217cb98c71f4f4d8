package main

import (
	"leveret/metrics"
	"leveret/queue"
	"leveret/server"
)

// durations are a queue's or the broker's durations in seconds.
func durations(h *queue.Histogram) metrics.Distribution {
	d := metrics.Distribution{Counts: h.Counts[:], Sum: float64(h.Sum) / 1000}
	for i := range len(h.Counts) - 1 {
		// The queue's buckets double, in ms.
		d.Bounds = append(d.Bounds, float64(uint64(1)<<i)/1000)
	}
	return d
}

// sizes are how large published messages were.
func sizes(s *server.Sizes) metrics.Distribution {
	d := metrics.Distribution{Counts: s.Counts[:], Sum: float64(s.Bytes)}
	for _, bound := range server.SizeBounds {
		d.Bounds = append(d.Bounds, float64(bound))
	}
	return d
}

// quantiles are those of durations, in seconds; zeros if there are none.
func quantiles(h *queue.Histogram) metrics.Quantiles {
	return metrics.Quantiles{P50: h.Quantile(0.5) / 1000, P95: h.Quantile(0.95) / 1000, P99: h.Quantile(0.99) / 1000}
}
