package auth

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Storage keeps users across restarts, each as one opaque value under its name. The authenticator calls it from one goroutine at a time.
type Storage interface {
	// Load calls each for every value that is there.
	Load(each func(name string, value []byte) error) error
	// Save puts one value, or removes it if value is nil, and returns when that is durable.
	Save(name string, value []byte) error
}

// forgetful is the storage of a broker that keeps nothing.
type forgetful struct{}

func (forgetful) Load(func(string, []byte) error) error { return nil }
func (forgetful) Save(string, []byte) error             { return nil }

// directory is all users at one moment. It never changes once it is published.
type directory struct {
	entries map[string]*entry
}

func load(from Storage) (*directory, error) {
	d := &directory{entries: map[string]*entry{}}
	err := from.Load(func(name string, value []byte) error {
		var account Account
		if err := json.Unmarshal(value, &account); err != nil {
			return fmt.Errorf("stored user %q: %w", name, err)
		}
		account.Name = name
		e, err := compile(account)
		d.entries[name] = e
		return err
	})
	return d, err
}

// change replaces one user: copy, save, swap. Readers that hold the old directory finish with it; the version is raised after the swap, so
// that whoever sees the new version finds the new directory.
func (a *Authenticator) change(name string, edit func(old *entry) (*entry, error)) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	old := a.directory.Load()
	e, err := edit(old.entries[name])
	if err != nil {
		return err
	}
	next := &directory{entries: maps.Clone(old.entries)}
	var value []byte
	if e == nil {
		delete(next.entries, name)
	} else {
		next.entries[name] = e
		if value, err = json.Marshal(e.account); err != nil {
			return fmt.Errorf("save user %q: %w", name, err)
		}
	}
	if err := a.options.Storage.Save(name, value); err != nil {
		return fmt.Errorf("save user %q: %w", name, err)
	}
	a.directory.Store(next)
	a.version.Add(1)
	a.tell(name, old.entries[name], e)
	return nil
}

// edit changes a copy of an existing account, or fails with [ErrNoUser].
func (a *Authenticator) edit(name string, change func(account *Account)) error {
	return a.change(name, func(old *entry) (*entry, error) {
		if old == nil {
			return nil, noUser(name)
		}
		account := old.account.clone()
		change(&account)
		return compile(account)
	})
}

// PutUser makes a user or replaces it whole. It fails with [ErrNoName], [ErrInvalidHash] or [ErrInvalidRegexp], or with what the storage
// said; then nothing has changed.
func (a *Authenticator) PutUser(account Account) error {
	return a.change(account.Name, func(*entry) (*entry, error) { return compile(account.clone()) })
}

// DeleteUser removes a user with its permissions. Handles of open connections stay, and are refused everything from now on.
func (a *Authenticator) DeleteUser(name string) error {
	err := a.change(name, func(old *entry) (*entry, error) {
		if old == nil {
			return nil, noUser(name)
		}
		return nil, nil
	})
	if notify := a.onDelete.Load(); err == nil && notify != nil {
		(*notify)(name)
	}
	return err
}

// OnDelete sets what is called with the name of each user that was deleted, by the goroutine that deleted it.
func (a *Authenticator) OnDelete(notify func(user string)) { a.onDelete.Store(&notify) }

func noUser(name string) error { return &Invalid{ErrNoUser, []string{"no_such_user", name}} }

// SetPermissions gives a user a row in a virtual host, in place of the one it had.
func (a *Authenticator) SetPermissions(user, vhost string, row Permissions) error {
	return a.edit(user, func(account *Account) {
		if account.Permissions == nil {
			account.Permissions = map[string]Permissions{}
		}
		account.Permissions[vhost] = row
	})
}

// ClearPermissions takes the row away, so that the user can't open the virtual host and open channels are refused everything.
func (a *Authenticator) ClearPermissions(user, vhost string) error {
	return a.edit(user, func(account *Account) { delete(account.Permissions, vhost) })
}

// SetTopicPermissions restricts what a user may publish to, and bind to, one topic exchange.
func (a *Authenticator) SetTopicPermissions(user, vhost, exchange string, row TopicPermissions) error {
	return a.edit(user, func(account *Account) {
		if account.TopicPermissions == nil {
			account.TopicPermissions = map[string]map[string]TopicPermissions{}
		}
		if account.TopicPermissions[vhost] == nil {
			account.TopicPermissions[vhost] = map[string]TopicPermissions{}
		}
		account.TopicPermissions[vhost][exchange] = row
	})
}

// ClearTopicPermissions lifts the restriction.
func (a *Authenticator) ClearTopicPermissions(user, vhost, exchange string) error {
	return a.edit(user, func(account *Account) { delete(account.TopicPermissions[vhost], exchange) })
}

// Users returns copies of all accounts, ordered by name.
func (a *Authenticator) Users() []Account {
	entries := a.directory.Load().entries
	accounts := make([]Account, 0, len(entries))
	for _, e := range entries {
		accounts = append(accounts, e.account.clone())
	}
	slices.SortFunc(accounts, func(x, y Account) int { return strings.Compare(x.Name, y.Name) })
	return accounts
}
