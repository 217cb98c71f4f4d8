package ctl_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/ctl"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve answers every request with what answer makes of it.
func serve(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, o ctl.Options) *ctl.Client {
	t.Helper()
	c, err := ctl.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCallSendsWhatItShould(t *testing.T) {
	var got, body string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		read, _ := io.ReadAll(r.Body)
		body = string(read)
		got = strings.Join([]string{r.Method, r.RequestURI, user, password, r.Header.Get("Content-Type"), r.Header.Get("X-Reason")}, " ")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"n": 12345678901234567890}`)
	})
	tests := []struct {
		name, method string
		url          string
		path         string
		body         any
		want         string
	}{
		{"names hold anything", "GET", "", ctl.Path("queues", "/", "a/b c%d..", ".."), nil, "GET /api/queues/%2F/a%2Fb%20c%25d../%2E%2E app secret  over"},
		{"a body", "PUT", "", "/x", map[string]any{"a": 1}, "PUT /api/x app secret application/json over"},
		{"a body as it is", "POST", "", "/x", []byte("raw"), "POST /api/x app secret application/json over"},
		{"behind a path", "GET", "/rabbit/", "/x", nil, "GET /rabbit/api/x app secret  over"},
		{"behind a path with api", "GET", "/rabbit/api", "/x", nil, "GET /rabbit/api/x app secret  over"},
	}
	for _, tt := range tests {
		c := client(t, ctl.Options{URL: s.URL + tt.url, User: "app", Password: "secret", Reason: "over"})
		answer, created, err := c.Call(context.Background(), tt.method, tt.path, tt.body)
		if err != nil || got != tt.want || !created || string(answer) != `{"n": 12345678901234567890}` {
			t.Errorf("%s: sent %q, want %q; %v %q %v", tt.name, got, tt.want, created, answer, err)
		}
	}
	if body != "" {
		t.Errorf("a GET sent %q", body)
	}
	at := strings.Replace(s.URL, "http://", "http://other:pass@", 1)
	var o ctl.Object
	if err := client(t, ctl.Options{URL: at, User: "app"}).Get(context.Background(), "/", &o); err != nil || !strings.Contains(got, "other pass") || o.Text("n") != "12345678901234567890" {
		t.Errorf("the URL's user: %q, %v, %v", got, o, err)
	}
}

// TestFailures: what went wrong decides text and exit code.
func TestFailures(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		text       string
		code       int
		missing    bool
	}{
		{"refused", `{"error":"bad_request","reason":"Validation failed"}`, 400, "Validation failed", 65, false},
		{"a list of reasons", `{"error":"bad_request","reason":["not_json","x"]}`, 400, "not_json: x", 65, false},
		{"a list with a number", `{"error":"bad_request","reason":["not_integer",{"a":1}]}`, 400, `not_integer: {"a":1}`, 65, false},
		{"several lines", `{"error":"bad_request","reason":"Validation failed\n\nno such key\n"}`, 400, "Validation failed: no such key", 65, false},
		{"missing", `{"error":"Object Not Found","reason":"Not Found"}`, 404, "not found: /x", 65, true},
		{"missing with words", `{"error":"not_found","reason":"vhost_not_found"}`, 404, "vhost_not_found", 65, true},
		{"password", `{"error":"not_authorized","reason":"Not_Authorized"}`, 401, "user or password is wrong, or not given: see --user and --password", 65, false},
		{"no password", "", 401, "user or password is wrong, or not given: see --user and --password", 65, false},
		{"rights", `{"error":"not_authorised","reason":"Not administrator user"}`, 401, "Not administrator user", 65, false},
		{"method", "", 405, "GET /x: the broker answered 405 Method Not Allowed", 65, false},
		{"unhealthy", `{"status":"failed","reason":"There are alarms"}`, 503, "There are alarms", 65, false},
		{"fault", "oops", 500, "GET /x: the broker answered 500 Internal Server Error", 70, false},
	}
	for _, tt := range tests {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		err := client(t, ctl.Options{URL: s.URL}).Get(context.Background(), "/x", nil)
		if err == nil || err.Error() != tt.text || ctl.ExitCode(err) != tt.code || ctl.IsMissing(err) != tt.missing {
			t.Errorf("%s: %v, exit code %d", tt.name, err, ctl.ExitCode(err))
		}
	}
}

func TestNoAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err = client(t, ctl.Options{URL: "http://" + silent.Addr().String()}).Get(ctx, "/x", nil)
	if ctl.ExitCode(err) != ctl.ExitTimeout || err.Error() != "the broker did not answer in time" {
		t.Errorf("silence: %v, exit code %d", err, ctl.ExitCode(err))
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	err = client(t, ctl.Options{URL: gone.URL}).Get(context.Background(), "/x", nil)
	if ctl.ExitCode(err) != ctl.ExitUnavailable || !strings.Contains(err.Error(), "connection refused") || errors.Unwrap(err) == nil {
		t.Errorf("nobody: %v, exit code %d", err, ctl.ExitCode(err))
	}
	html := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") })
	var into ctl.Object
	if err := client(t, ctl.Options{URL: html.URL}).Get(context.Background(), "/x", &into); ctl.ExitCode(err) != ctl.ExitSoftware {
		t.Errorf("no JSON: %v, exit code %d", err, ctl.ExitCode(err))
	}
	if ctl.ExitCode(nil) != 0 {
		t.Error("no error has an exit code")
	}
}

func TestOptions(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []ctl.Options{{URL: ""}, {URL: "localhost:15672"}, {URL: "ftp://x"}, {URL: "http://x", CAFile: empty + "x"}, {URL: "http://x", CAFile: empty}} {
		if _, err := ctl.New(o); ctl.ExitCode(err) != ctl.ExitUsage {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		options ctl.Options
		code    int
	}{
		{ctl.Options{URL: s.URL}, ctl.ExitUnavailable}, {ctl.Options{URL: s.URL, Insecure: true}, 0}, {ctl.Options{URL: s.URL, CAFile: file}, 0},
	}
	for _, tt := range tests {
		if err := client(t, tt.options).Get(context.Background(), "/x", nil); ctl.ExitCode(err) != tt.code {
			t.Errorf("%+v: %v", tt.options, err)
		}
	}
}

func TestSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `"`+r.URL.Path+`"`) })}
	go s.Serve(l)
	defer s.Close()
	var path string
	if err := client(t, ctl.Options{Socket: socket}).Get(context.Background(), "/overview", &path); err != nil || path != "/api/overview" {
		t.Errorf("%q, %v", path, err)
	}
}
