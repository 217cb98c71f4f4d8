// Command conformance runs the conformance checks, a suite of its own that speaks
// AMQP as a client does, against a broker that it starts on free ports and stops
// again. It compares what failed with the list of the checks that may still fail.
//
// The list only ever gets shorter: a listed check that passes makes the run fail,
// with the line to delete, and so does a failure that the list does not name.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// options are what the command line gives.
type options struct {
	broker  string // the binary to start
	python  string // the interpreter of the suite
	suite   string // folder that holds run.py
	allowed string // the list of checks that may still fail
	only    string // run these alone: rules, checks, files or folders
	jobs    int
	limit   time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.broker, "broker", "bin/broker", "the broker's binary")
	flag.StringVar(&o.python, "python", "python3", "the interpreter of the checks")
	flag.StringVar(&o.suite, "suite", "", "folder of the conformance checks")
	flag.StringVar(&o.allowed, "allowed", "test/conformance/allowed-failures.txt", "list of the checks that may still fail")
	flag.StringVar(&o.only, "only", "", "rules, check names, files or folders of the suite, comma separated")
	flag.IntVar(&o.jobs, "jobs", 8, "checks that run at once")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "time for all checks together")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		stop()
		os.Exit(1)
	}
}

// run plays the suite against a fresh broker and judges the outcome.
func run(ctx context.Context, o options, out io.Writer) error {
	list, err := readAllowed(o.allowed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()

	b, err := startBroker(ctx, o.broker)
	if err != nil {
		return err
	}
	outcomes, err := runSuite(ctx, o.command(b.addresses), out)
	if stopErr := b.stop(); err == nil {
		err = stopErr
	}
	if err != nil {
		return err
	}
	return judge(outcomes, list, o.only == "").report(out)
}

// command is the interpreter and its arguments for one run.
func (o options) command(at addresses) []string {
	args := []string{o.python, filepath.Join(o.suite, "run.py"), "--amqp", at.amqp, "--jobs", strconv.Itoa(o.jobs)}
	if at.http != "" {
		args = append(args, "--http", at.http)
	}
	if o.only != "" {
		args = append(args, "--only", o.only)
	}
	return args
}
