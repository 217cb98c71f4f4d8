package main

import (
	"log/slog"
	"net/netip"
	"reflect"
	"testing"
	"testing/fstest"

	"leveret/amqp"
	"leveret/auth"
	"leveret/config"
	"leveret/server"
	"leveret/store"
)

// logsIn tells whether a password fits a hash.
func logsIn(t *testing.T, hash string, algorithm auth.Hashing, password string) bool {
	t.Helper()
	a, err := auth.New(auth.Options{Mechanisms: []string{"PLAIN"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.PutUser(auth.Account{Name: "u", PasswordHash: hash, HashingAlgorithm: algorithm}); err != nil {
		t.Error(err)
		return false
	}
	_, err = a.Authenticate("PLAIN", []byte("\x00u\x00"+password), auth.Client{Address: netip.IPv6Loopback()})
	return err == nil
}

// TestDefaultsAreThePackages holds that settings that nobody made are the packages' own defaults.
func TestDefaultsAreThePackages(t *testing.T) {
	want := server.DefaultOptions()
	want.NodeName, want.Version, want.MemoryLimit = config.Default().Node(), version, 5
	if got := serverOptions(config.Default(), 5); !reflect.DeepEqual(got, want) {
		t.Errorf("server: got  %+v\nwant %+v", got, want)
	}
	s := store.NewMemory()
	users := auth.DefaultOptions()
	users.Storage = userStorage{s}
	if got := authOptions(config.Default(), s, nil); !reflect.DeepEqual(got, users) {
		t.Errorf("auth: got  %+v\nwant %+v", got, users)
	}
}

func TestUsersAreKeptInTheStore(t *testing.T) {
	s := store.NewMemory()
	for range 2 { // the second one reads what the first one wrote
		a, err := auth.New(authOptions(config.Default(), s, nil))
		if err != nil {
			t.Fatal(err)
		}
		if users := a.Users(); len(users) == 0 || users[0].Permissions["/"] != auth.AllPermissions() {
			t.Fatalf("users %+v", users)
		}
		if err := a.PutUser(auth.Account{Name: "other"}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := auth.New(authOptions(config.Default(), s, nil))
	if err != nil || len(a.Users()) != 2 {
		t.Fatalf("%v, users %+v", err, a.Users())
	}
	if err := a.DeleteUser("other"); err != nil {
		t.Fatal(err)
	}
	if a, err = auth.New(authOptions(config.Default(), s, nil)); err != nil || len(a.Users()) != 1 {
		t.Errorf("%v, after the deletion users %+v", err, a.Users())
	}
}

func TestMemoryTotal(t *testing.T) {
	const memInfo = "MemFree: 5 kB\nMemTotal:       1000000 kB\nMemAvailable: 7 kB\n"
	machine := int64(1000000 << 10)
	tests := []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing", nil, 0},
		{"machine", map[string]string{"proc/meminfo": memInfo}, machine},
		{"no number", map[string]string{"proc/meminfo": "MemTotal:\n"}, 0},
		{"cgroup 2", map[string]string{"proc/meminfo": memInfo, "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		{"cgroup 2 without limit", map[string]string{"proc/meminfo": memInfo, "sys/fs/cgroup/memory.max": "max\n"}, machine},
		{"cgroup 1", map[string]string{"proc/meminfo": memInfo, "sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n"}, 512 << 20},
		{"cgroup 1 without limit", map[string]string{"proc/meminfo": memInfo, "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, machine},
		{"container alone", map[string]string{"sys/fs/cgroup/memory.max": "1000\n"}, 1000},
	}
	for _, tt := range tests {
		root := fstest.MapFS{}
		for name, text := range tt.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := memoryTotal(root); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestWatermark(t *testing.T) {
	tests := []struct {
		mark  config.Watermark
		total int64
		want  int64
	}{
		{config.Watermark{Relative: 0.6}, 1000, 600},
		{config.Watermark{Relative: 0.6, Absolute: 50}, 1000, 50},
		{config.Watermark{Relative: 0}, 1000, 1},
		{config.Watermark{Relative: 0.6}, 0, 0},
	}
	for _, tt := range tests {
		if got := watermark(tt.mark, tt.total); got != tt.want {
			t.Errorf("%+v of %d: %d, want %d", tt.mark, tt.total, got, tt.want)
		}
	}
}

func TestDiskLimit(t *testing.T) {
	for _, tt := range []struct {
		limit config.Watermark
		want  int64
	}{
		{config.Watermark{Absolute: 50}, 50},
		{config.Watermark{Relative: 1.5}, 1500},
		{config.Watermark{Relative: 1.5, Absolute: 50}, 50},
		{config.Watermark{}, 0},
	} {
		if got := diskLimit(tt.limit, 1000); got != tt.want {
			t.Errorf("%+v of 1000: %d, want %d", tt.limit, got, tt.want)
		}
	}
}

func TestLevels(t *testing.T) {
	for name, want := range map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError, "": slog.LevelInfo,
	} {
		if got := levelNamed(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestQueueArguments(t *testing.T) {
	got, err := queueArguments([]string{"x-queue-type=quorum", "x-max-length=10", "x-single-active-consumer=true", "x-a=false", "x-b=", "x-c=a=b"})
	want := amqp.Table{
		{Name: "x-queue-type", Value: "quorum"},
		{Name: "x-max-length", Value: int64(10)},
		{Name: "x-single-active-consumer", Value: true},
		{Name: "x-a", Value: false},
		{Name: "x-b", Value: ""},
		{Name: "x-c", Value: "a=b"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
