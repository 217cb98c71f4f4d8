package auth

import (
	"slices"
	"sync/atomic"
)

// User is somebody who has logged in. It is a handle: what it may do is looked up at each question, so it is never out of date; but for a token's
// user, whose rights stand in the token. Safe for use by any goroutine.
type User struct {
	auth       *Authenticator
	name       string
	operator   bool                       // there is no account
	credential atomic.Pointer[credential] // of a token's user, who has no account either; nil for all others
}

// Name is the user's name, as it appears in errors and in the user-id property.
func (u *User) Name() string { return u.name }

// HasAccount reports whether the user has logged in to an account, and is not somebody whom the machine or a token vouches for: only accounts have
// permissions and limits.
func (u *User) HasAccount() bool { return !u.operator && !u.FromToken() }

// FromToken reports whether a provider of tokens knows the user, and not this broker.
func (u *User) FromToken() bool { return u.credential.Load() != nil }

// Tags are what the user has at this moment. The slice is not to be changed.
func (u *User) Tags() []string {
	if u.operator {
		return operatorTags
	}
	if c := u.credential.Load(); c != nil {
		return c.tags
	}
	if e := u.auth.directory.Load().entries[u.name]; e != nil {
		return e.account.Tags
	}
	return nil
}

// HasTag reports whether the user has a tag at this moment.
func (u *User) HasTag(tag string) bool { return slices.Contains(u.Tags(), tag) }

// Rights returns the user's rights in a virtual host, or false when it has no row of permissions there and so may not open it. Each call
// makes a handle with a memory of its own, for one goroutine. A token's rights are those of this moment: who renews the token asks anew.
func (u *User) Rights(vhost string) (*Rights, bool) {
	r := &Rights{auth: u.auth, user: u.name, vhost: vhost, fixed: !u.HasAccount()}
	if u.operator {
		r.grant = everywhere
	} else if c := u.credential.Load(); c != nil {
		r.grant = c.in(vhost)
	}
	r.refresh()
	return r, r.grant != nil
}
