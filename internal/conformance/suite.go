package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// outcome of one check, in the suite's own words.
type outcome string

const (
	passed  outcome = "ok"
	failed  outcome = "FAIL"
	skipped outcome = "skip"
)

// killDelay is how long a stopped suite's own processes may hold on to its output.
const killDelay = 2 * time.Second

// report is what the suite's lines told.
type report struct {
	outcomes map[string]outcome // by the check's name
	complete bool               // the summary was there
	err      error              // in reading the lines
}

// runSuite runs the checks and returns the outcome of each by its name. Lines of
// checks that passed are not shown. That some failed is no error here.
func runSuite(ctx context.Context, command []string, out io.Writer) (map[string]outcome, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = out
	cmd.WaitDelay = killDelay
	// A pipe of our own: Wait must be able to give up on it, when processes that the
	// suite started outlive it.
	lines, stdout := io.Pipe()
	cmd.Stdout = stdout
	reported := make(chan report, 1)
	go func() {
		r := readOutcomes(lines, out)
		lines.CloseWithError(r.err) // nobody reads on: the suite must not wait for that
		reported <- r
	}()
	err := cmd.Run()
	stdout.Close()
	r := <-reported

	var exit *exec.ExitError
	switch {
	case r.err != nil:
		return nil, r.err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the checks were stopped: %w", context.Cause(ctx))
	case err != nil && !errors.As(err, &exit):
		return nil, err
	case !r.complete:
		return nil, fmt.Errorf("the checks ended without a summary: %w", err)
	}
	return r.outcomes, nil
}

// A line is "<outcome> <rule> <words of the name>: <title>[ -- <detail>]", where
// rule and words joined by underscores are the check's name.
var checkLine = regexp.MustCompile(`^(ok|FAIL|skip) +([A-Z]{1,2}[0-9]{1,2}) ([a-zA-Z0-9 ]+): `)

// readOutcomes reads the suite's lines, and copies to out those that matter to a
// reader: all but the checks that passed or did not apply.
func readOutcomes(lines io.Reader, out io.Writer) report {
	r := report{outcomes: map[string]outcome{}}
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 1<<20) // details quote what a broker sent
	for scanner.Scan() {
		line := scanner.Text()
		got := checkLine.FindStringSubmatch(line)
		if got != nil {
			r.outcomes[got[2]+"_"+strings.ReplaceAll(got[3], " ", "_")] = outcome(got[1])
		}
		r.complete = strings.HasPrefix(line, "conformance: ")
		if got == nil || outcome(got[1]) == failed {
			fmt.Fprintln(out, line)
		}
	}
	r.err = scanner.Err()
	return r
}
