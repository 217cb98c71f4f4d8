package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestHealthOfARunningBroker(t *testing.T) {
	r := startBroker(t)
	ready := filepath.Join(t.TempDir(), "ready.json")
	if err := writeReadyFile(ready, r.addresses); err != nil {
		t.Fatal(err)
	}
	byFlags := []string{"health", "--amqp-addr", r.AMQP[0], "--http-addr", r.HTTP[0], "--metrics-addr", r.Metrics[0]}
	byFile := []string{"health", "--ready-file", ready}
	for _, args := range [][]string{byFlags, byFile} {
		if code, stdout, stderr := broker(t, "", args...); code != 0 || stdout != "ok\n" {
			t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	t.Setenv("LEVERET_AMQP_ADDR", r.AMQP[0])
	t.Setenv("LEVERET_HTTP_ADDR", "none")
	t.Setenv("LEVERET_METRICS_ADDR", r.Metrics[0])
	if code, stdout, stderr := broker(t, "", "health"); code != 0 {
		t.Errorf("by the environment: exit code %d\n%s%s", code, stdout, stderr)
	}
	r.terminate(t)
	if log := r.log.String(); strings.Contains(log, "level=WARN msg=\"client") || strings.Contains(log, "level=ERROR") {
		t.Errorf("health checks are in the log:\n%s", log)
	}
	code, _, stderr := broker(t, "", byFlags...)
	if code != 1 || !strings.Contains(stderr, "AMQP: dial") || !strings.Contains(stderr, "HTTP: ") {
		t.Errorf("of a broker that is gone: exit code %d\n%s", code, stderr)
	}
}

func TestHealthOfABrokerThatAnswersBadly(t *testing.T) {
	sick := httptest.NewServer(http.NotFoundHandler())
	defer sick.Close()
	var out bytes.Buffer
	err := checkHealth(t.Context(), &out, addresses{HTTP: []string{strings.TrimPrefix(sick.URL, "http://")}})
	if err == nil || !strings.Contains(err.Error(), "404 Not Found") || out.Len() > 0 {
		t.Errorf("got %v", err)
	}
}

// TestHealthDoesNotWait has a listener that takes connections and says nothing.
func TestHealthDoesNotWait(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	began := time.Now()
	code, _, stderr := broker(t, "", "health", "--amqp-addr", silent.Addr().String(), "--http-addr", "none",
		"--metrics-addr", silent.Addr().String(), "--timeout", "100ms")
	if code != 1 || time.Since(began) > patience/2 {
		t.Errorf("exit code %d after %s\n%s", code, time.Since(began), stderr)
	}
}

func TestHealthWithBadSources(t *testing.T) {
	nonsense := file(t, "ready.json", "nonsense")
	for _, args := range [][]string{
		{"health", "--ready-file", nonsense}, {"health", "--ready-file", nonsense + "x"}, {"health", "--config", nonsense},
	} {
		if code, stdout, stderr := broker(t, "", args...); code != 1 || stdout != "" || stderr == "" {
			t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		":5672": "127.0.0.1:5672", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1", "10.0.0.1:1": "10.0.0.1:1", "[::1]:1": "[::1]:1", "x": "x",
	} {
		if got := reachable(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
