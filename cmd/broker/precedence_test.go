package main

import (
	"regexp"
	"strings"
	"testing"
)

// shown is what `broker config print` says of a key: its value and where that is from. Of a list, whose keys are numbered, it is the first.
func shown(t *testing.T, key string, args ...string) (value, origin string) {
	t.Helper()
	code, stdout, stderr := broker(t, "", append([]string{"config", "print"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + `(?:\.1)? = (.*?) +# (.*)$`).FindStringSubmatch(stdout)
	if line == nil {
		t.Fatalf("no %s in\n%s", key, stdout)
	}
	return line[1], line[2]
}

// Each place overrides the ones before it: defaults, the file, RabbitMQ's variables, our own, flags. What is given in one place counts whatever its kind.
func TestPrecedence(t *testing.T) {
	for _, tt := range []struct {
		key, fallback              string
		file                       string // value in the file
		rabbit, rabbitValue, value string // RabbitMQ's variable, if there is one
		variable, ours             string
		flag, last                 string
	}{
		{key: "listeners.tcp", fallback: ":5672", file: "127.0.0.1:1", rabbit: "RABBITMQ_NODE_PORT", rabbitValue: "2", value: ":2", variable: "LEVERET_AMQP_ADDR", ours: ":3", flag: "--amqp-addr", last: "127.0.0.1:4"},
		{key: "default_user", fallback: "guest", file: "file", rabbit: "RABBITMQ_DEFAULT_USER", rabbitValue: "rabbit", value: "rabbit", variable: "LEVERET_DEFAULT_USER", ours: "own"},
		{key: "default_vhost", fallback: "/", file: "file", rabbit: "RABBITMQ_DEFAULT_VHOST", rabbitValue: "a b", value: "a b", variable: "LEVERET_DEFAULT_VHOST", ours: "c"},
		{key: "log.console.level", fallback: "info", file: "warning", variable: "LEVERET_LOG_LEVEL", ours: "debug", flag: "--log-level", last: "error"},
		{key: "heartbeat", fallback: "60", file: "10", variable: "LEVERET_HEARTBEAT", ours: "20"},
		{key: "data_dir", fallback: "leveret-data", file: "/file", variable: "LEVERET_DATA_DIR", ours: "/own", flag: "--data-dir", last: "/flag"},
		{key: "log.console.formatter", fallback: "plaintext", file: "json", variable: "LEVERET_LOG_FORMAT", ours: "plaintext", flag: "--log-format", last: "json"},
	} {
		t.Run(tt.key, func(t *testing.T) {
			args := []string{}
			look := func(want, from string) {
				t.Helper()
				if value, origin := shown(t, tt.key, args...); value != want || !strings.Contains(origin, from) {
					t.Errorf("%s is %s from %s, want %s from %s", tt.key, value, origin, want, from)
				}
			}
			look(tt.fallback, "default")
			key := tt.key
			if key == "listeners.tcp" {
				key += ".default"
			}
			path := file(t, "a.conf", key+" = "+tt.file+"\n")
			args = append(args, "--config", path)
			look(tt.file, path+":1")
			if tt.rabbit != "" {
				t.Setenv(tt.rabbit, tt.rabbitValue)
				look(tt.value, tt.rabbit)
			}
			t.Setenv(tt.variable, tt.ours)
			look(tt.ours, tt.variable)
			if tt.flag != "" {
				args = append(args, tt.flag, tt.last)
				look(tt.last, tt.flag)
			}
		})
	}
}

// What is wrong is told with the place that it stands in, all of it at once.
func TestWrongSettings(t *testing.T) {
	path := file(t, "a.conf", "heartbeat = soon\nchannel_max = 99999999\nlisteners.tcp.default = 127.0.0.1:port\nlog.console.level = loud\n= 5\nfoo\n")
	t.Setenv("LEVERET_FRAME_MAX", "-1")
	code, stdout, stderr := broker(t, "", "config", "check", "--config", path, "--http-addr", "nowhere:x")
	for _, want := range []string{":1: ", ":2: ", ":3: ", ":4: ", ":5: ", ":6: ", "LEVERET_FRAME_MAX", "--http-addr"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("nothing of %s", want)
		}
	}
	if code != 1 || stdout != "" || t.Failed() {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}

// Names that are no ASCII come through each place as they are.
func TestUnicodeSettings(t *testing.T) {
	const name = "Grüße 兎 🐇"
	path := file(t, "a.conf", "default_user = "+name+"\n")
	if value, _ := shown(t, "default_user", "--config", path); value != name {
		t.Errorf("from the file: %q", value)
	}
	t.Setenv("RABBITMQ_DEFAULT_VHOST", name)
	if value, _ := shown(t, "default_vhost"); value != name {
		t.Errorf("from the environment: %q", value)
	}
}
