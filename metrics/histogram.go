package metrics

import (
	dto "github.com/prometheus/client_model/go"
)

// histogram writes a family that is one histogram. A distribution without counts is left out.
func (e *exposition) histogram(name, help string, of labels, d *Distribution) {
	if e.err != nil || len(d.Counts) == 0 {
		return
	}
	kind, count := dto.MetricType_HISTOGRAM, uint64(0)
	buckets := make([]*dto.Bucket, len(d.Bounds))
	for i := range d.Bounds {
		count += d.Counts[i]
		below := count
		buckets[i] = &dto.Bucket{CumulativeCount: &below, UpperBound: &d.Bounds[i]}
	}
	for _, n := range d.Counts[len(d.Bounds):] {
		count += n
	}
	e.err = e.encoder.Encode(&dto.MetricFamily{Name: &name, Help: &help, Type: &kind, Metric: []*dto.Metric{{
		Label: of, Histogram: &dto.Histogram{SampleCount: &count, SampleSum: &d.Sum, Bucket: buckets},
	}}})
}
