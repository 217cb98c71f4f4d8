package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"leveret/management"
)

// control is what the API asks of the process around the broker.
type control struct{ *node }

var _ management.Control = control{}

// SetMemoryWatermark sets from how much memory publishers are held.
func (n control) SetMemoryWatermark(bytes uint64, fraction float64) error {
	if bytes == 0 {
		share, err := shareOfMemory(fraction)
		if err != nil {
			return err
		}
		bytes = max(1, share) // a limit of 0 would be none
	}
	// The server tells the Go runtime too, by OnMemoryLimit.
	n.server.SetMemoryLimit(bytes)
	return nil
}

// SetDiskLimit sets below how much free disk publishers are held.
func (n control) SetDiskLimit(bytes uint64, fraction float64) error {
	limited, ok := n.store.(diskLimited)
	if !ok {
		return fmt.Errorf("%w: there is no data folder", management.ErrBadValue)
	}
	if bytes == 0 {
		share, err := shareOfMemory(fraction)
		if err != nil {
			return err
		}
		bytes = share
	}
	limited.SetMinFree(bytes)
	return nil
}

// shareOfMemory is a fraction of the machine's or the container's memory, in bytes. Where nobody can tell how much that is there is none: a limit that
// silently became 0 would be no limit.
func shareOfMemory(fraction float64) (uint64, error) {
	total := memoryTotal(os.DirFS("/"))
	if total <= 0 {
		return 0, fmt.Errorf("%w: how much memory there is can't be told", management.ErrBadValue)
	}
	return uint64(float64(total) * fraction), nil
}

// SetLogLevel sets how much is logged, until the settings are read again.
func (n control) SetLogLevel(level string) error {
	if level == "warning" {
		level = "warn" // RabbitMQ's word
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, level) {
		return fmt.Errorf("%w: the log level is debug, info, warn or error, not %s", management.ErrBadValue, level)
	}
	n.level.Set(levelNamed(level)) // shared with the log's handler
	return nil
}

// Stop ends the process.
// It does not wait: the answer to whoever asked goes out first.
func (n control) Stop() {
	select {
	case n.stops <- struct{}{}:
	default: // it is being stopped
	}
}

// Setting returns a setting that can be changed while the broker runs.
func (n control) Setting(application, key string) (value any, ok bool) {
	if application != "rabbit" {
		return nil, false
	}
	tuning := n.server.Tuning()
	switch key {
	case "channel_max":
		return tuning.ChannelMax, true
	case "frame_max":
		return tuning.FrameMax, true
	case "heartbeat":
		return int(tuning.Heartbeat / time.Second), true
	case "loopback_users":
		return append([]string{}, n.users.LoopbackUsers()...), true
	}
	return nil, false
}

// SetSetting changes one.
// It holds for connections that are opened from now on, as tuning is agreed on at the start of one.
func (n control) SetSetting(application, key string, value any) error {
	if _, known := n.Setting(application, key); !known {
		return fmt.Errorf("%w: %s of %s can't be changed while the broker runs", management.ErrBadValue, key, application)
	}
	if key == "loopback_users" {
		return n.setLoopbackUsers(value)
	}
	// What is no number is the empty one, which Int64 refuses.
	number, _ := value.(json.Number)
	// What their fields in connection.tune hold.
	limits := map[string]int64{"channel_max": 65535, "frame_max": 1<<32 - 1, "heartbeat": 65535}
	v, err := number.Int64()
	if err != nil || v < 0 || v > limits[key] {
		return fmt.Errorf("%w: %s is a number from 0 to %d", management.ErrBadValue, key, limits[key])
	}
	tuning := n.server.Tuning()
	switch key {
	case "channel_max":
		tuning.ChannelMax = uint16(v)
	case "frame_max":
		tuning.FrameMax = uint32(v)
	case "heartbeat":
		tuning.Heartbeat = time.Duration(v) * time.Second
	}
	n.server.SetTuning(tuning)
	return nil
}

// setLoopbackUsers changes who may log in from this machine alone. It counts for logins from now on.
func (n control) setLoopbackUsers(value any) error {
	list, ok := value.([]any)
	names := make([]string, len(list))
	for i, item := range list {
		if names[i], ok = item.(string); !ok {
			break
		}
	}
	if !ok {
		return fmt.Errorf("%w: loopback_users is a list of names", management.ErrBadValue)
	}
	n.users.SetLoopbackUsers(names)
	return nil
}
