package config

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// units are the size suffixes of rabbitmq.conf. A lone letter counts in powers of two, as it does there.
var units = map[string]int64{
	"": 1, "B": 1,
	"k": 1 << 10, "K": 1 << 10, "kiB": 1 << 10, "KiB": 1 << 10, "kB": 1e3, "KB": 1e3,
	"M": 1 << 20, "MiB": 1 << 20, "MB": 1e6,
	"G": 1 << 30, "GiB": 1 << 30, "GB": 1e9,
	"T": 1 << 40, "TiB": 1 << 40, "TB": 1e12,
}

// parseSize reads a number of bytes with an optional unit, such as 2GB or 64MiB.
func parseSize(value string) (int64, error) {
	digits := strings.TrimRight(value, "BbiIkKMGT ")
	unit, known := units[strings.TrimSpace(value[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !known || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a size such as 64MB", value)
	}
	return n * unit, nil
}

// parseInteger reads a whole number between low and high.
func parseInteger(value string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", value)
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%d is not between %d and %d", n, low, high)
	}
	return n, nil
}

// parseDuration reads a number of units, as rabbitmq.conf has it, or a duration with its unit, such as 10s.
func parseDuration(value string, unit time.Duration) (time.Duration, error) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/int64(unit) {
		return time.Duration(n) * unit, nil
	}
	// A fraction of the unit is refused rather than rounded: printed, it would be another value.
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d%unit != 0 {
		return 0, fmt.Errorf("%q is not a duration in units of %s", value, unit)
	}
	return d, nil
}

// parseBool reads true or false, and the words that rabbitmq.conf allows beside them.
func parseBool(value string) (bool, error) {
	switch value {
	case "true", "on", "yes":
		return true, nil
	case "false", "off", "no":
		return false, nil
	}
	return false, fmt.Errorf("%q is not true or false", value)
}

// parseAddress reads a port, or a host with a port. A host that is an IPv6 address may do without brackets.
func parseAddress(value string) (string, error) {
	host, port, found := cutLast(value, ":")
	if !found {
		host, port = "", value
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("%q is not a port or an address such as 127.0.0.1:5672", value)
	}
	// JoinHostPort puts brackets where they belong.
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return net.JoinHostPort(host, port), nil
}

// cutLast is [strings.Cut] around the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}
