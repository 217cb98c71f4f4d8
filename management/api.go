package management

import (
	"crypto/tls"
	"log/slog"
	"sync"
	"time"

	"leveret/auth"
	"leveret/definitions"
	"leveret/events"
	"leveret/server"
	"leveret/shovel"
	"leveret/store"
	"leveret/vhost"
)

// Options are the settings of the API.
type Options struct {
	// Node is the broker's name, rabbit@host for one.
	Node string
	// Cluster is the name of the cluster as long as nobody has given it another.
	Cluster string
	// ProductVersion is the version of RabbitMQ whose API this is; tools branch on it. Version is our own.
	ProductVersion, Version string
	// BodyLimit is the largest body of a request in bytes.
	BodyLimit int64
	// Origins are the sites whose pages may call the API, * for all; none: only the broker's own.
	Origins []string
	// OriginMaxAge is how long browsers may remember that.
	OriginMaxAge time.Duration
	// Listeners are the addresses that the broker listens on, asked for at each request that shows them.
	Listeners func() []Listener
	// DataDir is where the broker keeps its data, empty if nowhere.
	DataDir string
	// Certificates are those of the TLS listeners, asked for at each request that looks at them.
	Certificates func() []*tls.Certificate
	// Control does what is not the server's; nil: those operations are refused.
	Control Control
	// Settings are the effective settings, as lines of a configuration file; nil for none.
	Settings func() string
}

// Listener is an address that the broker listens on.
type Listener struct {
	Protocol string // amqp, amqp/ssl, http, http/prometheus
	Address  string // host:port
	TLS      bool
}

// DefaultOptions are the settings without any configuration.
func DefaultOptions() Options {
	return Options{
		Node:           "leveret@localhost",
		Cluster:        "leveret@localhost",
		ProductVersion: "4.3.6",
		BodyLimit:      10_000_000,
		OriginMaxAge:   30 * time.Minute,
		Listeners:      func() []Listener { return nil },
		Certificates:   func() []*tls.Certificate { return nil },
		Settings:       func() string { return "" },
	}
}

// Dependencies are what the API works with. It closes none of them.
type Dependencies struct {
	Server  *server.Server
	Users   *auth.Authenticator
	Store   store.Store
	Log     *slog.Logger
	Shovels *shovel.Manager // nil: none run
	Events  *events.Bus     // told of what can't be undone; nil for nobody
}

// API is the HTTP API. Make one with New, give it to an HTTP server, end it with Close.
type API struct {
	options Options
	server  *server.Server
	users   *auth.Authenticator
	store   store.Store
	log     *slog.Logger
	events  *events.Bus
	shovels *shovel.Manager
	router  *router
	rates   *rates
	// The API begins with the broker, so this is where the node's uptime is counted from.
	started time.Time

	definitions *definitions.Broker

	front, reference, description []byte // pages

	stop chan struct{}
	done sync.WaitGroup
}

// New makes the API and starts to sample counters.
func New(o Options, d Dependencies) *API {
	a := &API{
		options: o, server: d.Server, users: d.Users, store: d.Store, log: d.Log, events: d.Events, shovels: d.Shovels,
		rates: newRates(), started: time.Now(), stop: make(chan struct{}),
		definitions: &definitions.Broker{Server: d.Server, Users: d.Users, Cluster: o.Cluster, Version: o.ProductVersion, Log: d.Log},
	}
	list := routes()
	a.makePages(list)
	a.router = newRouter(list, a.handler)
	a.done.Go(a.sample)
	return a
}

// Close ends the sampling. Requests may still be answered.
func (a *API) Close() {
	close(a.stop)
	a.done.Wait()
}

// sample looks at all counters until the API is closed.
func (a *API) sample() {
	// The first look is at once: what it finds is the base that the first rates are made from, an interval later.
	a.rates.look(time.Now(), a.counters)
	tick := time.NewTicker(sampleInterval)
	defer tick.Stop()
	for {
		select {
		case <-a.stop:
			return
		case now := <-tick.C:
			a.rates.look(now, a.counters)
		}
	}
}

// vhosts are all virtual hosts, in order of their names.
func (a *API) vhosts() []*vhost.VHost {
	return a.server.VHosts()
}
