package auth

import (
	"errors"
	"fmt"

	"leveret/amqp"
)

// What a change of users can be refused for.
var (
	ErrNoName        = errors.New("a user needs a name")
	ErrNoUser        = errors.New("no such user")
	ErrBlankPassword = errors.New("a password can't be blank")
	ErrInvalidHash   = errors.New("invalid password hash")
	ErrInvalidRegexp = errors.New("invalid regexp")
)

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
