package server_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"leveret/auth"
	"leveret/server"
	"leveret/server/servertest"
	"leveret/store"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// rig is a server under test with what it works on.
type rig struct {
	*server.Server
	t     testing.TB
	users *auth.Authenticator
}

// testOptions are the default options on a free port of the loopback interface.
func testOptions() server.Options {
	o := server.DefaultOptions()
	o.Addresses = []string{"127.0.0.1:0"}
	o.Heartbeat = 0
	return o
}

// newRig makes a server with the users guest, limited and impersonator; it does not listen.
func newRig(t testing.TB, o server.Options, s store.Store) *rig {
	t.Helper()
	return newRigLogging(t, o, s, slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// newRigLogging is newRig with a log of the test's own.
func newRigLogging(t testing.TB, o server.Options, s store.Store, log slog.Handler) *rig {
	t.Helper()
	users, err := auth.New(auth.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]auth.Permissions{
		"limited":      {Configure: "^own", Write: "^(own|amq.default|amq.topic)", Read: "^own"},
		"impersonator": auth.AllPermissions(),
	} {
		a := auth.Account{Name: name, Permissions: map[string]auth.Permissions{"/": p}}
		if a.PasswordHash, err = auth.HashPassword(auth.SHA256, name); err != nil {
			t.Fatal(err)
		}
		if name == "impersonator" {
			a.Tags = []string{"impersonator"}
		} else {
			a.TopicPermissions = map[string]map[string]auth.TopicPermissions{"/": {"amq.topic": {Write: "^own", Read: "^own"}}}
		}
		if err := users.PutUser(a); err != nil {
			t.Fatal(err)
		}
	}
	srv, err := server.New(o, server.Dependencies{Store: s, Users: users, Log: slog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{srv, t, users}
}

// start runs a server for one test, which must not run in parallel with others: at its end the server closes in good time and no goroutine
// is left.
func start(t testing.TB, o server.Options) *rig { return startOn(t, o, store.NewMemory()) }

// startOn is start on a store of the test's own.
func startOn(t testing.TB, o server.Options, s store.Store) *rig {
	t.Helper()
	before := goleak.IgnoreCurrent()
	r := newRig(t, o, s)
	if err := r.Listen(); err != nil {
		t.Fatal(err)
	}
	r.Serve()
	t.Cleanup(func() {
		r.stop()
		servertest.NoneLeft(t, before)
	})
	return r
}

// stop closes the server, whose clients have gone or answer.
func (r *rig) stop() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		r.t.Errorf("server did not close: %v", err)
	}
}

// dial connects, without a word.
func (r *rig) dial() *client {
	r.t.Helper()
	nc, err := dialTCP(r)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	return newClient(r.t, nc)
}

func dialTCP(r *rig) (net.Conn, error) {
	plain, _ := r.Addresses()
	return net.Dial("tcp", plain[0])
}

// open connects as guest and opens channel 1.
func (r *rig) open() *client {
	r.t.Helper()
	c := r.dial()
	if err := c.opening(opening{}); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// loopback makes a pipe look like a connection from this machine.
type loopback struct{ net.Conn }

func (loopback) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50123} }
func (loopback) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5672} }

// pipe connects in memory, for tests with a clock of their own.
func (r *rig) pipe() *client {
	ours, theirs := net.Pipe()
	r.ServeConn(loopback{theirs})
	c := newClient(r.t, ours)
	c.patience = time.Hour
	return c
}

// eventually waits until a condition holds that nothing announces.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not so after %s", what, patience)
		}
	}
}
