package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// addresses are where the broker listens, with the ports that it really has.
type addresses struct {
	AMQP       []string `json:"amqp"` // host:port each, in the order of the settings
	AMQPS      []string `json:"amqps"`
	HTTP       []string `json:"http"`
	HTTPS      []string `json:"https"`
	Metrics    []string `json:"metrics"`
	MetricsTLS []string `json:"metrics_tls"`
}

// writeReadyFile puts the addresses where somebody waits for them. It appears whole or not at all.
func writeReadyFile(path string, a addresses) error {
	// The temporary file stands in the same folder, as only within a file system renaming replaces at once.
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	// A line, so that a shell can read it too.
	_, err = temporary.Write(append(text, '\n'))
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(temporary.Name(), 0o644) // CreateTemp lets its owner alone read it
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		os.Remove(temporary.Name()) // what is left of it is of no use to anybody
		return fmt.Errorf("ready file: %w", err)
	}
	return nil
}
