package ctl_test

import (
	"math"
	"net"
	"path/filepath"
	"testing"

	"leveret/ctl"
)

// The environment names a broker, or there is the one of this machine: by its socket, if that is there and nobody is named, else by the default address.
func TestLocal(t *testing.T) {
	data, empty := t.TempDir(), t.TempDir()
	socket := filepath.Join(data, ctl.SocketName)
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, tt := range map[string]struct {
		environ map[string]string
		want    ctl.Options
	}{
		"nothing": {nil, ctl.Options{URL: ctl.DefaultURL, User: "guest", Password: "guest"}},
		"a broker": {map[string]string{"LEVERET_URL": "https://h", "LEVERET_USER": "u", "LEVERET_PASSWORD": "p", "LEVERET_CA_FILE": "ca"},
			ctl.Options{URL: "https://h", User: "u", Password: "p", CAFile: "ca"}},
		"the container image's user": {map[string]string{"RABBITMQ_DEFAULT_USER": "u", "RABBITMQ_DEFAULT_PASS": "p"},
			ctl.Options{URL: ctl.DefaultURL, User: "u", Password: "p"}},
		"our user before the image's": {map[string]string{"RABBITMQ_DEFAULT_USER": "u", "LEVERET_USER": "v", "RABBITMQ_DEFAULT_PASS": "p"},
			ctl.Options{URL: ctl.DefaultURL, User: "v", Password: "p"}},
		"a socket":                 {map[string]string{"LEVERET_DATA_DIR": data}, ctl.Options{URL: ctl.DefaultURL, Socket: socket, User: "guest", Password: "guest"}},
		"no socket in the folder":  {map[string]string{"LEVERET_DATA_DIR": empty}, ctl.Options{URL: ctl.DefaultURL, User: "guest", Password: "guest"}},
		"a socket, and a broker":   {map[string]string{"LEVERET_DATA_DIR": data, "LEVERET_URL": "http://h"}, ctl.Options{URL: "http://h", User: "guest", Password: "guest"}},
		"a socket, and a user":     {map[string]string{"LEVERET_DATA_DIR": data, "LEVERET_USER": "u"}, ctl.Options{URL: ctl.DefaultURL, User: "u", Password: "guest"}},
		"a socket, and a password": {map[string]string{"LEVERET_DATA_DIR": data, "LEVERET_PASSWORD": "p"}, ctl.Options{URL: ctl.DefaultURL, Socket: socket, User: "guest", Password: "p"}},
	} {
		if got := ctl.Local(func(name string) string { return tt.environ[name] }); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// Bytes are read with the units that RabbitMQ takes, large and small letters alike; what would not fit is refused and not cut.
func TestParseBytes(t *testing.T) {
	for given, want := range map[string]int64{
		"0": 0, "1": 1, "1B": 1, "1k": 1024, "1K": 1024, "1kb": 1000, "1KB": 1000, "1KiB": 1024, "2M": 2 << 20, "2MB": 2_000_000, "3GiB": 3 << 30, "3gb": -1, "1T": 1 << 40,
		"1TB": 1e12, "9223372036854775807": math.MaxInt64, "8388607T": 8388607 << 40, "8388608T": -1, "9223372036854775808": -1, "-1": -1, "1.5GB": -1, "": -1, "GB": -1,
		"1 GB": -1, "1XB": -1, "1GBGB": -1, "0x10": -1, "1e6": -1, "１": -1, "1BB": -1,
	} {
		got, err := ctl.ParseBytes(given)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q: %d, %v, want %d", given, got, err, want)
		}
		if err != nil && ctl.ExitCode(err) != ctl.ExitUsage {
			t.Errorf("%q: %v is no usage error", given, err)
		}
	}
}
