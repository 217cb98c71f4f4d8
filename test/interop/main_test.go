package interop

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// patience bounds every wait of these tests. It is only reached when something is wrong.
const patience = 3 * time.Minute

// shared is the broker that all tests use unless they need one of their own.
var shared *broker

// TestMain starts the shared broker and checks at the end that the tests left nothing on it and that it stops cleanly. The test binary
// is also the amqp091-go program of the tests: with a program's name in the environment it runs that and nothing else.
func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		os.Exit(runGoProgram(name, os.Args[1:]))
	}
	status, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		status = 1
	}
	os.Exit(status)
}

func runAll(m *testing.M) (status int, err error) {
	dir, err := os.MkdirTemp("", "leveret-interop-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if shared, err = openShared(dir); err != nil {
		return 1, err
	}
	status = m.Run()
	err = errors.Join(shared.leftovers(), shared.stop())
	if status != 0 || err != nil {
		fmt.Fprint(os.Stderr, shared.logTail())
	}
	return status, err
}
