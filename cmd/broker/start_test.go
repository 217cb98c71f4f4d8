package main

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/config"
	"leveret/ctl"
)

// A start that can't be ends with the reason, as a line for people, before anybody could connect, and leaves nothing behind that a later one would fall over.
func TestFailedStarts(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(blocked, ctl.SocketName, "something"), 0o700); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	quiet := []string{"--amqp-addr", "127.0.0.1:0", "--http-addr", "none", "--metrics-addr", "none"}
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"a port that is taken", []string{"--amqp-addr", taken.Addr().String(), "--data-dir", dir}, "address already in use"},
		{"the API's port is taken", []string{"--http-addr", taken.Addr().String(), "--data-dir", dir}, "address already in use"},
		{"the metrics' port is taken", []string{"--metrics-addr", taken.Addr().String(), "--data-dir", dir}, "address already in use"},
		{"no folder for the ready file", []string{"--ready-file", filepath.Join(dir, "none", "ready"), "--data-dir", dir}, "ready file: "},
		{"a folder where the ready file should be", []string{"--ready-file", filepath.Dir(blocked), "--data-dir", dir}, "ready file: "},
		{"something else where the socket should be", []string{"--data-dir", blocked, "--http-addr", "127.0.0.1:0"}, "control socket: "},
		{"a file as the data folder", []string{"--data-dir", file(t, "file", "x")}, "not a directory"},
		{"no certificate", []string{"--data-dir", dir, "--amqps-addr", "127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "none.pem"}, "none.pem"},
		{"no file of definitions", []string{"--data-dir", dir, "--definitions", filepath.Join(dir, "none.json")}, "definitions: "},
		{"a link to nothing among the definitions", []string{"--data-dir", dir, "--definitions", dangling(t)}, "definitions: "},
		{"definitions that are none", []string{"--data-dir", dir, "--definitions", file(t, "d.json", "[]")}, "d.json: "},
	} {
		code, stdout, stderr := broker(t, "", append(append([]string{"serve"}, quiet...), tt.args...)...)
		last := stderr[strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1:]
		if code != 1 || stdout != "" || !strings.HasPrefix(last, "broker: ") || !strings.Contains(last, tt.want) {
			t.Errorf("%s: exit code %d, want %q\n%s", tt.name, code, tt.want, stderr)
		}
		if strings.Contains(stderr, "msg=ready") {
			t.Errorf("%s: it says that it is ready", tt.name)
		}
	}
	startBroker(t, "--data-dir", dir)
	code, _, stderr := broker(t, "", append(append([]string{"serve"}, quiet...), "--data-dir", dir)...)
	if code != 1 || !strings.Contains(stderr, "data folder "+dir+": another broker runs on it") {
		t.Errorf("a second broker on one folder: exit code %d, %s", code, stderr)
	}
}

// dangling is a folder in which a link leads nowhere.
func dangling(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "a.json")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A broker that takes tokens starts without its provider, which may be started after it, if there are other ways in; with keys in a file that is not there, and
// no other way, nobody could ever log in.
func TestStartWithoutKeys(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *config.Config)
		want   string // of the error
	}{
		{"provider away", func(c *config.Config) { c.OAuth.JWKSURL = "https://127.0.0.1:1/keys" }, ""},
		{"provider away, no passwords", func(c *config.Config) {
			c.OAuth.JWKSURL, c.AuthBackends = "https://127.0.0.1:1/keys", []string{config.TokenBackend}
		}, ""},
		{"no file, no passwords", func(c *config.Config) {
			c.OAuth.JWKSFile, c.AuthBackends = "none.json", []string{config.TokenBackend}
		}, "nobody could log in"},
	} {
		var log strings.Builder
		c := config.Default()
		c.DataDir, c.OAuth.ResourceServer = "", "broker"
		c.AuthBackends = []string{config.TokenBackend, config.InternalBackend}
		tt.change(&c)
		n, err := newNode(c, slog.New(slog.NewTextHandler(&log, nil)), new(slog.LevelVar))
		if err == nil {
			err = n.stop()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if tt.want == "" && !strings.Contains(log.String(), "can't be read; they are tried again") {
			t.Errorf("%s: no warning in\n%s", tt.name, &log)
		}
	}
}
