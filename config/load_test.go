package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leveret/config"

	"pgregory.net/rapid"
)

func TestLaterSourcesOverride(t *testing.T) {
	const file = "node_name = file\ndefault_user = file\ndefault_vhost = file\nlisteners.tcp.1 = 1\nlisteners.tcp.2 = 2\n"
	environ := []string{"RABBITMQ_NODENAME=rabbit", "LEVERET_DEFAULT_USER=leveret", "RABBITMQ_DEFAULT_USER=rabbit", "RABBITMQ_DEFAULT_VHOST=rabbit"}
	flags := map[string][]string{"amqp-addr": {"3", "localhost:4"}, "node-name": {"flag"}}
	l, err := load(t, file, environ, flags)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.NodeName, want.DefaultUser, want.DefaultVHost = "flag", "leveret", "rabbit"
	want.AMQPAddrs = []string{":3", "localhost:4"}
	if !reflect.DeepEqual(l.Config, want) {
		t.Errorf("got  %+v\nwant %+v", l.Config, want)
	}
	// Without flags and variables the file counts, and its list of listeners replaces the default's.
	if got := mustLoad(t, file); got.NodeName != "file" || !slices.Equal(got.AMQPAddrs, []string{":1", ":2"}) {
		t.Errorf("file alone: %q, %q", got.NodeName, got.AMQPAddrs)
	}
}

// A list of ours takes the place of RabbitMQ's, whichever stands first in the environment.
func TestOwnVariablesReplaceLists(t *testing.T) {
	environ := []string{"LEVERET_AMQP_ADDR=7,localhost:8", "RABBITMQ_NODE_PORT=5"}
	for range 2 {
		l, err := config.Load(config.Sources{Environ: environ})
		if err != nil || !slices.Equal(l.AMQPAddrs, []string{":7", "localhost:8"}) {
			t.Errorf("%q: %v, %q", environ, err, l.AMQPAddrs)
		}
		slices.Reverse(environ)
	}
}

