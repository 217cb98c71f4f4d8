package metrics

import (
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// Identity is what dashboards join all other metrics with. It does not change while the broker runs.
type Identity struct {
	Node            string // the node's name
	Cluster         string // the cluster's name
	RabbitMQVersion string // the version of RabbitMQ that the broker behaves like
	Version         string // the broker's own
	PerObject       bool   // /metrics is what /metrics/per-object is, with the endpoint's name of the sums
}

// scrapesAtOnce is how many answers are made at a time, so that impatient scrapers can't pile up; who comes then is told 503.
const scrapesAtOnce = 8

// writeTime is how long a scraper may take to read its answer.
const writeTime = 30 * time.Second

// endpoint is one path under /metrics: what stands in its answers, and its name in them.
type endpoint struct {
	name  string
	write func(h *handler, e *exposition, r *http.Request)
}

// aggregated is the name of the endpoint that sums up.
const aggregated = "aggregated"

// endpoints are all of them. RabbitMQ's name for the first in its paths is "default" too.
var endpoints = map[string]endpoint{
	"/metrics":                  {aggregated, (*handler).aggregated},
	"/metrics/default":          {aggregated, (*handler).aggregated},
	"/metrics/per-object":       {"per-object", (*handler).perObject},
	"/metrics/detailed":         {"detailed", (*handler).detailed},
	"/metrics/memory-breakdown": {"memory-breakdown", (*handler).memory},
}

// handler answers scrapes. It is safe for any number of them.
type handler struct {
	source  Source
	id      Identity
	process []group[Node]
	library *prometheus.Registry // what the Go runtime tells
	running chan struct{}        // has room for the scrapes that run
}

// NewHandler serves /metrics and what lies below it.
func NewHandler(source Source, id Identity) http.Handler {
	h := &handler{source: source, id: id, process: process(time.Now()), library: prometheus.NewRegistry(), running: make(chan struct{}, scrapesAtOnce)}
	h.library.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	for path, e := range endpoints {
		if id.PerObject && e.name == aggregated {
			e.write = (*handler).perObject
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { h.answer(w, r, e) })
	}
	mux.HandleFunc("/metrics/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
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

// answer writes one answer in the format and the encoding that the scraper asks for.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, to endpoint) {
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	default:
		http.Error(w, "too many scrapes at once", http.StatusServiceUnavailable)
		return
	}
	// A scraper that does not read must not keep its place. Writers that know no deadline are those of tests.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultAcceptedFormats()...)
	w.Header().Set("Content-Type", string(format))
	out, done := compressed(w, r)
	e := newExposition(out, format, to.name == "detailed")
	h.identify(e, to.name)
	to.write(h, e, r)
	if closer, ok := e.encoder.(expfmt.Closer); ok && e.err == nil {
		e.err = closer.Close()
	}
	if e.err == nil {
		e.err = done()
	}
	if e.err != nil {
		panic(http.ErrAbortHandler) // what was sent is no whole answer, and must not look like one
	}
}

// identify writes who the broker is.
func (h *handler) identify(e *exposition, endpoint string) {
	one := []float64{1}
	single(e, "rabbitmq_build_info", "Versions", untyped, one, []labels{labelled(
		"rabbitmq_version", h.id.RabbitMQVersion, "prometheus_plugin_version", h.id.RabbitMQVersion,
		"prometheus_client_version", "client_golang", "erlang_version", runtime.Version())})
	single(e, "rabbitmq_identity_info", "Node and cluster", untyped, one, []labels{labelled(
		"rabbitmq_node", h.id.Node, "rabbitmq_cluster", h.id.Cluster, "rabbitmq_cluster_permanent_id", h.id.Cluster, "rabbitmq_endpoint", endpoint)})
	single(e, "leveret_build_info", "The broker's own version", gauge, one, []labels{labelled("version", h.id.Version, "go_version", runtime.Version())})
}
