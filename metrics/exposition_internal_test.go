package metrics

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
)

// text is an exposition in Prometheus' text format, and what was written of it.
func text(detailed bool) (*exposition, *strings.Builder) {
	var b strings.Builder
	return newExposition(&b, expfmt.NewFormat(expfmt.TypeTextPlain), detailed), &b
}

// Detailed families have names of their own, so that both kinds can be scraped into one database; but for what is of the cluster, and for
// those that others are joined with.
func TestNamesOfFamilies(t *testing.T) {
	for name, want := range map[string]string{
		"rabbitmq_queue_messages":       "rabbitmq_detailed_queue_messages",
		"leveret_queue_oldest_seconds":  "leveret_detailed_queue_oldest_seconds",
		"rabbitmq_cluster_vhost_status": "rabbitmq_cluster_vhost_status",
		"rabbitmq_identity_info":        "rabbitmq_identity_info",
		"process_cpu_seconds_total":     "process_cpu_seconds_total",
	} {
		plain, _ := text(false)
		detailed, _ := text(true)
		if got := plain.named(name); got != name {
			t.Errorf("%s is called %s", name, got)
		}
		if got := detailed.named(name); got != want {
			t.Errorf("%s is called %s in detail, want %s", name, got, want)
		}
	}
}

// A family has a line for each object with its labels in order of their names, and is written once, however many groups have it; of nothing it is
// not written at all. Room for many objects is used again for few.
func TestWriteFamilies(t *testing.T) {
	e, b := text(false)
	size := func(kind string) column[int] {
		return column[int]{"rabbitmq_" + kind, "Size", gauge, func(n *int) float64 { return float64(*n) }}
	}
	write(e, size("many"), []int{1, 2, 3}, []labels{labelled("z", "1", "a", "2"), labelled("q", `"\`+"\n"), labelled("q", "")})
	write(e, size("many"), []int{9}, nil)
	write(e, size("none"), nil, nil)
	total := size("few_total")
	total.kind = counter
	write(e, total, []int{7}, nil)
	const want = `# HELP rabbitmq_many Size
# TYPE rabbitmq_many gauge
rabbitmq_many{a="2",z="1"} 1
rabbitmq_many{q="\"\\\n"} 2
rabbitmq_many{q=""} 3
# HELP rabbitmq_few_total Size
# TYPE rabbitmq_few_total counter
rabbitmq_few_total 7
`
	if b.String() != want || e.err != nil {
		t.Errorf("%v, got\n%s\nwant\n%s", e.err, b, want)
	}
}

// After an error nothing more is written: what follows would look like a whole answer.
func TestNothingAfterAnError(t *testing.T) {
	e, b := text(false)
	e.err = errors.New("hung up")
	write(e, column[int]{"rabbitmq_x", "X", gauge, func(*int) float64 { return 1 }}, []int{1}, nil)
	e.histogram("rabbitmq_h", "H", nil, &Distribution{Bounds: []float64{1}, Counts: []uint64{1, 1}})
	if b.Len() > 0 || e.err.Error() != "hung up" {
		t.Errorf("%v, written %q", e.err, b)
	}
}

// Buckets of a histogram count all that is below their bound; what is above the last bound is in the sum of all alone.
func TestBucketsAddUp(t *testing.T) {
	e, b := text(false)
	e.histogram("rabbitmq_h", "H", labelled("of", "it"), &Distribution{Bounds: []float64{1, 10}, Counts: []uint64{2, 3, 4}, Sum: 99.5})
	e.histogram("rabbitmq_empty", "E", nil, &Distribution{})
	const want = `# HELP rabbitmq_h H
# TYPE rabbitmq_h histogram
rabbitmq_h_bucket{of="it",le="1"} 2
rabbitmq_h_bucket{of="it",le="10"} 5
rabbitmq_h_bucket{of="it",le="+Inf"} 9
rabbitmq_h_sum{of="it"} 99.5
rabbitmq_h_count{of="it"} 9
`
	if b.String() != want || e.err != nil {
		t.Errorf("%v, got\n%s\nwant\n%s", e.err, b, want)
	}
}

// A parameter that is not given is met by all; one that is given twice by nothing, as no object has two names.
func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   bool
	}{{nil, true}, {[]string{"q"}, true}, {[]string{""}, false}, {[]string{"Q"}, false}, {[]string{"q", "q"}, false}, {[]string{"q", "r"}, false}} {
		if got := matches(tt.values, "q"); got != tt.want {
			t.Errorf("%q: %v", tt.values, got)
		}
	}
}
