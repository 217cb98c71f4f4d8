package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// goodBroker is ready at once and ends when it is told to.
const goodBroker = `trap 'exit 0' TERM
echo '{"amqp":["127.0.0.1:9"],"http":["127.0.0.1:8"]}' >"$ready.new"; mv "$ready.new" "$ready"
while :; do sleep 0.05; done`

// crashingBroker ends without being told to, once crashingSuite has begun.
const (
	crashingBroker = `echo '{"amqp":["127.0.0.1:9"]}' >"$ready.new"; mv "$ready.new" "$ready"
until [ -e DIR/begun ]; do sleep 0.01; done; echo 'fatal error: all is lost'; touch DIR/crashed; exit 2`
	crashingSuite = "touch DIR/begun; until [ -e DIR/crashed ]; do sleep 0.01; done; echo 'ok   A1 good: t'; echo 'conformance: some'"
)

// TestRun plays whole runs with shell scripts in the place of the broker and of the suite.
func TestRun(t *testing.T) {
	const summary = "echo 'conformance: some'\n"
	tests := []struct {
		name, broker, suite, allowed string
		wantErr                      string // beginning, empty for none
		shown                        string
	}{
		{"as listed", goodBroker, "echo 'ok   A1 good: t'; echo 'FAIL A2 bad: t'\n" + summary + "exit 1", "A2_bad for now\n",
			"", "1 passed, 1 failed as listed"},
		{"addresses", goodBroker, `echo "ok   A1 good: t"; echo "with $*"` + "\n" + summary, "",
			"", "with --amqp 127.0.0.1:9 --jobs 3 --http 127.0.0.1:8 --only A1"},
		{"not listed", goodBroker, "echo 'ok   A1 good: t'; echo 'FAIL A2 bad: t'\n" + summary + "exit 1", "",
			"1 checks are not as the list says", "A2_bad fails and is not on the list"},
		{"suite breaks off", goodBroker, "echo 'ok   A1 good: t'; exit 3", "",
			"the checks ended without a summary: exit status 3", ""},
		{"broker crashes", crashingBroker, crashingSuite, "",
			"the broker ended ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			inDir := func(text string) string { return strings.ReplaceAll(text, "DIR", dir) }
			o := options{broker: script(t, inDir(tt.broker)), python: "/bin/sh", suite: dir, only: "A1", jobs: 3, limit: time.Minute}
			o.allowed = filepath.Join(dir, "allowed.txt")
			writeFile(t, filepath.Join(dir, "run.py"), inDir(tt.suite))
			writeFile(t, o.allowed, tt.allowed)

			var out strings.Builder
			err := run(t.Context(), o, &out)
			wantText(t, err, tt.wantErr)
			if !strings.Contains(out.String(), tt.shown) {
				t.Errorf("no %q in %q", tt.shown, out.String())
			}
		})
	}
}

// TestRunReadsTheListFirst: a list that is wrong is told before minutes are spent.
func TestRunReadsTheListFirst(t *testing.T) {
	list := filepath.Join(t.TempDir(), "allowed.txt")
	writeFile(t, list, "A2_bad\n")
	err := run(t.Context(), options{broker: "/nonexistent", allowed: list}, io.Discard)
	wantText(t, err, list+": line 1: A2_bad has no reason")
}

// TestRunIsBounded: neither a suite that hangs nor what it started keeps a run.
func TestRunIsBounded(t *testing.T) {
	dir := t.TempDir()
	o := options{broker: script(t, goodBroker), python: "/bin/sh", suite: dir, allowed: filepath.Join(dir, "allowed.txt"), limit: 5 * time.Second}
	writeFile(t, o.allowed, "")
	writeFile(t, filepath.Join(dir, "run.py"), "sleep 300")
	started := time.Now()
	wantText(t, run(t.Context(), o, io.Discard), "the checks were stopped: context deadline exceeded")
	if took := time.Since(started); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
