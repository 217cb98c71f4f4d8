package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"leveret/management"
	"leveret/metrics"
	"leveret/server"
)

// webServers are the HTTP server, with the API, and the one of Prometheus' own, each plain and over TLS. All serve /metrics.
type webServers struct {
	http, https, metrics, metricsTLS webServer
	control                          webServer       // a socket for the operator
	api                              *management.API // behind all but the ones for metrics
}

// webServerCount is how many they are.
const webServerCount = 5

// listen opens the addresses that are configured.
func (w *webServers) listen(n *node) error {
	handler := metrics.NewHandler(figures{n}, metrics.Identity{
		Node:            n.config.Node(),
		Cluster:         n.config.Node(),
		RabbitMQVersion: server.DefaultOptions().ProductVersion,
		Version:         version,
		PerObject:       n.config.MetricsPerObject,
	})
	w.api = management.New(n.managementOptions(), management.Dependencies{
		Server: n.server, Users: n.users, Store: n.store, Log: n.log, Events: n.events, Shovels: n.shovels,
	})
	// AMQP over WebSocket shares the port with the API: the handler takes what asks for an upgrade and hands on the rest.
	web := n.server.WebSocket(n.config.WebSocketOrigins, withMetrics(handler, w.api))
	return errors.Join(
		w.http.listen(n, n.config.HTTPAddr, nil, web),
		w.https.listen(n, n.config.HTTPSAddr, n.tls.http, web),
		// Without the API behind it, this one may be open to a network that must not log in.
		w.metrics.listen(n, n.config.MetricsAddr, nil, handler),
		w.metricsTLS.listen(n, n.config.MetricsTLSAddr, n.tls.metrics, handler),
		w.control.listenControl(n, w.api),
	)
}

// withMetrics serves the API, and metrics below /metrics.
func withMetrics(metrics http.Handler, api *management.API) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" || strings.HasPrefix(r.URL.Path, "/metrics/") {
			metrics.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// close closes all. What the first one needs of the time is not there for the others.
func (w *webServers) close(ctx context.Context) error {
	err := errors.Join(w.http.close(ctx), w.https.close(ctx), w.metrics.close(ctx), w.metricsTLS.close(ctx), w.control.close(ctx))
	if w.api != nil {
		w.api.Close()
	}
	return err
}

// webServer is one HTTP listener. The zero value listens nowhere.
type webServer struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{}
}

// listen serves handler at address, over TLS if there are certificates, or nothing if the address is empty. When the server ends by itself,
// the node's failed is told why.
func (w *webServer) listen(n *node, address string, secure *certificates, handler http.Handler) error {
	if address == "" {
		return nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	if secure != nil {
		l = tls.NewListener(l, secure.config())
	}
	// Answers have no time limit here: handlers bound themselves, and a slow reader of a long answer is no harm.
	w.serve(n, l, &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:  slog.NewLogLogger(n.log.Handler(), slog.LevelDebug), // of what clients do wrong
		ConnState: n.crowd.changed,
	})
	return nil
}

// serve answers at a listener until close.
func (w *webServer) serve(n *node, l net.Listener, s *http.Server) {
	w.listener, w.server, w.done = l, s, make(chan struct{})
	go func() {
		defer close(w.done)
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			n.failed <- fmt.Errorf("serve HTTP: %w", err)
		}
	}()
}

// addresses is where the server listens; an empty list, not nil, if nowhere.
func (w *webServer) addresses() []string {
	if w.listener == nil {
		return []string{}
	}
	return []string{w.listener.Addr().String()}
}

// close lets requests finish until ctx ends.
func (w *webServer) close(ctx context.Context) error {
	if w.server == nil {
		return nil
	}
	// Shutdown waits for requests that run; what does not end in time is broken off.
	err := w.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, w.server.Close())
	}
	<-w.done
	return err
}
