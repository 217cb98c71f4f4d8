package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// broker runs one command line.
func broker(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = execute(newRootCommand(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// file writes a file for one test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommands(t *testing.T) {
	good := file(t, "good.conf", "heartbeat = 30\nnet_ticktime = 5\n")
	bad := file(t, "bad.conf", "heartbeet = 30\n")
	incomplete := file(t, "incomplete.conf", "listeners.ssl.default = 5671\n")
	tests := []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // regular expressions
	}{
		{"version", []string{"version"}, 0, `^leveret dev \(go.*\)\n$`, `^$`},
		{"no command", nil, 0, `Available Commands:`, `^$`},
		{"unknown command", []string{"nonsense"}, 1, `^$`, `^broker: unknown command "nonsense" for "broker"\n$`},
		{"unknown flag", []string{"version", "--nonsense"}, 1, `^$`, `^broker: unknown flag: --nonsense\n$`},
		{"config print", []string{"config", "print", "--config", good}, 0, `(?m)^heartbeat = 30 +# .*good\.conf:1$`, `^$`},
		{"config print with a flag", []string{"config", "print", "--amqp-addr", "1", "--amqp-addr=localhost:2"}, 0,
			`(?m)^listeners\.tcp\.1 = :1 +# --amqp-addr\nlisteners\.tcp\.2 = localhost:2 +# --amqp-addr$`, `^$`},
		{"config check", []string{"config", "check", "--config", good}, 0, `^warning: .*good\.conf:2: net_ticktime has no effect here\nok\n$`, `^$`},
		{"config check of a bad file", []string{"config", "check", "--config", bad}, 1, `^$`, `^broker: .*bad\.conf:1: unknown key heartbeet, nearest is heartbeat\n$`},
		{"config check of what lacks", []string{"config", "check", "--config", incomplete}, 1, `^$`, `listeners\.ssl needs ssl_options\.certfile`},
		{"config check without the file", []string{"config", "check", "--config", good + "x"}, 1, `^$`, `no such file`},
		{"config print of a bad file", []string{"config", "print", "--config", bad}, 1, `^$`, `unknown key`},
		{"serve with bad settings", []string{"serve", "--config", bad}, 1, `^$`, `unknown key`},
		{"serve with settings that lack", []string{"serve", "--amqps-addr", "0"}, 1, `^$`, `needs ssl_options\.certfile`},
		{"perf with bad options", []string{"perf", "--queues", "0"}, 1, `^$`, `^broker: queues is 0`},
		{"perf with a bad argument", []string{"perf", "--queue-argument", "x"}, 1, `^$`, `"x" is not of the form name=value`},
		{"hash of a blank password", []string{"hash-password", ""}, 1, `^$`, `^broker: a password can't be blank\n$`},
		{"hash by an unknown algorithm", []string{"hash-password", "--algorithm", "rot13", "x"}, 1, `^$`, `unknown algorithm`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := broker(t, "", tt.args...)
			if code != tt.code || !regexp.MustCompile(tt.stdout).MatchString(stdout) || !regexp.MustCompile(tt.stderr).MatchString(stderr) {
				t.Errorf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", code, tt.code, stdout, stderr)
			}
		})
	}
}

func TestConfigFileByVariable(t *testing.T) {
	t.Setenv("LEVERET_CONFIG", file(t, "a.conf", "heartbeat = 17\n"))
	t.Setenv("LEVERET_LOG_LEVEL", "debug")
	_, stdout, _ := broker(t, "", "config", "print")
	if !strings.Contains(stdout, "heartbeat = 17 ") || !strings.Contains(stdout, "log.console.level = debug ") {
		t.Errorf("got\n%s", stdout)
	}
}

func TestEveryFlagHasHelp(t *testing.T) {
	_, help, _ := broker(t, "", "serve", "--help")
	for _, name := range []string{"amqp-addr", "tls-key", "log-format"} {
		if !strings.Contains(help, "--"+name+" ") {
			t.Errorf("no flag --%s", name)
		}
	}
	if match := regexp.MustCompile(`(?m)^ +--\S+ string *$`).FindString(help); match != "" {
		t.Errorf("no help for %s", match)
	}
}

func TestHashPassword(t *testing.T) {
	for name, run := range map[string]func() (int, string, string){
		"argument": func() (int, string, string) { return broker(t, "", "hash-password", "secret") },
		"stdin":    func() (int, string, string) { return broker(t, "secret\r\nmore\n", "hash-password") },
		"no line":  func() (int, string, string) { return broker(t, "secret", "hash-password") },
	} {
		code, hash, stderr := run()
		if code != 0 || !logsIn(t, strings.TrimSpace(hash), "rabbit_password_hashing_sha256", "secret") {
			t.Errorf("%s: exit code %d, hash %q, %s", name, code, hash, stderr)
		}
	}
	_, hash, _ := broker(t, "", "hash-password", "--algorithm", "sha512", "secret")
	if !logsIn(t, strings.TrimSpace(hash), "rabbit_password_hashing_sha512", "secret") {
		t.Errorf("sha512: %q", hash)
	}
}
