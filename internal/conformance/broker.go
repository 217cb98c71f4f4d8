package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	startLimit = 30 * time.Second
	stopLimit  = 30 * time.Second
)

// broker is a running broker process with a data folder of its own.
type broker struct {
	cmd       *exec.Cmd
	dir       string
	addresses addresses
	ended     chan error // the process's end, once
}

// addresses are where a broker listens, as its ready file tells.
type addresses struct {
	amqp string
	http string // empty when it has no HTTP API
}

// startBroker starts the binary on free ports and waits until it is ready.
func startBroker(ctx context.Context, binary string) (*broker, error) {
	dir, err := os.MkdirTemp("", "leveret-conformance-")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(dir, "ready.json")
	cmd := exec.Command(binary, "serve", "--data-dir", filepath.Join(dir, "data"), "--ready-file", ready,
		"--amqp-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--log-level", "warn")
	logFile, err := os.Create(filepath.Join(dir, "broker.log"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer logFile.Close() // the process has its own descriptor
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b := &broker{cmd: cmd, dir: dir, ended: make(chan error, 1)}
	go func() { b.ended <- cmd.Wait() }()

	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if b.addresses, err = b.awaitReady(ctx, ready); err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

// awaitReady looks for the ready file until it is there, the process ends or time is up.
func (b *broker) awaitReady(ctx context.Context, file string) (addresses, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(file)
		if err == nil {
			return parseReady(text)
		}
		select {
		case <-tick.C:
		case err := <-b.ended:
			b.ended <- err // for stop
			return addresses{}, errors.New("the broker ended before it was ready")
		case <-ctx.Done():
			return addresses{}, fmt.Errorf("the broker is not ready: %w", ctx.Err())
		}
	}
}

// parseReady reads the JSON of a ready file: an address or a list of them by kind of listener.
func parseReady(text []byte) (addresses, error) {
	var listeners map[string]json.RawMessage
	if err := json.Unmarshal(text, &listeners); err != nil {
		return addresses{}, fmt.Errorf("ready file: %w", err)
	}
	at := addresses{amqp: firstAddress(listeners["amqp"]), http: firstAddress(listeners["http"])}
	if at.amqp == "" {
		return addresses{}, fmt.Errorf("ready file names no AMQP address: %s", text)
	}
	return at, nil
}

func firstAddress(value json.RawMessage) string {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return one
	}
	var list []string
	if json.Unmarshal(value, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return ""
}

// stop ends the broker as an operator would and removes its folder. It reports a
// broker that had crashed, that does not end, or that ends with an error, and
// then shows the end of its log.
func (b *broker) stop() error {
	defer os.RemoveAll(b.dir)
	timer := time.NewTimer(stopLimit)
	defer timer.Stop()

	var err error
	select {
	case <-b.ended:
		err = fmt.Errorf("the broker ended by itself with %v", b.cmd.ProcessState)
	default:
		err = b.terminate(timer.C)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; its log ends with:\n%s", err, b.logTail())
}

// terminate asks the process to end, and makes it once time is up.
func (b *broker) terminate(late <-chan time.Time) error {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-b.ended:
		if err != nil {
			return fmt.Errorf("the broker ended with %w", err)
		}
		return nil
	case <-late:
		return errors.Join(fmt.Errorf("the broker did not end within %v", stopLimit), b.cmd.Process.Kill(), <-b.ended)
	}
}

// logTail returns the last 4 KiB of the broker's log.
func (b *broker) logTail() []byte {
	text, err := os.ReadFile(filepath.Join(b.dir, "broker.log"))
	if err != nil {
		return []byte(err.Error())
	}
	return text[max(0, len(text)-4096):]
}
