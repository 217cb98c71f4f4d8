package management

import (
	"errors"
	"fmt"
	"net/http"

	"leveret/amqp"
	"leveret/auth"
	"leveret/definitions"
	"leveret/server"
)

// failure is an answer other than success: a status and what stands in its body.
type failure struct {
	status int
	body   object // nil: none

	challenge bool // asks for a login
}

// Error is for the log.
func (f *failure) Error() string { return fmt.Sprintf("%d %s", f.status, appendObject(nil, f.body)) }

// failed makes a failure with a body of the usual form. The reason is a text, or a list with an offending value.
func failed(status int, kind string, reason any) *failure {
	return &failure{status: status, body: object{{"error", kind}, {"reason", reason}}}
}

// badRequest is the answer to input that can't be taken: 400. RabbitMQ has no 422, and none of 409 for what differs from what is there.
func badRequest(reason any) *failure { return failed(http.StatusBadRequest, "bad_request", reason) }

// invalid names a value that a field can't have: ["not_boolean", "yes"].
func invalid(why string, value any) *failure { return badRequest([]any{why, value}) }

// notFound is the answer for a path or an object that is not there.
func notFound() *failure { return failed(http.StatusNotFound, "Object Not Found", "Not Found") }

// missing is the answer to a write whose object is not there; what says what it lacks: vhost_not_found.
func missing(what string) *failure { return failed(http.StatusNotFound, "not_found", what) }

// refused is the answer to a user that may not do this. RabbitMQ says 401, never 403.
func refused(reason string) *failure {
	return failed(http.StatusUnauthorized, "not_authorised", reason)
}

// accessRefused is the answer to somebody whose expressions for a virtual host do not match the name.
func accessRefused() *failure { return refused("Access refused.") }

// maxShortString is how many octets names have at most: their length is one octet on the wire.
const maxShortString = 255

// tooLong refuses a name that does not fit into a short string.
func tooLong(what, name string) *failure {
	return badRequest(fmt.Sprintf("%s should be less than %d bytes, actually was %d\n", what, maxShortString, len(name)))
}

// asFailure turns any error into an answer. Protocol errors keep their explanation; anything else is a fault of ours, and the client is not
// told details.
func asFailure(err error) (f *failure, internal bool) {
	if errors.As(err, &f) {
		return f, false
	}
	if f = asRefusal(err); f != nil {
		return f, false
	}
	var e *amqp.Error
	if !errors.As(err, &e) {
		return failed(http.StatusInternalServerError, "internal_error", "internal error, see the broker's log"), true
	}
	switch e.Code {
	case amqp.CodeNotFound:
		return missing(e.Explanation()), false
	// The text of AMQP's error would name the resource; RabbitMQ's API does not.
	case amqp.CodeAccessRefused, amqp.CodeNotAllowed:
		return accessRefused(), false
	}
	return badRequest(e.Explanation()), false
}

// asRefusal turns what users and virtual hosts say of a change that they do not take, nil if it is something else. Their words are RabbitMQ's.
func asRefusal(err error) *failure {
	var user *auth.Invalid
	var host *server.VHostRefusal
	var file *definitions.Refusal
	var value *amqp.ValidationError
	switch {
	case errors.As(err, &file): // before what it wraps: it says where in the file that is
		return badRequest(file.Text)
	case errors.As(err, &value):
		return badRequest(value.Error())
	case errors.As(err, &user):
		if words, isList := user.Reason.([]string); isList {
			return badRequest(words)
		}
		return badRequest(user.Reason)
	case errors.Is(err, server.ErrVHostProtected):
		return failed(http.StatusPreconditionFailed, "precondition_failed", err.Error())
	case errors.Is(err, server.ErrNoVHost):
		return missing(err.Error())
	case errors.As(err, &host):
		return badRequest(host.Text)
	case errors.Is(err, auth.ErrInvalidRegexp):
		return invalid("invalid_regexp", err.Error())
	case errors.Is(err, auth.ErrInvalidHash), errors.Is(err, auth.ErrNoName), errors.Is(err, auth.ErrBlankPassword):
		return badRequest(err.Error())
	}
	return nil
}

// channelError turns the protocol error of a publish or a get into an answer: these go through a channel in RabbitMQ, and its error is shown whole.
func channelError(err error) error {
	var e *amqp.Error
	if !errors.As(err, &e) {
		return err
	}
	return badRequest(fmt.Sprintf("%d %s", e.Code, e.Text))
}
