package rabbitmqctl

import (
	"errors"
	"fmt"
	"net/http"

	"leveret/ctl"
)

// Exit codes of RabbitMQ's tools that those of [ctl] do not have.
const (
	// EX_NOUSER of sysexits.h, where RabbitMQ's tool has its codes from.
	exitNoUser = 67
)

// failure is an error in the words, and with the exit code, that RabbitMQ's tool has for it.
type failure struct {
	text string
	code int
}

// Error is what is printed.
func (f *failure) Error() string { return f.text }

// ExitCode is what the tool ends with.
func (f *failure) ExitCode() int { return f.code }

// Verbatim tells that nothing is to be put before the text: it begins as RabbitMQ's do.
func (f *failure) Verbatim() bool { return true }

// told turns what went wrong into what RabbitMQ's tool says. Scripts look at the exit code: who is not there, which virtual host is not, what a check found.
func (s *session) told(v *verb, args []string, err error) error {
	var usage *ctl.UsageError
	var refused *ctl.Refusal
	switch {
	// It has RabbitMQ's form already.
	case err == nil, errors.As(err, new(*failure)):
		return err
	case errors.As(err, &usage):
		return &failure{"Error (argument validation): " + usage.Text, ctl.ExitUsage}
	case !errors.As(err, &refused) || s.client == nil:
		return err
	// RabbitMQ's checks end with EX_UNAVAILABLE.
	case refused.Status == http.StatusServiceUnavailable: // a check that found something
		return &failure{"Error:\n" + refused.Error(), ctl.ExitUnavailable}
	}
	// Made by the tool, before or after it asked.
	if refused.Method == "" { // not the broker's own
		return &failure{"Error:\n" + refused.Error(), refused.ExitCode()}
	}
	if reason := s.absent(v, args); reason != nil {
		return reason
	}
	text := refused.Error()
	if v.missing != "" && refused.Status == http.StatusNotFound {
		return &failure{v.missing, v.missingCode()}
	}
	code := refused.ExitCode()
	if refused.Status == http.StatusBadRequest {
		// Bad values are EX_SOFTWARE in RabbitMQ, whose node raised an exception over them.
		code = ctl.ExitSoftware
	}
	return &failure{"Error:\n" + text, code}
}

// missingCode is the exit code for something that is not there; queues are told from the rest.
func (v *verb) missingCode() int {
	if v.missing == noQueue {
		return ctl.ExitUsage
	}
	return ctl.ExitSoftware
}

// absent finds out whether it was the user or the virtual host that is not there.
func (s *session) absent(v *verb, args []string) error {
	if v.takesUser() && len(args) > 0 && ctl.IsMissing(s.get(ctl.Path("users", args[0]), nil)) {
		return noUser(args[0])
	}
	vhost := s.vhost
	if v.firstIs("vhost") && len(args) > 0 {
		vhost = args[0]
	}
	if v.name == "add_vhost" {
		return nil
	}
	if ctl.IsMissing(s.get(ctl.Path("vhosts", vhost), nil)) {
		return &failure{fmt.Sprintf("Virtual host '%s' does not exist", vhost), ctl.ExitRefused}
	}
	return nil
}

// noUser is the failure of verbs whose user is not there.
func noUser(name string) error {
	return &failure{fmt.Sprintf(`User "%s" does not exist`, name), exitNoUser}
}

// What RabbitMQ says of things that are not there.
const (
	noQueue     = "Queue not found"
	noParameter = "Parameter does not exist"
)
