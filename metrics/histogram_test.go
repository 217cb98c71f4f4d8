package metrics_test

import (
	"strings"
	"testing"

	"leveret/metrics"
)

// TestHistograms: counts are added up from bound to bound, and what has no bound counts in the last.
func TestHistograms(t *testing.T) {
	n := distinct()
	n.node.Wait = metrics.Distribution{Bounds: []float64{0.001, 0.5}, Counts: []uint64{7, 2, 1}, Sum: 9.25}
	n.node.Processing = metrics.Distribution{}
	body := text(t, n, "/metrics")
	for _, line := range []string{
		`leveret_message_wait_seconds_bucket{le="0.001"} 7`, `leveret_message_wait_seconds_bucket{le="0.5"} 9`,
		`leveret_message_wait_seconds_bucket{le="+Inf"} 10`, `leveret_message_wait_seconds_sum 9.25`, `leveret_message_wait_seconds_count 10`,
		`rabbitmq_message_size_bytes_bucket{protocol="amqp091",le="100"} 51`, `rabbitmq_message_size_bytes_count{protocol="amqp091"} 103`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("there is no line %s", line)
		}
	}
	if strings.Contains(body, "leveret_message_processing_seconds") {
		t.Error("a distribution without counts is shown")
	}
}
