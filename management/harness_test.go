package management_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"leveret/auth"
	"leveret/events"
	"leveret/management"
	"leveret/server"
	"leveret/store"
)

// rig is a broker in memory with its HTTP API.
type rig struct {
	t       testing.TB
	server  *server.Server
	users   *auth.Authenticator
	api     *management.API
	http    *httptest.Server
	log     *lockedWriter
	parts   management.Dependencies
	options management.Options
	amqp    string // address of the AMQP listener
}

// start makes a rig that ends with the test. The node is called rabbit@test.
func start(t testing.TB, change ...func(*management.Options)) *rig {
	t.Helper()
	return startAs(t, func(*auth.Options) {}, change...)
}

// startAs is start with other rules for who may log in.
func startAs(t testing.TB, login func(*auth.Options), change ...func(*management.Options)) *rig {
	t.Helper()
	r := &rig{t: t, log: &lockedWriter{to: new(strings.Builder)}}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	var err error
	logins := auth.DefaultOptions()
	login(&logins)
	if r.users, err = auth.New(logins); err != nil {
		t.Fatal(err)
	}
	memory := store.NewMemory()
	options := server.DefaultOptions()
	options.Addresses = []string{"127.0.0.1:0"}
	if r.server, err = server.New(options, server.Dependencies{Store: memory, Users: r.users, Log: log}); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Listen(); err != nil {
		t.Fatal(err)
	}
	r.server.Serve()
	plain, _ := r.server.Addresses()
	r.amqp = plain[0]
	o := management.DefaultOptions()
	o.Node, o.Cluster = "rabbit@test", "rabbit@test"
	o.Listeners = func() []management.Listener {
		return []management.Listener{{Protocol: "amqp", Address: "127.0.0.1:5672"}, {Protocol: "http", Address: "127.0.0.1:15672"}}
	}
	o.Settings = func() string { return "heartbeat = 60\n" }
	o.Control = settings{}
	for _, c := range change {
		c(&o)
	}
	r.parts = management.Dependencies{Server: r.server, Users: r.users, Store: memory, Log: log}
	r.options = o
	r.api = management.New(o, r.parts)
	r.http = httptest.NewServer(r.api)
	t.Cleanup(r.close)
	return r
}

func (r *rig) close() {
	r.http.Close()
	r.api.Close()
	ctx, cancel := contextOf(patience)
	defer cancel()
	if err := r.server.Close(ctx); err != nil {
		r.t.Errorf("close: %v", err)
	}
}

// withEvents serves by an API that tells the bus.
func (r *rig) withEvents(bus *events.Bus) {
	r.http.Close()
	r.api.Close()
	r.parts.Events = bus
	r.api = management.New(r.options, r.parts)
	r.http = httptest.NewServer(r.api)
}

// logged is what was logged so far.
func (r *rig) logged() string {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return r.log.to.String()
}
