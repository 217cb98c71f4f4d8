package vhost

import (
	"slices"
	"strconv"

	"leveret/amqp"
)

// noLimit is the largest integer that a field can have.
const noLimit = 1<<63 - 1

// The functions of this file make the checks of arguments, or are one. Each returns nil or an *amqp.Error 406 about the argument of that name
// of r; the texts are RabbitMQ's.

// anything is the check of arguments that may hold any value.
func anything(amqp.Resource, string, any) error { return nil }

// integer checks for a number from least, which is 0 or 1, to most; over makes the error of a larger one.
func integer(least, most int64, over func(r amqp.Resource, name string, n int64) error) func(amqp.Resource, string, any) error {
	return func(r amqp.Resource, name string, value any) error {
		n, ok := amqp.Integer(value)
		switch {
		case !ok:
			return amqp.InvalidArgument(name, r, amqp.ReasonNoInteger(value))
		case n < 0:
			return amqp.InvalidArgument(name, r, amqp.ReasonNegative(n))
		case n < least:
			return amqp.InvalidArgument(name, r, amqp.ReasonZero())
		case n > most:
			return over(r, name, n)
		}
		return nil
	}
}

// tooLarge and the two below are what is said of a number beyond the limit: RabbitMQ has three texts for it.
func tooLarge(r amqp.Resource, name string, n int64) error {
	return amqp.InvalidArgument(name, r, amqp.ReasonTooLarge(n))
}

func maxExceeded(r amqp.Resource, name string, n int64) error {
	return amqp.InvalidArgument(name, r, amqp.ReasonMaxExceeded(n))
}

func segmentSizeTooLarge(amqp.Resource, string, int64) error { return amqp.SegmentSizeTooLarge() }

// text checks for a string, one of those given if any are; reason is that of another one.
func text(reason string, accepted ...string) func(amqp.Resource, string, any) error {
	return func(r amqp.Resource, name string, value any) error {
		s, ok := value.(string)
		if !ok {
			return amqp.InvalidArgument(name, r, amqp.ReasonType(value))
		}
		if len(accepted) > 0 && !slices.Contains(accepted, s) {
			return amqp.InvalidArgument(name, r, reason)
		}
		return nil
	}
}

// boolean takes true and false, and no number for them.
func boolean(r amqp.Resource, name string, value any) error {
	if _, ok := value.(bool); !ok {
		return amqp.InvalidArgument(name, r, amqp.ReasonType(value))
	}
	return nil
}

// checkType takes the types of queues that there are, and what RabbitMQ takes for none.
func checkType(r amqp.Resource, name string, value any) error {
	s, ok := value.(string)
	switch {
	case !ok:
		return amqp.InvalidArgument(name, r, amqp.ReasonType(value))
	case s == "" || s == "undefined" || slices.Contains(all, queueType(s)):
		return nil
	}
	return amqp.InvalidArgument(name, r, amqp.ReasonQueueType(s))
}

// checkVersion takes the one version of classic queues that is left, as an integer of any width.
func checkVersion(r amqp.Resource, name string, value any) error {
	if err := integer(0, noLimit, nil)(r, name, value); err != nil {
		return err
	}
	if n, _ := amqp.Integer(value); n != 2 {
		return amqp.InvalidArgument(name, r, amqp.ReasonQueueVersion(value))
	}
	return nil
}

// checkFilterSize is of streams: octets of the Bloom filter, 16 to 255.
func checkFilterSize(r amqp.Resource, name string, value any) error {
	if err := integer(0, noLimit, nil)(r, name, value); err != nil {
		return err
	}
	if n, _ := amqp.Integer(value); n < 16 || n > 255 {
		return amqp.InvalidFilterSize()
	}
	return nil
}

// checkMaxAge is of streams: a number with a unit behind it, such as 7D.
func checkMaxAge(r amqp.Resource, name string, value any) error {
	s, ok := value.(string)
	if !ok {
		return amqp.InvalidArgument(name, r, amqp.ReasonType(value))
	}
	if _, ok := parseAge(s); !ok {
		return amqp.InvalidArgument(name, r, amqp.ReasonMaxAge)
	}
	return nil
}

// ageUnits are the letters of x-max-age, in milliseconds.
var ageUnits = map[byte]int64{
	'Y': 365 * 24 * 3600_000, 'M': 30 * 24 * 3600_000, 'D': 24 * 3600_000, 'h': 3600_000, 'm': 60_000, 's': 1000,
}

// parseAge reads an age such as 12h as milliseconds.
func parseAge(s string) (ms int64, ok bool) {
	if s == "" {
		return 0, false
	}
	last := len(s) - 1
	unit := ageUnits[s[last]]
	n, err := strconv.ParseUint(s[:last], 10, 31)
	return int64(n) * unit, err == nil && n > 0 && unit > 0
}

// maxAgeInMilliseconds makes ages comparable: 60m is 1h.
func maxAgeInMilliseconds(t amqp.Table) amqp.Table {
	ms, ok := parseAge(get[string](t, argMaxAge))
	if !ok {
		return t
	}
	return amqp.Table{{Name: argMaxAge, Value: ms}}
}
