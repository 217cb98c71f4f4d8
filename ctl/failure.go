package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Exit codes, those of RabbitMQ's tools.
const (
	ExitUsage       = 64
	ExitRefused     = 65 // the broker says no: bad data, nothing there, not allowed
	ExitUnavailable = 69 // nobody answers
	ExitSoftware    = 70 // the broker, or this tool, has a fault
	ExitTimeout     = 75
)

// UsageError is a command line that can't be understood.
type UsageError struct{ Text string }

// Error is the sentence for people.
func (e *UsageError) Error() string { return e.Text }

// ExitCode is what a command ends with.
func (e *UsageError) ExitCode() int { return ExitUsage }

// Refusal is an answer of the broker that says no.
type Refusal struct {
	Status int
	Reason string // the broker's own words
	Method string
	Path   string
	Body   []byte
}

// Error is the broker's reason, or what it answered if it gave none.
func (e *Refusal) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s %s: the broker answered %d %s", e.Method, e.Path, e.Status, http.StatusText(e.Status))
	}
	return e.Reason
}

// ExitCode is what a command ends with.
func (e *Refusal) ExitCode() int {
	if e.Status >= http.StatusInternalServerError && e.Status != http.StatusServiceUnavailable {
		return ExitSoftware
	}
	return ExitRefused
}

// IsMissing reports whether an error says that there is no such thing.
func IsMissing(err error) bool {
	var refused *Refusal
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// refusal reads the reason off an answer. It is a text as a rule, and a list of texts for some.
func refusal(method, path string, status int, body []byte) *Refusal {
	e := &Refusal{Status: status, Method: method, Path: path, Body: body}
	var answer struct{ Error, Reason any }
	if json.Unmarshal(body, &answer) == nil && answer.Reason != nil {
		e.Reason = reasonText(answer.Reason)
	}
	switch {
	case status == http.StatusUnauthorized && (e.Reason == "" || e.Reason == "Not_Authorized"):
		e.Reason = "user or password is wrong, or not given: see --user and --password"
	case status == http.StatusNotFound && (e.Reason == "" || e.Reason == "Not Found"):
		e.Reason = "not found: " + path
	}
	return e
}

// reasonText makes one line of a reason: RabbitMQ's have blank lines in them, and lists of a word and the value that it is about.
func reasonText(reason any) string {
	parts, isList := reason.([]any)
	if !isList {
		parts = []any{reason}
	}
	var texts []string
	for _, part := range parts {
		text, isText := part.(string)
		if !isText {
			encoded, _ := json.Marshal(part) // it was JSON a moment ago
			text = string(encoded)
		}
		texts = append(texts, strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), ": "))
	}
	return strings.Join(texts, ": ")
}

// Unavailable is an answer that did not come.
type Unavailable struct {
	Cause error
	Late  bool // the time was over
}

// Error says that there is no answer, and why.
func (e *Unavailable) Error() string {
	if e.Late {
		return "the broker did not answer in time"
	}
	return "the broker does not answer: " + e.Cause.Error()
}

// Unwrap is the cause.
func (e *Unavailable) Unwrap() error { return e.Cause }

// ExitCode is what a command ends with.
func (e *Unavailable) ExitCode() int {
	if e.Late {
		return ExitTimeout
	}
	return ExitUnavailable
}

// unreachable is what is said of an answer that did not come, or not whole.
func unreachable(ctx context.Context, err error) error {
	return &Unavailable{Cause: err, Late: errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)}
}

// ExitCode is what a command ends with that returned err.
func ExitCode(err error) int {
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.ExitCode()
	}
	return ExitSoftware
}