func TestVariables(t *testing.T) {
	tests := []struct {
		variable string
		got      func(c config.Config) any
		want     any
	}{
		{"LEVERET_AMQP_ADDR=127.0.0.1:1,2", amqp, []string{"127.0.0.1:1", ":2"}},
		{"LEVERET_LISTENERS_TCP_DEFAULT=7", amqp, []string{":7"}},
		{"LEVERET_LISTENERS_TCP=none", amqp, []string(nil)},
		{"LEVERET_METRICS_ADDR=none", metrics, ""},
		{"LEVERET_LOOPBACK_USERS=none", loopback, []string(nil)},
		{"LEVERET_LOOPBACK_USERS_GUEST=false", loopback, []string{}},
		{"LEVERET_VM_MEMORY_HIGH_WATERMARK_ABSOLUTE=1GiB", memory, config.Watermark{Relative: 0.6, Absolute: 1 << 30}},
		{"LEVERET_LOG_LEVEL=debug", func(c config.Config) any { return c.LogLevel }, "debug"},
		{"LEVERET_LOG_CONSOLE_LEVEL=debug", func(c config.Config) any { return c.LogLevel }, "debug"},
		{"RABBITMQ_DEFAULT_PASS=a=b#c", pass, "a=b#c"},
		{"RABBITMQ_NODE_PORT=5", amqp, []string{":5"}},
	}
	for _, tt := range tests {
		t.Run(tt.variable, func(t *testing.T) {
			l, err := config.Load(config.Sources{Environ: []string{"PATH=/bin", tt.variable}})
			if err != nil || l.Warnings != nil {
				t.Fatalf("%v, warnings %q", err, l.Warnings)
			}
			if got := tt.got(l.Config); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestUnknownVariablesOnlyWarn(t *testing.T) {
	environ := []string{"LEVERET_SERVICE_HOST=10.0.0.1", "LEVERET_URL=x", "LEVERET_CONFIG=y", "RABBITMQ_ERLANG_COOKIE=z", "LEVERETFOO=1"}
	l, err := config.Load(config.Sources{Environ: environ})
	if err != nil || len(l.Warnings) != 1 || !strings.HasPrefix(l.Warnings[0], "LEVERET_SERVICE_HOST") {
		t.Errorf("%v, warnings %q", err, l.Warnings)
	}
}

func TestPrintTellsOrigins(t *testing.T) {
	l, err := load(t, "heartbeat = 30\ndefault_pass = hush\nanonymous_login_pass = hush\n"+
		"definitions.import_backend = https\ndefinitions.https.url = https://me:hush@host/file\n", []string{"LEVERET_NODE_NAME=a#b"}, map[string][]string{"amqp-addr": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^heartbeat = 30 +# .*test\.conf:1$`,
		`(?m)^node_name = 'a#b' +# LEVERET_NODE_NAME$`,
		`(?m)^listeners\.tcp\.1 = :1 +# --amqp-addr$`,
		`(?m)^frame_max = 131072 +# default$`,
		`(?m)^default_pass = \*{8} `,
		`(?m)^definitions\.https\.url = https://me:xxxxx@host/file `,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no line like %s in:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "hush") {
		t.Error("the password is shown")
	}
}

// TestPrintedLoadsAgain holds that what is printed means the same when it is read.
func TestPrintedLoadsAgain(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		l, err := config.Load(config.Sources{Flags: someFlags().Draw(rt, "flags")})
		if err != nil {
			rt.Fatal(err)
		}
		var out bytes.Buffer
		if err := l.Print(&out); err != nil {
			rt.Fatal(err)
		}
		for line := range strings.Lines(l.Lines()) {
			if !strings.Contains(out.String(), strings.TrimSpace(line)) {
				rt.Fatalf("%q is in force and not printed:\n%s", line, &out)
			}
		}
		if shown, printed := strings.Count(l.Lines(), "\n"), strings.Count(out.String(), "\n"); shown != printed {
			rt.Fatalf("%d lines are in force, %d are printed", shown, printed)
		}
		file := filepath.Join(dir, "printed.conf")
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			rt.Fatal(err)
		}
		again, err := config.Load(config.Sources{File: file})
		if err != nil {
			rt.Fatal(err)
		}
		again.DefaultPass, again.AnonymousPass = l.DefaultPass, l.AnonymousPass
		if !reflect.DeepEqual(again.Config, l.Config) {
			rt.Fatalf("printed:\n%s\ngot  %+v\nwant %+v", &out, again.Config, l.Config)
		}
	})
}

// someFlags draws flags with proper values, of every kind that there is.
func someFlags() *rapid.Generator[map[string][]string] {
	return rapid.Custom(func(rt *rapid.T) map[string][]string {
		flags := map[string][]string{}
		for _, f := range config.Flags() {
			if !rapid.Bool().Draw(rt, f.Name) {
				continue
			}
			value := rapid.StringMatching(`[a-z/@.#]{0,8}`)
			switch {
			case strings.HasSuffix(f.Name, "-addr"):
				value = rapid.StringMatching(`(127\.0\.0\.1|\[::1\]|)?:[1-9][0-9]{0,3}`)
			case f.Name == "data-dir":
				value = rapid.StringMatching(`none|[a-z/@.#]{1,8}`)
			case f.Name == "log-level":
				value = rapid.SampledFrom([]string{"debug", "info", "warn", "warning", "error"})
			case f.Name == "log-format":
				value = rapid.SampledFrom([]string{"text", "json", "plaintext"})
			}
			most := 1
			if f.List {
				most = 3
			}
			flags[f.Name] = rapid.SliceOfN(value, 1, most).Draw(rt, f.Name)
		}
		return flags
	})
}

// TestSample holds that the documented sample has every key, with its default.
func TestSample(t *testing.T) {
	const sample = "../docs/leveret.conf.sample"
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile(`(?m)^# ([a-z][a-z0-9_.]* =.*)$`)
	var lines []string
	for _, match := range example.FindAllStringSubmatch(string(text), -1) {
		lines = append(lines, strings.TrimSpace(match[1]))
	}
	l := mustLoad(t, strings.Join(lines, "\n"))
	if !reflect.DeepEqual(l.Config, mustLoad(t, "listeners.ssl = none").Config) || l.Warnings != nil {
		t.Errorf("the sample means %+v, warnings %q", l.Config, l.Warnings)
	}
	var printed bytes.Buffer
	if err := mustLoad(t, "").Print(&printed); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(printed.String()) {
		setting, _, _ := strings.Cut(line, "# ")
		key, value, _ := strings.Cut(strings.TrimSpace(setting), " = ")
		if setting = strings.TrimSpace(setting); value == "********" {
			setting = key + " = guest"
		}
		if !slices.Contains(lines, setting) {
			t.Errorf("%s lacks %q", sample, setting)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("heartbeat = 1\n# comment\ndefault_pass = 'a#b'\n")
	f.Add("listeners.tcp.1 = ::1:5672\nlisteners.tcp = none")
	f.Add("vm_memory_high_watermark.relative = 1e-3\nmax_message_size = 1 GiB\n'= \x00")
	file := filepath.Join(f.TempDir(), "fuzz.conf")
	f.Fuzz(func(t *testing.T, lines string) {
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(config.Sources{File: file})
		if err != nil {
			return
		}
		if l.ChannelMax == 0 && !strings.Contains(lines, "channel_max") {
			t.Errorf("a key that is not there was set")
		}
		var out bytes.Buffer
		if l.Print(&out) != nil || out.Len() == 0 {
			t.Error("can't be printed")
		}
	})
}
