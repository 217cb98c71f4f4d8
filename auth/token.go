package auth

import (
	"bytes"
	"encoding/base64"
	"strings"
	"time"
)

// Token is what a verified access token says.
type Token struct {
	User string
	// Scopes are the broker's among the token's, without the prefix that marks them as such.
	Scopes []string
	// Expires is when it ends.
	Expires time.Time
}

// TokenVerifier verifies access tokens. It has to be safe for use by any goroutine, and may wait for the keys. Its errors are for the log: they
// must not hold the token.
type TokenVerifier interface {
	Verify(token string) (Token, error)
}

// TakesTokens reports whether logins may wait for a provider of tokens.
func (a *Authenticator) TakesTokens() bool { return a.options.Tokens != nil }

// isToken tells a JWT by its form: three parts, the first of which is a JSON object. No password of a person looks like that.
func isToken(secret string) bool {
	head, _, _ := strings.Cut(secret, ".")
	if strings.Count(secret, ".") != 2 {
		return false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(head)
	return err == nil && bytes.HasPrefix(bytes.TrimSpace(decoded), []byte("{"))
}

// tokenUser finds the user that a token is for. The name that came beside the token is not looked at: anybody can claim one.
func (a *Authenticator) tokenUser(token string) (*User, string) {
	t, err := a.options.Tokens.Verify(token)
	if err != nil {
		return nil, "gave a token that is not good: " + err.Error()
	}
	u := &User{auth: a, name: t.User}
	u.credential.Store(newCredential(t))
	return u, ""
}

// Renew gives the user a new secret. If the user came with a token that has to be another token of the same user, whose tags and scopes take
// the place of the old ones; for all others the secret is of no account. An error is a [*Refusal].
func (u *User) Renew(secret string) error {
	if !u.FromToken() {
		return nil
	}
	renewed, reason := u.auth.tokenUser(secret)
	if reason == "" && renewed.name != u.name {
		reason = "gave a token of somebody else"
	}
	if reason != "" {
		return &Refusal{Mechanism: "update-secret", User: u.name, Reason: reason}
	}
	u.credential.Store(renewed.credential.Load())
	return nil
}

// Expires is when the user's token ends and the user has to be gone, false for users that came without one.
func (u *User) Expires() (at time.Time, ok bool) {
	c := u.credential.Load()
	if c == nil {
		return time.Time{}, false
	}
	return c.Expires, true
}
