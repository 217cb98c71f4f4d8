package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/cmd/broker/rabbitmqctl"
	"leveret/ctl"
	"leveret/ctl/ctltest"
	"leveret/management"
)

// rabbitmqctlAt runs RabbitMQ's tool over the control socket of the broker in a folder.
func rabbitmqctlAt(t *testing.T, dir string, args ...string) (output string, code int) {
	t.Setenv("LEVERET_DATA_DIR", dir)
	return ctltest.Run(rabbitmqctl.New("rabbitmqctl"), "", args...)
}

// TestControlSocket: the operator needs no password, whatever became of guest, and nobody else may open the socket.
func TestControlSocket(t *testing.T) {
	dir := t.TempDir()
	startBroker(t, "--data-dir", dir)
	info, err := os.Stat(filepath.Join(dir, ctl.SocketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	tests := []struct {
		args, want string
		code       int
	}{
		{"authenticate_user guest guest -q", "", 0},
		{"authenticate_user guest wrong -q", "error: Error: failed to authenticate user \"guest\"\ninvalid credentials\n", 65},
		{"delete_user guest -q", "", 0},
		{"-q ping", "Ping succeeded\n", 0},
		{"check_running -q", "", 0},
		{"check_local_alarms -q", "", 0},
		{"check_port_connectivity -q", "", 0},
		{"list_vhosts -s", "/\n", 0},
		{"set_vm_memory_high_watermark absolute 1 -q", "", 0},
		{"set_vm_memory_high_watermark 0.4 -q", "", 0},
		{"set_vm_memory_high_watermark absolute 0 -q", "error: Error:\nnot_integer: 0\n", 70},
		{"set_disk_free_limit 1MB -q", "", 0},
		{"set_disk_free_limit mem_relative 0.0001 -q", "", 0},
		{"set_log_level debug -q", "", 0},
		{"set_log_level loud -q", "error: Error:\nbad value: the log level is debug, info, warn or error, not loud\n", 70},
		{"force_gc -q", "", 0},
		{"stop_app -q", "", 0},
		{"start_app -q", "", 0},
	}
	for _, tt := range tests {
		if output, code := rabbitmqctlAt(t, dir, strings.Fields(tt.args)...); output != tt.want || code != tt.code {
			t.Errorf("%s: %q, exit code %d, want %q", tt.args, output, code, tt.want)
		}
	}
}

// TestControlEnvironment: the settings that test suites change are changed.
func TestControlEnvironment(t *testing.T) {
	dir := t.TempDir()
	startBroker(t, "--data-dir", dir)
	tests := []struct {
		expression, want string
		code             int
	}{
		{"application:get_env(rabbit, channel_max).", "{ok,2047}\n", 0},
		{"application:set_env(rabbit, channel_max, 10).", "ok\n", 0},
		{"application:get_env(rabbit, channel_max).", "{ok,10}\n", 0},
		{"application:set_env(rabbit, frame_max, 8192).", "ok\n", 0},
		{"application:get_env(rabbit, frame_max).", "{ok,8192}\n", 0},
		{"application:set_env(rabbit, heartbeat, 7).", "ok\n", 0},
		{"application:get_env(rabbit, heartbeat).", "{ok,7}\n", 0},
		{`application:set_env(rabbit, loopback_users, [<<"a">>, <<"b">>]).`, "ok\n", 0},
		{"application:get_env(rabbit, loopback_users).", "{ok,[\"a\",\"b\"]}\n", 0},
		{"application:set_env(rabbit, loopback_users, []).", "ok\n", 0},
		{"application:get_env(rabbit, loopback_users).", "{ok,[]}\n", 0},
		{"application:set_env(rabbit, loopback_users, [1]).", "error: Error:\nbad value: loopback_users is a list of names\n", 70},
		{"application:set_env(rabbit, channel_max, 70000).", "error: Error:\nbad value: channel_max is a number from 0 to 65535\n", 70},
		{"application:set_env(rabbit, tcp_listeners, 1).", "error: Error:\nbad value: tcp_listeners of rabbit can't be changed while the broker runs\n", 70},
		{"application:get_env(other, channel_max).", "undefined\n", 0},
		{"rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []}).", "ok\n", 0},
	}
	for _, tt := range tests {
		if output, code := rabbitmqctlAt(t, dir, "eval", tt.expression); output != tt.want || code != tt.code {
			t.Errorf("%s: %q, exit code %d, want %q", tt.expression, output, code, tt.want)
		}
	}
	if output, code := rabbitmqctlAt(t, dir, "alarms", "-q"); code != 0 || !strings.HasPrefix(output, "Memory alarm on node ") {
		t.Errorf("%q, exit code %d", output, code)
	}
	if output, code := rabbitmqctlAt(t, dir, "check_alarms", "-q"); code != 69 {
		t.Errorf("%q, exit code %d", output, code)
	}
}

// TestControlStop: the operator can end the process, which then ends as by a signal.
func TestControlStop(t *testing.T) {
	dir := t.TempDir()
	r := startBroker(t, "--data-dir", dir)
	if output, code := rabbitmqctlAt(t, dir, "shutdown", "-q"); code != 0 {
		t.Fatalf("%q, exit code %d", output, code)
	}
	if code := <-r.code; code != 0 {
		t.Errorf("exit code %d:\n%s", code, r.log)
	}
	r.code = nil
	if _, err := os.Stat(filepath.Join(dir, ctl.SocketName)); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// TestLongDataDir: a path that is no good for a socket is no reason not to start.
func TestLongDataDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	startBroker(t, "--data-dir", dir).log.await(t, "no control socket", 1)
}

// TestCalledBy: links with the names of RabbitMQ's tools are those tools.
func TestCalledBy(t *testing.T) {
	for name, want := range map[string]string{"/usr/bin/rabbitmqctl": "rabbitmqctl", "rabbitmq-diagnostics": "rabbitmq-diagnostics", "/x/broker": "broker", "renamed": "broker"} {
		if got := calledBy(name).Name(); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}

// A broker in memory has no disk that could be low; the log level may be given in RabbitMQ's word.
func TestControlInMemory(t *testing.T) {
	boot(t, "", heard, func(n *node) {
		c := control{n}
		for name, err := range map[string]error{
			"disk": c.SetDiskLimit(1, 0), "share of the memory as disk": c.SetDiskLimit(0, 0.5), "level": c.SetLogLevel("WARN"), "no level": c.SetLogLevel(""),
		} {
			if !errors.Is(err, management.ErrBadValue) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for level, want := range map[string]slog.Level{"warning": slog.LevelWarn, "warn": slog.LevelWarn, "debug": slog.LevelDebug} {
			if err := c.SetLogLevel(level); err != nil || n.level.Level() != want {
				t.Errorf("%s: %v, %s", level, err, n.level.Level())
			}
		}
		for range 3 { // more than once is no more than once
			c.Stop()
		}
		if len(n.stops) != 1 {
			t.Errorf("%d stops", len(n.stops))
		}
		if err := c.SetMemoryWatermark(0, 1e-30); err != nil || n.server.MemoryLimit() != 1 {
			t.Errorf("the smallest share: %v, %d bytes", err, n.server.MemoryLimit())
		}
	})
}
