package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has one constructor for each kind of setting. Each takes the key and the place in a Config that it writes.

// single is a setting that is one key with one value.
func single(key, flag string, set func(c *Config, value string) error, get func(c *Config) string) setting {
	return setting{
		key: key, flag: flag,
		set: func(c *Config, _, value string) error { return set(c, value) },
		get: func(c *Config) []assignment { return []assignment{{key: key, value: get(c)}} },
	}
}

// parsed is a single setting whose text goes through a function each way.
func parsed[T any](key, flag string, at func(*Config) *T, parse func(string) (T, error), format func(T) string) setting {
	return single(key, flag,
		func(c *Config, value string) error {
			parsed, err := parse(value)
			if err == nil {
				*at(c) = parsed
			}
			return err
		},
		func(c *Config) string { return format(*at(c)) })
}

// verbatim is the format of what is text already.
func verbatim(value string) string { return value }

// text is any text, empty too.
func text(key, flag string, at func(*Config) *string) setting {
	return parsed(key, flag, at, func(value string) (string, error) { return value, nil }, verbatim)
}

// toggle is true or false.
func toggle(key string, at func(*Config) *bool) setting {
	return parsed(key, "", at, parseBool, strconv.FormatBool)
}

// size is a number of bytes. It is printed without a unit, as none fits all.
func size(key string, at func(*Config) *int64) setting {
	return parsed(key, "", at, parseSize, func(n int64) string { return strconv.FormatInt(n, 10) })
}

// integer is a whole number between two bounds, which must fit the type.
func integer[T uint16 | uint32 | int](key string, low, high int64, at func(*Config) *T) setting {
	parse := func(value string) (T, error) {
		n, err := parseInteger(value, low, high)
		return T(n), err
	}
	return parsed(key, "", at, parse, func(n T) string { return strconv.FormatUint(uint64(n), 10) })
}

// duration is a number of units in the file.
func duration(key string, unit, most time.Duration, at func(*Config) *time.Duration) setting {
	parse := func(value string) (time.Duration, error) {
		d, err := parseDuration(value, unit)
		if err == nil && d > most {
			err = fmt.Errorf("%s is more than %s", d, most)
		}
		return d, err
	}
	return parsed(key, "", at, parse, func(d time.Duration) string { return strconv.FormatInt(int64(d/unit), 10) })
}

// offWords switch a timeout off, as 0 does: RabbitMQ's configuration in its two forms knows them.
var offWords = []string{"undefined", "infinity", "false"}

// timeout is a duration that may be switched off.
func timeout(key string, unit, most time.Duration, at func(*Config) *time.Duration) setting {
	s := duration(key, unit, most, at)
	set := s.set
	s.set = func(c *Config, name, value string) error {
		if slices.Contains(offWords, value) {
			value = "0"
		}
		return set(c, name, value)
	}
	return s
}

// share is a watermark as a share of the memory, up to so many times of it. Setting it takes back an absolute one from a place that counts less.
func share(key string, most float64, at func(*Config) *Watermark) setting {
	return single(key, "",
		func(c *Config, value string) error {
			f, err := strconv.ParseFloat(value, 64)
			if err != nil || !(f >= 0 && f <= most) {
				return fmt.Errorf("%q is not a number from 0 to %g", value, most)
			}
			*at(c) = Watermark{Relative: f}
			return nil
		},
		func(c *Config) string { return strconv.FormatFloat(at(c).Relative, 'g', -1, 64) })
}

// option is a word of the file and what it stands for. The first word for a value is the one that is printed.
type option[T comparable] struct {
	word  string
	value T
}

// choice is one of several words.
func choice[T comparable](key, flag string, at func(*Config) *T, options ...option[T]) setting {
	parse := func(value string) (T, error) {
		var words []string
		for _, o := range options {
			if o.word == value {
				return o.value, nil
			}
			words = append(words, o.word)
		}
		var none T
		return none, fmt.Errorf("%q is not one of %s", value, strings.Join(words, ", "))
	}
	format := func(value T) string {
		i := slices.IndexFunc(options, func(o option[T]) bool { return o.value == value })
		return options[max(i, 0)].word
	}
	return parsed(key, flag, at, parse, format)
}

// none is the word that switches a listener, or the disk, off.
const none = "none"

// address is one listener, which may be switched off.
func address(key, flag string, at func(*Config) *string) setting {
	return orNone(key, flag, at, parseAddress)
}

