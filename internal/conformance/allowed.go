package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// readAllowed reads the list of the checks that may still fail.
func readAllowed(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	list, err := parseAllowed(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// parseAllowed reads lines of a check's name and the reason why it may still fail.
// Empty lines and lines that begin with # are for the reader.
func parseAllowed(text []byte) (map[string]string, error) {
	list := map[string]string{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		name, reason, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if name == "" || name[0] == '#' {
			continue
		}
		reason = strings.TrimSpace(reason)
		if reason == "" {
			return nil, fmt.Errorf("line %d: %s has no reason", n, name)
		}
		if _, twice := list[name]; twice {
			return nil, fmt.Errorf("line %d: %s stands there twice", n, name)
		}
		list[name] = reason
	}
	return list, nil
}

// verdict is the outcome of a run beside the list.
type verdict struct {
	unexpected []string // failed, not listed
	mended     []string // listed, passed
	unknown    []string // listed, no such check
	expected   int      // failed, listed
	passed     int
	skipped    int
}

// judge compares the outcomes with the list. complete tells that all checks ran, so
// that a listed one without an outcome does not exist.
func judge(outcomes map[string]outcome, list map[string]string, complete bool) verdict {
	var v verdict
	for _, name := range slices.Sorted(maps.Keys(outcomes)) {
		_, listed := list[name]
		switch outcomes[name] {
		case passed:
			v.passed++
			if listed {
				v.mended = append(v.mended, name)
			}
		case skipped:
			v.skipped++
		case failed:
			if listed {
				v.expected++
			} else {
				v.unexpected = append(v.unexpected, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if _, ran := outcomes[name]; complete && !ran {
			v.unknown = append(v.unknown, name)
		}
	}
	return v
}

// report prints the verdict; an error says that the run is not what it should be.
func (v verdict) report(out io.Writer) error {
	for _, name := range v.unexpected {
		fmt.Fprintf(out, "%s fails and is not on the list\n", name)
	}
	for _, name := range v.mended {
		fmt.Fprintf(out, "%s passes: delete its line from the list\n", name)
	}
	for _, name := range v.unknown {
		fmt.Fprintf(out, "%s is no check: delete its line from the list\n", name)
	}
	fmt.Fprintf(out, "%d passed, %d failed as listed, %d failed beyond the list, %d skipped\n",
		v.passed, v.expected, len(v.unexpected), v.skipped)
	if bad := len(v.unexpected) + len(v.mended) + len(v.unknown); bad > 0 {
		return fmt.Errorf("%d checks are not as the list says", bad)
	}
	if v.passed == 0 {
		return fmt.Errorf("no check passed")
	}
	return nil
}
