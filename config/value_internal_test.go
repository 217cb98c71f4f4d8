package config

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1: refused
	}{
		{"0", 0}, {"17", 17}, {"17B", 17}, {"1k", 1024}, {"1K", 1024}, {"1kB", 1000}, {"1KB", 1000}, {"1kiB", 1024}, {"1KiB", 1024},
		{"3M", 3 << 20}, {"3MB", 3e6}, {"3MiB", 3 << 20}, {"2G", 2 << 30}, {"2GB", 2e9}, {"2GiB", 2 << 30}, {"1T", 1 << 40}, {"1TB", 1e12},
		{"1 MB", 1e6}, {"9223372036854775807", 1<<63 - 1}, {"9223372036854775808", -1}, {"8388608TiB", -1}, {"8388607TiB", 8388607 << 40},
		{"", -1}, {"B", -1}, {"1mb", -1}, {"1MBB", -1}, {"1.5GB", -1}, {"-1", -1}, {"+1", 1}, {"1e3", -1}, {"MB1", -1}, {"1M B", -1},
	}
	for _, tt := range tests {
		got, err := parseSize(tt.text)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%q: %d, want %d", tt.text, got, tt.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	tests := []struct {
		text string
		unit time.Duration
		want time.Duration // -1: refused
	}{
		{"5", time.Second, 5 * time.Second}, {"5", time.Millisecond, 5 * time.Millisecond}, {"1m30s", time.Second, 90 * time.Second},
		{"1.5s", time.Millisecond, 1500 * time.Millisecond}, {"1.5s", time.Second, -1}, {"5us", time.Millisecond, -1}, {"-5", time.Second, -1},
		{"-5s", time.Second, -1}, {"", time.Second, -1}, {"9223372036854775807", time.Second, -1}, {"0", time.Second, 0},
	}
	for _, tt := range tests {
		got, err := parseDuration(tt.text, tt.unit)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%q in %s: %s, want %s", tt.text, tt.unit, got, tt.want)
		}
	}
}

func TestParseAddress(t *testing.T) {
	tests := []struct{ text, want string }{
		{"5672", ":5672"}, {"0", ":0"}, {"65535", ":65535"}, {":1", ":1"}, {"127.0.0.1:1", "127.0.0.1:1"}, {"host.name:1", "host.name:1"},
		{"[::1]:1", "[::1]:1"}, {"::1:1", "[::1]:1"}, {"[fe80::1%eth0]:1", "[fe80::1%eth0]:1"}, {":::1", "[::]:1"},
		{"65536", ""}, {"-1", ""}, {"", ""}, {"host", ""}, {"host:", ""}, {"host:http", ""}, {"1.2.3.4", ""}, {"host:01", ""}, {"host:+1", ""},
	}
	for _, tt := range tests {
		got, err := parseAddress(tt.text)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

// TestAddressesAreStable holds that an address that was read once is read as the same again.
func TestAddressesAreStable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`(|[a-z.]{1,8}:|[0-9.]{1,9}:|\[?[0-9a-f:]{0,9}\]?:)[0-9]{1,6}`).Draw(rt, "text")
		once, err := parseAddress(text)
		if err != nil {
			return
		}
		if twice, err := parseAddress(once); err != nil || twice != once {
			rt.Fatalf("%q is %q, and that is %q, %v", text, once, twice, err)
		}
	})
}

func TestParseLineFollowsForm(t *testing.T) {
	plain := rapid.StringMatching(`([!-"$-&(-~]([ -"$-~]{0,6}[!-"$-~])?)?`) // neither a hash, nor a quote in front, nor a blank at an end
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.StringMatching(`[a-z0-9_.$-]{1,12}`).Draw(rt, "key")
		value := plain.Draw(rt, "value")
		blank := rapid.SampledFrom([]string{"", " ", "\t "})
		line := fmt.Sprint(blank.Draw(rt, "1"), key, blank.Draw(rt, "2"), "=", blank.Draw(rt, "3"), value, blank.Draw(rt, "4"))
		line += rapid.SampledFrom([]string{"", "# comment", "#", "# a = b"}).Draw(rt, "comment")
		gotKey, gotValue, err := parseLine(line)
		if err != nil || gotKey != key || gotValue != value {
			rt.Fatalf("%q: %q = %q, %v, want %q = %q", line, gotKey, gotValue, err, key, value)
		}
	})
}
