package auth

import "slices"

// User is somebody who has logged in. It is a handle: what it may do is looked up at each question, so it is never out of date. Safe for
// use by any goroutine.
type User struct {
	auth     *Authenticator
	name     string
	operator bool // there is no account
}

// Name is the user's name, as it appears in errors and in the user-id property.
func (u *User) Name() string { return u.name }

// HasAccount reports whether the user has logged in to an account, and is not an operator whom the machine vouches for: only accounts have permissions.
func (u *User) HasAccount() bool { return !u.operator }

// HasTag reports whether the account carries a tag at this moment.
func (u *User) HasTag(tag string) bool {
	if u.operator {
		return tag == administratorTag || tag == impersonatorTag
	}
	e := u.auth.directory.Load().entries[u.name]
	return e != nil && slices.Contains(e.account.Tags, tag)
}

// Rights returns the user's rights in a virtual host, or false when it has no row of permissions there and so may not open it. Each call
// makes a handle with a memory of its own, for one goroutine.
func (u *User) Rights(vhost string) (*Rights, bool) {
	r := &Rights{auth: u.auth, user: u.name, vhost: vhost, operator: u.operator}
	r.refresh()
	return r, r.grant != nil
}
