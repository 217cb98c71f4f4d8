package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// collector turns a snapshot into metrics. It is immutable, so any number of scrapes may run at once.
type collector struct {
	source   Source
	families []family
	descs    []*prometheus.Desc // of the families, by index
	dropped  *prometheus.Desc
}

func newCollector(source Source) *collector {
	c := &collector{
		source:   source,
		families: slices.Concat(present, lifecycle, received, delivered, disk),
		dropped: prometheus.NewDesc("leveret_messages_dropped_total",
			"Messages that the broker dropped, by reason", []string{"reason"}, nil),
	}
	for _, f := range c.families {
		c.descs = append(c.descs, prometheus.NewDesc(f.name, f.help, nil, f.labels))
	}
	return c
}

// Describe is part of [prometheus.Collector].
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		out <- desc
	}
	out <- c.dropped
}

// Collect is part of [prometheus.Collector].
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.source.Snapshot()
	for i, f := range c.families {
		out <- prometheus.MustNewConstMetric(c.descs[i], f.kind, float64(f.value(&s)))
	}
	out <- prometheus.MustNewConstMetric(c.dropped, counter, float64(s.Unroutable), "unroutable")
	for _, reason := range slices.Sorted(maps.Keys(s.Dropped)) {
		out <- prometheus.MustNewConstMetric(c.dropped, counter, float64(s.Dropped[reason]), reason)
	}
}
