package config

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// parse reads the form of rabbitmq.conf: a key, an equals sign and a value on each line, and comments from a hash to the end of the line.
// A value in single quotes may hold a hash. name stands in the origin of each line and in errors.
func parse(name string, file io.Reader) ([]assignment, []error) {
	var all []assignment
	var errs []error
	scanner := bufio.NewScanner(file)
	for number := 1; scanner.Scan(); number++ {
		origin := fmt.Sprintf("%s:%d", name, number)
		key, value, err := parseLine(scanner.Text())
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", origin, err))
		case key != "":
			all = append(all, assignment{key: key, value: value, origin: origin})
		}
	}
	if err := scanner.Err(); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return all, errs
}

// parseLine returns an empty key for a line that sets nothing.
func parseLine(line string) (key, value string, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", nil
	}
	key, value, found := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !found || key == "" || strings.ContainsAny(key, " \t#'") {
		return "", "", fmt.Errorf("%q is not of the form key = value", line)
	}
	if strings.HasPrefix(value, "'") {
		quoted, rest, closed := strings.Cut(value[1:], "'")
		rest = strings.TrimSpace(rest)
		if !closed || rest != "" && rest[0] != '#' {
			return "", "", fmt.Errorf("the quotes around %s's value don't match", key)
		}
		return key, quoted, nil
	}
	value, _, _ = strings.Cut(value, "#")
	return key, strings.TrimSpace(value), nil
}
