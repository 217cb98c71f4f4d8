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
)

// outcome of one check.
type outcome string

const (
	passed  outcome = "ok"
	failed  outcome = "FAIL"
	skipped outcome = "skip"
)

// runSuite runs the checks and returns the outcome of each by its name. Lines of
// checks that passed are not shown. That some failed is no error here.
func runSuite(ctx context.Context, command []string, out io.Writer) (map[string]outcome, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = out
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	outcomes, complete, scanErr := readOutcomes(lines, out)
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case scanErr != nil:
		return nil, scanErr
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the checks were stopped: %w", context.Cause(ctx))
	case err != nil && !errors.As(err, &exit):
		return nil, err
	case !complete:
		return nil, fmt.Errorf("the checks ended without a summary: %w", err)
	}
	return outcomes, nil
}

// A line is "<outcome> <rule> <words of the name>: <title>[ -- <detail>]", where
// rule and words joined by underscores are the check's name.
var checkLine = regexp.MustCompile(`^(ok|FAIL|skip) +([A-Z]{1,2}[0-9]{1,2}) ([a-zA-Z0-9 ]+): `)

// readOutcomes reads the suite's lines up to its summary, and copies to out those that matter to a reader.
func readOutcomes(lines io.Reader, out io.Writer) (outcomes map[string]outcome, complete bool, err error) {
	outcomes = map[string]outcome{}
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := scanner.Text()
		got := checkLine.FindStringSubmatch(line)
		if got != nil {
			outcomes[got[2]+"_"+strings.ReplaceAll(got[3], " ", "_")] = outcome(got[1])
		}
		complete = strings.HasPrefix(line, "conformance: ")
		if got == nil || outcome(got[1]) == failed {
			fmt.Fprintln(out, line)
		}
	}
	return outcomes, complete, scanner.Err()
}
