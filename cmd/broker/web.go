package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"leveret/management"
	"leveret/metrics"
	"leveret/server"
)

// webServers are the HTTP server, with the API, and the one of Prometheus' own. Both serve /metrics.
type webServers struct {
	http, metrics webServer
	api           *management.API // behind http
}

// listen opens the addresses that are configured.
func (w *webServers) listen(n *node) error {
	handler := metrics.NewHandler(figures{n}, metrics.Identity{
		Node:            n.config.Node(),
		Cluster:         n.config.Node(),
		RabbitMQVersion: server.DefaultOptions().ProductVersion,
		Version:         version,
	})
	if n.config.HTTPAddr != "" {
		w.api = management.New(n.managementOptions(), management.Dependencies{Server: n.server, Users: n.users, Store: n.store, Log: n.log})
	}
	if err := w.http.listen(n.config.HTTPAddr, withMetrics(handler, w.api), n.failed); err != nil {
		return err
	}
	return w.metrics.listen(n.config.MetricsAddr, handler, n.failed)
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

// close closes both. What the first one needs of the time is not there for the second.
func (w *webServers) close(ctx context.Context) error {
	err := errors.Join(w.http.close(ctx), w.metrics.close(ctx))
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

// listen serves handler at address, or nothing if that is empty. When the server ends by itself, failed is told why; it must have room.
func (w *webServer) listen(address string, handler http.Handler, failed chan<- error) (err error) {
	if address == "" {
		return nil
	}
	if w.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	// Answers have no time limit here: handlers bound themselves, and a slow reader of a long answer is no harm.
	w.server = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		if err := w.server.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve HTTP: %w", err)
		}
	}()
	return nil
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
	err := w.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, w.server.Close())
	}
	<-w.done
	return err
}
