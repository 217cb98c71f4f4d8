package server_test

import (
	"strings"
	"testing"

	"leveret/amqp"
)

// connectLocally is a client within the broker.
func (r *rig) connectLocally(trusted bool) *client {
	r.t.Helper()
	nc, err := r.Connect(trusted)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	return newClient(r.t, nc)
}

// TestConnectTrusted: the broker's own client needs no password.
func TestConnectTrusted(t *testing.T) {
	r := start(t, testOptions())
	c := r.connectLocally(true)
	if err := c.opening(opening{user: "whoever"}); err != nil {
		t.Fatal(err)
	}
	var user string
	for _, s := range r.OpenConnections() {
		user = s.User
	}
	if user != "rabbitmqctl" {
		t.Errorf("it is %q", user)
	}
}

// TestConnectAsAnybody: without trust a client in the broker logs in as others do, from this machine.
func TestConnectAsAnybody(t *testing.T) {
	r := start(t, testOptions())
	if err := r.connectLocally(false).opening(opening{}); err != nil {
		t.Errorf("guest is not let in: %v", err)
	}
	if err := r.connectLocally(false).opening(opening{user: "whoever"}); err == nil {
		t.Error("somebody is let in without a password")
	}
}

// TestConnectWhenClosed: a server that stops takes nobody.
func TestConnectWhenClosed(t *testing.T) {
	r := start(t, testOptions())
	r.stop()
	if _, err := r.Connect(true); err == nil || !strings.Contains(err.Error(), amqp.NodeStopping().Text) {
		t.Errorf("error %v", err)
	}
}

// TestLocalNames: each of the broker's own connections has a name of its own, by which it can be found and closed.
func TestLocalNames(t *testing.T) {
	r := start(t, testOptions())
	names := make(map[string]bool)
	for range 3 {
		if err := r.connectLocally(true).opening(opening{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range r.OpenConnections() {
		names[s.Name] = true
	}
	if len(names) != 3 {
		t.Errorf("3 connections have the names %v", names)
	}
}
