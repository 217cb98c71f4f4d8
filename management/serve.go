package management

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"leveret/amqp"
)

// ServeHTTP answers requests to paths below /api, and /. It may be called by many goroutines.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.allowOrigin(w, r)
	if a.pages(w, r) || !emptyPart(r) && a.router.serve(w, r) {
		return
	}
	a.writeFailure(w, r, notFound())
}

// handler serves one route. The order of the checks is known to clients: the method, who it is, what it accepts, and then what is there.
func (a *API) handler(rt *route) http.Handler {
	allow := rt.allow()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		// Browsers ask this before they send a login along, so it needs none.
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusOK)
			return
		}
		op := rt.operation(r.Method)
		if op == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer, err := a.answer(&call{api: a, writer: w, request: r, query: r.URL.Query()}, op)
		if err != nil {
			a.writeFailure(w, r, err)
			return
		}
		answer.write(w)
	})
}

// answer runs an operation for who may call it.
func (a *API) answer(c *call, op *operation) (reply, error) {
	if err := c.authorize(op); err != nil {
		return reply{}, err
	}
	if !op.plain && !accepts(c.request.Header.Get("Accept")) {
		return reply{}, &failure{status: http.StatusNotAcceptable}
	}
	if err := c.enterVHost(op); err != nil {
		return reply{}, err
	}
	return op.run(c)
}

// accepts tells whether a client takes JSON.
func accepts(header string) bool {
	if header == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(header, ","), func(accepted string) bool {
		kind, _, _ := strings.Cut(accepted, ";")
		switch strings.TrimSpace(kind) {
		case "*/*", "application/*", "application/json":
			return true
		}
		return false
	})
}

// write sends a reply.
func (r *reply) write(w http.ResponseWriter) {
	h := w.Header()
	for _, header := range r.headers {
		h.Set(header[0], header[1])
	}
	if r.location != "" {
		h.Set("Location", r.location)
	}
	switch {
	case r.text != nil:
		h.Set("Content-Type", r.kind)
		w.WriteHeader(r.status)
		_, _ = w.Write(r.text) // the client is gone if that fails, and nothing is left to do
	case r.body != nil:
		writeJSON(w, r.status, r.body)
	default:
		w.WriteHeader(r.status)
	}
}

// buffers are those that answers are written into, as long lists take megabytes. Larger ones than keptBuffer are not kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const keptBuffer = 32 << 20

// writeJSON encodes an answer whole before it sends it: with its length known, clients can tell one that was cut off. Caches are told to ask
// again, as RabbitMQ does: what is shown is of this moment.
func writeJSON(w http.ResponseWriter, status int, body any) {
	buffer := buffers.Get().(*[]byte)
	encoded := appendJSON((*buffer)[:0], body)
	if *buffer = encoded; cap(encoded) <= keptBuffer {
		defer buffers.Put(buffer)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
}

// writeFailure is the only place that turns an error into an answer.
func (a *API) writeFailure(w http.ResponseWriter, r *http.Request, err error) {
	f, internal := asFailure(err)
	// The client got no details; whoever reads the log gets them.
	if internal {
		a.log.Error("internal error", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if f.challenge {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if f.body == nil {
		w.WriteHeader(f.status)
		return
	}
	writeJSON(w, f.status, f.body)
}

// allowOrigin lets pages of other sites call the API, as far as the settings name them.
func (a *API) allowOrigin(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" || len(a.options.Origins) == 0 {
		return
	}
	h := w.Header()
	// Also for sites that are refused: a cache must not give them what it got for others.
	h.Add("Vary", "Origin")
	if !slices.Contains(a.options.Origins, origin) && !slices.Contains(a.options.Origins, "*") {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Location")
	if r.Method != http.MethodOptions {
		return
	}
	h.Set("Access-Control-Allow-Methods", "HEAD, GET, PUT, POST, DELETE, OPTIONS")
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		h.Set("Access-Control-Allow-Headers", wanted)
	}
	h.Set("Access-Control-Max-Age", strconv.Itoa(int(a.options.OriginMaxAge.Seconds())))
}

// shortEnough checks the names in a path, which all have to fit into a short string.
func shortEnough(kind amqp.ResourceKind, name string) error {
	if len(name) > maxShortString {
		return tooLong(string(kind), name)
	}
	return nil
}
