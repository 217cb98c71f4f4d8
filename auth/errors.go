package auth

import (
	"errors"
	"fmt"
	"strings"

	"leveret/amqp"
)

// What a change of users can be refused for.
var (
	ErrNoName        = errors.New("a user needs a name")
	ErrNoUser        = errors.New("no such user")
	ErrBlankPassword = errors.New("a password can't be blank")
	ErrInvalidHash   = errors.New("invalid password hash")
	ErrInvalidRegexp = errors.New("invalid regexp")
	ErrNoTags        = errors.New("tags_not_present")
	ErrTooManyTags   = errors.New("too many tags")
	ErrBothPasswords = errors.New("both_password_and_password_hash_are_provided")
	ErrWeakPassword  = errors.New("the password does not meet the rules")
	ErrUnknownLimit  = errors.New("unknown limit")
	ErrProtected     = errors.New("the user is protected")
)

// Invalid is a change of a user that is refused for what it says.
type Invalid struct {
	Kind error // one of the errors above
	// Reason is RabbitMQ's, as the HTTP API shows it: a text, or a list of a word and the value that it is about.
	Reason any
}

// Error is the reason as one line.
func (i *Invalid) Error() string {
	if words, ok := i.Reason.([]string); ok {
		return strings.Join(words, " ")
	}
	return fmt.Sprint(i.Reason)
}

// Unwrap is the kind.
func (i *Invalid) Unwrap() error { return i.Kind }

// Refusal is a login that was understood and turned down. Its text is for the broker's log; it holds no secret. The client is told the
// same whatever the reason was, so that guessing teaches nothing: Refusal unwraps to that [*amqp.Error].
type Refusal struct {
	Mechanism string
	User      string // as claimed, so any text at all
	Reason    string
	// LoopbackOnly: the proof was right, but this user may log in from the broker's own machine alone.
	LoopbackOnly bool
	// Repeated: much the same has been said a moment ago, so the log can do without.
	Repeated bool
}

// Error is the line for the log.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s login refused: user %q %s", r.Mechanism, r.User, r.Reason)
}

// Unwrap returns the 403 for the client.
func (r *Refusal) Unwrap() error { return amqp.LoginRefused(r.Mechanism) }
