package management_test

import (
	"fmt"
	"net/http"
	"testing"

	"leveret/management"
)

// settings is a control that remembers.
type settings map[string]any

func (s settings) SetMemoryWatermark(bytes uint64, fraction float64) error {
	s["memory"] = fmt.Sprint(bytes, " ", fraction)
	return nil
}

func (s settings) SetDiskLimit(bytes uint64, fraction float64) error {
	s["disk"] = fmt.Sprint(bytes, " ", fraction)
	return nil
}

func (s settings) SetLogLevel(level string) error {
	if level == "loud" {
		return fmt.Errorf("%w: loud", management.ErrBadValue)
	}
	s["level"] = level
	return nil
}

func (s settings) Setting(application, key string) (any, bool) {
	v, ok := s[application+"."+key]
	return v, ok
}

func (s settings) SetSetting(application, key string, value any) error {
	s[application+"."+key] = value
	return nil
}

func (s settings) Stop() { s["stopped"] = true }

// TestControlIsTold: what the API takes reaches the process around the broker.
func TestControlIsTold(t *testing.T) {
	told := settings{}
	r := start(t, func(o *management.Options) { o.Control = told })
	send := func(method, path, body string) { r.must(http.StatusNoContent, method, path, body) }
	send("PUT", "/api/leveret/memory-watermark", `{"relative":0.5}`)
	send("PUT", "/api/leveret/disk-free-limit", `{"bytes":7}`)
	send("PUT", "/api/leveret/log-level", `{"level":"warn"}`)
	send("POST", "/api/leveret/stop", "")
	want := settings{"memory": "0 0.5", "disk": "7 0", "level": "warn", "stopped": true}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", told, want)
	}
}

// TestNobodyControls: without a process around it those operations are not there.
func TestNobodyControls(t *testing.T) {
	r := start(t, func(o *management.Options) { o.Control = nil })
	r.must(http.StatusNotFound, "POST", "/api/leveret/stop", "")
	r.must(http.StatusNotFound, "PUT", "/api/leveret/log-level", `{"level":"warn"}`)
}
