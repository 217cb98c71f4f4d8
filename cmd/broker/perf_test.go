package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leveret/perf"
)

// perfAt runs `broker perf` against a running broker.
func (r *running) perfAt(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	uri := "amqp://guest:guest@" + r.AMQP[0] + "/%2F"
	return broker(t, "", append(append([]string{"perf"}, args...), "--uri", uri, "--timeout", patience.String())...)
}

// The result is a table or an object, with a line each second beside it unless nobody wants it.
func TestPerfOutput(t *testing.T) {
	r := startBroker(t, "--data-dir", "none")
	code, stdout, stderr := r.perfAt(t, "--count", "100", "--duration", "0", "--rate", "80", "--auto-ack")
	if code != 0 || !regexp.MustCompile(`(?m)^published +100 `).MatchString(stdout) || !strings.Contains(stderr, "published ") {
		t.Errorf("exit code %d\nstdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = r.perfAt(t, "--count", "100", "--duration", "0", "--json", "--quiet", "--queues", "3")
	var report perf.Report
	if err := json.Unmarshal([]byte(stdout), &report); code != 0 || err != nil || stderr != "" {
		t.Fatalf("exit code %d, %v\nstdout:\n%s\nstderr:\n%s", code, err, stdout, stderr)
	}
	if report.Published != 100 || report.Received > 100 || report.Missing != 100-report.Received {
		t.Errorf("%+v", report)
	}
	code, _, stderr = r.perfAt(t, "--count", "1", "--queue", "other", "--passive")
	if code == 0 || !strings.Contains(stderr, "no queue 'other'") {
		t.Errorf("a queue that is not there: exit code %d, %s", code, stderr)
	}
}

// What was confirmed is noted and found again, once; a second look at the emptied queue finds all of it lost.
func TestPerfVerify(t *testing.T) {
	r := startBroker(t)
	log := filepath.Join(t.TempDir(), "confirmed.log")
	for _, want := range []int{50, 80} { // the file is added to
		code, _, stderr := r.perfAt(t, "--count", map[int]string{50: "50", 80: "30"}[want], "--duration", "0", "--consumers", "0", "--confirm", "8", "--size", "32",
			"--persistent", "--queue", "jobs", "--confirmed-log", log, "--quiet")
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	for _, round := range []struct{ code, lost int }{{0, 0}, {1, 80}} {
		code, stdout, stderr := r.perfAt(t, "verify", log, "--queue", "jobs")
		var v perf.Verdict
		if err := json.Unmarshal([]byte(stdout), &v); err != nil {
			t.Fatalf("%v: %s%s", err, stdout, stderr)
		}
		if code != round.code || int(v.Confirmed) != 80 || int(v.Lost) != round.lost || v.Twice != 0 {
			t.Errorf("exit code %d, %+v, %s", code, v, stderr)
		}
		if code != 0 && stderr != "broker: of 80 confirmed messages 80 are lost; 0 messages came twice\n" {
			t.Errorf("said %q", stderr)
		}
	}
}

// What can't be read, written or reached is told, and nothing is done.
func TestPerfRefusals(t *testing.T) {
	r := startBroker(t, "--data-dir", "none")
	garbage := file(t, "garbage.log", "no line of a log\n")
	folder := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"verify", filepath.Join(folder, "none"), "--queue", "jobs"}, "no such file"},
		{[]string{"verify", garbage, "--queue", "jobs"}, "line 1"},
		{[]string{"verify", file(t, "empty.log", "")}, "queue"},
		{[]string{"verify"}, "accepts 1 arg"},
		{[]string{"--confirmed-log", folder, "--confirm", "1", "--size", "32"}, "is a directory"},
		{[]string{"--confirmed-log", filepath.Join(folder, "log"), "--confirm", "1", "--size", "16"}, "32"},
		{[]string{"--confirmed-log", filepath.Join(folder, "log"), "--size", "32"}, "confirm"},
	} {
		code, stdout, stderr := r.perfAt(t, tt.args...)
		if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "broker: ") || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit code %d, %q, want %q\n%s", tt.args, code, stderr, tt.want, stdout)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 1 {
		t.Errorf("%v, %v", left, err)
	}
}
