package metrics

import (
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Identity is what dashboards join all other metrics with. It does not change while the broker runs.
type Identity struct {
	Node            string // the node's name
	Cluster         string // the cluster's name
	RabbitMQVersion string // the version of RabbitMQ that the broker behaves like
	Version         string // the broker's own
}

// NewRegistry returns a registry with everything that source tells, who the broker is, and what the Go runtime and the operating system
// know about the process.
func NewRegistry(source Source, id Identity) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newCollector(source),
		info("rabbitmq_build_info", "Versions", prometheus.Labels{
			"rabbitmq_version":          id.RabbitMQVersion,
			"prometheus_plugin_version": id.RabbitMQVersion,
			"prometheus_client_version": "client_golang",
			"erlang_version":            runtime.Version(),
		}),
		info("rabbitmq_identity_info", "Node and cluster", prometheus.Labels{
			"rabbitmq_node":                 id.Node,
			"rabbitmq_cluster":              id.Cluster,
			"rabbitmq_cluster_permanent_id": id.Cluster,
			"rabbitmq_endpoint":             "aggregated",
		}),
		info("leveret_build_info", "The broker's own version", prometheus.Labels{"version": id.Version, "go_version": runtime.Version()}),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	registry.MustRegister(newProcessGauges(time.Now())...)
	return registry
}

// info is a metric that says what it has to say in its labels.
func info(name, help string, labels prometheus.Labels) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return 1 })
}

// NewHandler serves /metrics. A scrape is bounded in time and few run at once, so that impatient scrapers can't pile up.
func NewHandler(source Source, id Identity) http.Handler {
	scrapes := promhttp.HandlerFor(NewRegistry(source, id), promhttp.HandlerOpts{MaxRequestsInFlight: 8, Timeout: 10 * time.Second})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", scrapes)
	mux.HandleFunc("/metrics/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "Unknown Registry")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":"Object Not Found","reason":"Not Found"}`)
	})
	return mux
}
