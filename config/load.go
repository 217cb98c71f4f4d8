package config

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Sources are the places that settings come from. The zero value has the defaults alone.
type Sources struct {
	File    string              // path of the file; empty: none
	Environ []string            // variables as of os.Environ
	Flags   map[string][]string // values by flag name, of the flags that were given
}

// Loaded is a configuration together with where it comes from.
type Loaded struct {
	Config
	// Warnings are about what was accepted and has no effect.
	Warnings []string

	origins map[string]string // by key; a family by its own // what Print shows
}

// Load reads all sources. The error joins everything that is wrong, each line with its place; Load does not call [Config.Validate].
func Load(from Sources) (*Loaded, error) {
	l := &Loaded{Config: Default(), origins: map[string]string{}}
	var errs []error
	if from.File != "" {
		file, err := os.Open(from.File)
		if err != nil {
			return nil, fmt.Errorf("configuration file: %w", err)
		}
		defer file.Close() // only read
		lines, bad := parse(from.File, file)
		errs = append(append(errs, bad...), l.apply(lines)...)
	}
	rabbitMQs, ours, warnings := fromEnvironment(from.Environ)
	l.Warnings = append(l.Warnings, warnings...)
	// Two sources and not one: a list of ours replaces a list of RabbitMQ's, and is not added to it.
	errs = append(append(errs, l.apply(rabbitMQs)...), l.apply(ours)...)
	errs = append(errs, l.apply(fromFlags(from.Flags))...)
	return l, errors.Join(errs...)
}

// fromFlags turns the flags that were given into assignments, in the order of the settings. Of a flag that takes one value the last counts.
func fromFlags(flags map[string][]string) []assignment {
	var all []assignment
	for _, s := range settings {
		values := flags[s.flag]
		if s.flag == "" || len(values) == 0 {
			continue
		}
		named := []assignment{{key: s.key, value: values[len(values)-1]}}
		if s.family() {
			named = numbered(s.key, values)
		}
		for _, a := range named {
			a.origin = "--" + s.flag
			all = append(all, a)
		}
	}
	return all
}

// apply sets what one source says. A family is emptied before its first member, as a source that lists listeners means those and no
// others; a key that comes twice counts the second time, as in RabbitMQ.
func (l *Loaded) apply(source []assignment) []error {
	last := map[string]int{}
	for i, a := range source {
		last[a.key] = i
	}
	cleared := map[string]bool{}
	var errs []error
	for i, a := range source {
		if last[a.key] != i {
			continue
		}
		if err := l.set(a, cleared); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.origin, err))
		}
	}
	return errs
}

// set makes one assignment. Families in cleared have been emptied by the same source before.
func (l *Loaded) set(a assignment, cleared map[string]bool) error {
	s, name, found := find(a.key)
	if !found {
		if isRabbitMQKey(a.key) {
			l.Warnings = append(l.Warnings, fmt.Sprintf("%s: %s has no effect here", a.origin, a.key))
			return nil
		}
		return fmt.Errorf("unknown key %s, nearest is %s", a.key, nearest(a.key))
	}
	if s.clear != nil && !cleared[s.key] {
		cleared[s.key] = true
		s.clear(&l.Config)
	}
	if err := s.set(&l.Config, name, a.value); err != nil {
		return fmt.Errorf("%s: %w", a.key, err)
	}
	l.origins[s.key] = a.origin
	return nil
}

// Print writes every setting in the form of the file, each with where its value comes from. Passwords are left out.
func (l *Loaded) Print(w io.Writer) error {
	var b strings.Builder
	for _, a := range lines(l.Config) {
		s, _, _ := find(a.key)
		origin := l.origins[s.key]
		if origin == "" {
			origin = "default"
		}
		fmt.Fprintf(&b, "%-40s # %s\n", written(a), origin)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Lines are all settings in the form of the file. Passwords are left out.
func (c Config) Lines() string {
	var b strings.Builder
	for _, a := range lines(c) {
		b.WriteString(written(a) + "\n")
	}
	return b.String()
}

// written is a setting as a line of the file.
func written(a assignment) string {
	value := presentable(a)
	if strings.Contains(value, "#") {
		value = "'" + value + "'" // or the hash would begin a comment
	}
	return a.key + " = " + value
}

// presentable is a setting's value without the password that it is, or that stands in it.
func presentable(a assignment) string {
	if slices.Contains(secretKeys, a.key) {
		return "********"
	}
	if u, err := url.Parse(a.value); err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			return u.Redacted()
		}
	}
	return a.value
}
