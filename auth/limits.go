package auth

import (
	"fmt"
	"maps"
	"slices"
)

// The limits that a user may have.
const (
	MaxConnections = "max-connections"
	MaxChannels    = "max-channels" // on all connections of the user together
)

// LimitNames are the names that an account's limits may hold.
func LimitNames() []string { return []string{MaxConnections, MaxChannels} }

// Limits are a user's limits by their names. A negative number is no limit, 0 forbids everything.
type Limits map[string]int64

// check refuses names that are no limit's.
func (l Limits) check() error {
	for name, value := range l {
		if !slices.Contains(LimitNames(), name) {
			return &Invalid{ErrUnknownLimit, fmt.Sprintf("Unrecognised terms [{<<\"%s\">>,%d}] in user-limits", name, value)}
		}
	}
	return nil
}

// SetLimit sets one limit of a user. It counts from now on: connections and channels that are open stay.
func (a *Authenticator) SetLimit(user, limit string, value int64) error {
	return a.SetLimits(user, Limits{limit: value})
}

// SetLimits sets the given limits of a user and leaves the others as they are.
func (a *Authenticator) SetLimits(user string, limits Limits) error {
	if err := limits.check(); err != nil {
		return err
	}
	return a.edit(user, func(account *Account) {
		if account.Limits == nil {
			account.Limits = Limits{}
		}
		maps.Copy(account.Limits, limits)
	})
}

// ClearLimit takes one limit away; that it was not set is no error.
func (a *Authenticator) ClearLimit(user, limit string) error {
	return a.edit(user, func(account *Account) { delete(account.Limits, limit) })
}

// Limit is the user's limit of that name at this moment, or false when there is none.
func (u *User) Limit(name string) (limit int64, ok bool) {
	e := u.auth.directory.Load().entries[u.name]
	if e == nil || !u.HasAccount() {
		return 0, false
	}
	limit, ok = e.account.Limits[name]
	return limit, ok && limit >= 0
}