// folder is a folder's path, or none.
func folder(key, flag string, at func(*Config) *string) setting {
	return orNone(key, flag, at, func(value string) (string, error) {
		if value == "" {
			return "", fmt.Errorf("the path is empty; %s for no folder", none)
		}
		return value, nil
	})
}

// orNone is a text that none makes empty.
func orNone(key, flag string, at func(*Config) *string, parseSome func(string) (string, error)) setting {
	parse := func(value string) (string, error) {
		if value == none {
			return "", nil
		}
		return parseSome(value)
	}
	format := func(value string) string {
		if value == "" {
			return none
		}
		return value
	}
	return parsed(key, flag, at, parse, format)
}

// port and host are RabbitMQ's two keys for one address. Either brings back a listener that was switched off.
func port(key string, at func(*Config) *string) setting {
	s := setting{key: key, alias: true}
	s.set = func(c *Config, _, value string) error {
		if _, err := parseAddress(value); err != nil || strings.Contains(value, ":") {
			return fmt.Errorf("%q is not a port", value)
		}
		host, _, _ := net.SplitHostPort(*at(c))
		*at(c) = net.JoinHostPort(host, value)
		return nil
	}
	return s
}

func host(key string, at func(*Config) *string) setting {
	s := setting{key: key, alias: true}
	s.set = func(c *Config, _, value string) error {
		_, port, err := net.SplitHostPort(*at(c))
		if err != nil {
			return fmt.Errorf("there is no port to go with %q", value)
		}
		*at(c) = net.JoinHostPort(value, port)
		return nil
	}
	return s
}

// addresses is a family of listeners. The names after the key only tell its members apart.
func addresses(key, flag string, at func(*Config) *[]string) setting {
	return setting{
		key: key + ".", flag: flag,
		clear: func(c *Config) { *at(c) = nil },
		set: func(c *Config, _, value string) error {
			address, err := parseAddress(value)
			if err == nil {
				*at(c) = append(*at(c), address)
			}
			return err
		},
		get: func(c *Config) []assignment { return numbered(key+".", *at(c)) },
	}
}

// noAddresses is the bare key of a family of listeners, whose only value is none.
func noAddresses(key string, at func(*Config) *[]string) setting {
	return nothing(key, func(c *Config) { *at(c) = nil }, func(c *Config) bool { return len(*at(c)) == 0 })
}

// nothing is a key that empties a family and takes no other value. It is printed only when the family has nothing to print.
func nothing(key string, clear func(c *Config), empty func(c *Config) bool) setting {
	return setting{
		key: key,
		set: func(c *Config, _, value string) error {
			if value != none {
				return fmt.Errorf("%q is not none; single values are set as %s.NAME", value, key)
			}
			clear(c)
			return nil
		},
		get: func(c *Config) []assignment {
			if !empty(c) {
				return nil
			}
			return []assignment{{key: key, value: none}}
		},
	}
}

// list is a family of values in an order, auth_mechanisms.1 and so on. Their order in the file counts, as in RabbitMQ, and not the numbers.
func list[T any](key string, parse func(string) (T, error), format func(T) string, at func(*Config) *[]T) setting {
	return setting{
		key:   key + ".",
		clear: func(c *Config) { *at(c) = nil },
		set: func(c *Config, _, value string) error {
			parsed, err := parse(value)
			if err == nil {
				*at(c) = append(*at(c), parsed)
			}
			return err
		},
		get: func(c *Config) []assignment {
			var texts []string
			for _, value := range *at(c) {
				texts = append(texts, format(value))
			}
			return numbered(key+".", texts)
		},
	}
}

// parseWord is the parser of a list of texts that are checked elsewhere.
func parseWord(value string) (string, error) { return value, nil }

// loopbackUsers is a family whose names are users, each of which is added or taken away.
func loopbackUsers(key string) setting {
	return setting{
		key: key + ".",
		set: func(c *Config, name, value string) error {
			restricted, err := parseBool(value)
			if err != nil {
				return err
			}
			c.LoopbackUsers = without(c.LoopbackUsers, name)
			if restricted {
				c.LoopbackUsers = append(c.LoopbackUsers, name)
			}
			return nil
		},
		get: func(c *Config) []assignment {
			var all []assignment
			for _, name := range c.LoopbackUsers {
				all = append(all, assignment{key: key + "." + name, value: "true"})
			}
			return all
		},
	}
}

// noLoopbackUsers is the bare key of the family of loopback users.
func noLoopbackUsers(key string) setting {
	return nothing(key, func(c *Config) { c.LoopbackUsers = nil }, func(c *Config) bool { return len(c.LoopbackUsers) == 0 })
}
