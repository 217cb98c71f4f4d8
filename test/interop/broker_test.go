package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// brokerBinary is the built broker's path, empty when the tests use a broker that runs elsewhere.
var brokerBinary string

// A broker is one broker process, or the foreign one that LEVERET_TEST_AMQP names.
type broker struct {
	addr    string   // host:port of the AMQP listener
	addrs   []string // all of them
	secure  string   // host:port of the AMQP listener with TLS, empty if there is none
	metrics string   // host:port of the metrics listener, empty for a foreign broker
	http    string   // host:port of the HTTP listener, empty for a foreign broker and where it has none
	dir     string
	cmd     *exec.Cmd     // nil for a foreign broker
	exited  chan struct{} // closed when the process ended; exitErr is set then
	exitErr error
}

// openShared returns the foreign broker if one is named, else builds the binary into dir and starts it.
func openShared(dir string) (*broker, error) {
	if addr := os.Getenv("LEVERET_TEST_AMQP"); addr != "" {
		return &broker{addr: addr}, nil
	}
	brokerBinary = filepath.Join(dir, "broker")
	build := exec.Command("go", "build", "-o", brokerBinary, "leveret/cmd/broker")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot build the broker: %w\n%s", err, out)
	}
	return launch(dir)
}

// ownBroker starts a broker for this test alone, to be measured or stopped; a foreign broker is shared even then.
func ownBroker(t *testing.T, flags ...string) *broker {
	t.Helper()
	if brokerBinary == "" {
		return shared
	}
	b, err := launch(t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Errorf("the broker did not stop cleanly: %v\n%s", err, b.logTail())
		}
	})
	return b
}

// launch starts a broker on free ports with its data in dir and waits until it is ready.
func launch(dir string, flags ...string) (*broker, error) {
	ready := filepath.Join(dir, "ready.json")
	if err := os.RemoveAll(ready); err != nil { // of a life before
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	b := &broker{dir: dir, exited: make(chan struct{})}
	b.cmd = exec.Command(brokerBinary, append([]string{"serve", "--amqp-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--http-addr", "none",
		"--data-dir", filepath.Join(dir, "data"), "--ready-file", ready}, flags...)...)
	b.cmd.Stdout, b.cmd.Stderr = log, log
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		b.exitErr = b.cmd.Wait()
		close(b.exited)
	}()
	if err := b.awaitReady(ready); err != nil {
		b.cmd.Process.Kill()
		return nil, fmt.Errorf("%w\n%s", err, b.logTail())
	}
	return b, nil
}

// awaitReady looks for the ready file, which the broker writes whole once its listeners are up.
func (b *broker) awaitReady(file string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		select {
		case <-b.exited:
			return fmt.Errorf("the broker ended before it was ready: %w", b.exitErr)
		case <-deadline:
			return fmt.Errorf("the broker was not ready within %v", patience)
		case <-tick.C:
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var addresses struct{ AMQP, AMQPS, Metrics, HTTP []string }
		if err := json.Unmarshal(text, &addresses); err != nil || len(addresses.AMQP) == 0 || len(addresses.Metrics) == 0 {
			return fmt.Errorf("ready file %q: %w", text, err)
		}
		b.addr, b.metrics = addresses.AMQP[0], addresses.Metrics[0]
		b.addrs = addresses.AMQP
		if len(addresses.AMQPS) > 0 {
			b.secure = addresses.AMQPS[0]
		}
		if len(addresses.HTTP) > 0 {
			b.http = addresses.HTTP[0]
		}
		return nil
	}
}

// stop ends the broker as an operator would and reports anything but a clean end in time. A foreign broker is left alone.
func (b *broker) stop() error {
	if b.cmd == nil {
		return nil
	}
	b.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-b.exited:
	case <-time.After(patience):
		b.cmd.Process.Kill()
		<-b.exited
		return fmt.Errorf("the broker did not stop within %v of SIGTERM", patience)
	}
	if b.exitErr != nil {
		return b.exitErr
	}
	if log := b.log(); bytes.Contains(log, []byte("panic")) || bytes.Contains(log, []byte("DATA RACE")) {
		return fmt.Errorf("the broker's log tells of a panic or a race")
	}
	return nil
}

// url is what the clients connect to: guest on the default virtual host.
func (b *broker) url() string { return "amqp://guest:guest@" + b.addr + "/%2F" }

func (b *broker) log() []byte {
	if b.cmd == nil {
		return nil
	}
	text, _ := os.ReadFile(filepath.Join(b.dir, "log"))
	return text
}

// logTail is the end of the broker's log, for a failed run's report. What goes well is left out.
func (b *broker) logTail() string {
	var kept []string
	for line := range strings.Lines(string(b.log())) {
		if !strings.Contains(line, "level=INFO") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-40):], "")
}

// status returns a figure in KiB from the kernel's status of the process, such as VmRSS, and 0 for a foreign broker.
func (b *broker) status(t *testing.T, name string) int {
	t.Helper()
	if b.cmd == nil {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name+":" {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s in the status of the broker", name)
	return 0
}

// portOf is the port of an address.
func portOf(t *testing.T, address string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}
