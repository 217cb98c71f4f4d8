package metrics

import (
	"cmp"
	"io"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// column is one metric of a kind of object: its name, its help, and how it is read off the object's numbers.
type column[T any] struct {
	name, help string
	kind       dto.MetricType
	value      func(*T) float64
}

const (
	gauge   = dto.MetricType_GAUGE
	counter = dto.MetricType_COUNTER
	untyped = dto.MetricType_UNTYPED
)

// group is the columns that /metrics/detailed hands out under one name. A column may stand in several.
type group[T any] struct {
	name    string
	columns []column[T]
}

// labels are the labels of one object, sorted by name.
type labels []*dto.LabelPair

// labelled makes labels of names and values in turn.
func labelled(pairs ...string) labels {
	values := make([]dto.LabelPair, len(pairs)/2)
	l := make(labels, len(values))
	for i := range l {
		values[i].Name, values[i].Value = &pairs[2*i], &pairs[2*i+1]
		l[i] = &values[i]
	}
	slices.SortFunc(l, func(a, b *dto.LabelPair) int { return cmp.Compare(*a.Name, *b.Name) })
	return l
}

// exposition is one answer in the making. It keeps the first error of the writer, and does nothing after it.
type exposition struct {
	encoder expfmt.Encoder
	prefix  string // of RabbitMQ's names: "rabbitmq_" or "rabbitmq_detailed_"
	written map[string]bool
	err     error

	// Reused from family to family.
	family   dto.MetricFamily
	metrics  []dto.Metric
	gauges   []dto.Gauge
	counters []dto.Counter
	untypeds []dto.Untyped
	values   []float64
}

func newExposition(w io.Writer, format expfmt.Format, detailed bool) *exposition {
	e := &exposition{encoder: expfmt.NewEncoder(w, format), prefix: "rabbitmq_", written: make(map[string]bool)}
	if detailed {
		e.prefix = "rabbitmq_detailed_"
	}
	return e
}

// named is a family's name in this answer: the detailed ones differ, so that both may be scraped into one database.
func (e *exposition) named(name string) string {
	for _, ours := range []string{"rabbitmq_", "leveret_"} {
		rest, found := strings.CutPrefix(name, ours)
		if found && !strings.HasPrefix(rest, "cluster_") && !strings.HasSuffix(rest, "_info") {
			return strings.Replace(e.prefix, "rabbitmq_", ours, 1) + rest
		}
	}
	return name
}

// grow makes room for the metrics of n objects.
func (e *exposition) grow(n int) {
	if len(e.metrics) >= n {
		return
	}
	e.metrics, e.values = make([]dto.Metric, n), make([]float64, n)
	e.gauges, e.counters, e.untypeds = make([]dto.Gauge, n), make([]dto.Counter, n), make([]dto.Untyped, n)
	for i := range n {
		e.gauges[i].Value, e.counters[i].Value, e.untypeds[i].Value = &e.values[i], &e.values[i], &e.values[i]
	}
}

// write writes one family with a metric for each object. A family that was written already, as another group has it too, and one without
// objects is left out.
func write[T any](e *exposition, c column[T], objects []T, of []labels) {
	if e.err != nil || len(objects) == 0 || e.written[c.name] {
		return
	}
	e.written[c.name] = true
	e.grow(len(objects))
	name := e.named(c.name)
	e.family.Name, e.family.Help, e.family.Type = &name, &c.help, &c.kind
	e.family.Metric = e.family.Metric[:0]
	for i := range objects {
		e.values[i] = c.value(&objects[i])
		m := &e.metrics[i]
		m.Label, m.Gauge, m.Counter, m.Untyped = nil, nil, nil, nil
		if of != nil {
			m.Label = of[i]
		}
		switch c.kind {
		case gauge:
			m.Gauge = &e.gauges[i]
		case counter:
			m.Counter = &e.counters[i]
		default:
			m.Untyped = &e.untypeds[i]
		}
		e.family.Metric = append(e.family.Metric, m)
	}
	e.err = e.encoder.Encode(&e.family)
}

// writeAll writes the columns of the groups that are wanted.
func writeAll[T any](e *exposition, groups []group[T], wanted func(group string) bool, objects []T, of []labels) {
	for _, g := range groups {
		if !wanted(g.name) {
			continue
		}
		for _, c := range g.columns {
			write(e, c, objects, of)
		}
	}
}

// gathered writes families that another registry has.
func (e *exposition) gathered(families []*dto.MetricFamily, err error) {
	if e.err == nil {
		e.err = err
	}
	for _, f := range families {
		if e.err == nil {
			e.err = e.encoder.Encode(f)
		}
	}
}

// single is a family with labels of its own and one value each.
func single(e *exposition, name, help string, kind dto.MetricType, values []float64, of []labels) {
	write(e, column[float64]{name, help, kind, func(v *float64) float64 { return *v }}, values, of)
}
