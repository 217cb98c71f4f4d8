package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxTags is how many tags a user may have.
const maxTags = 32

// protectedTag keeps a user from being changed over HTTP.
const protectedTag = "protected"

// UserUpdate is what an operator says of a user, with the fields of a definitions file and of the HTTP API.
type UserUpdate struct {
	Name string
	// Password and PasswordHash: one of them at most. With neither of them, or an empty one, the user can't log in with a password.
	Password, PasswordHash *string
	// HashingAlgorithm is that of PasswordHash; empty is the default one. A hash that begins with "$2" is bcrypt whatever stands here.
	HashingAlgorithm Hashing
	// Tags have to be given: nil is an error, empty is none.
	Tags []string
	// Limits replace the ones that the user has; nil leaves them.
	Limits Limits
	// Permissions are those of a user that this makes, by virtual host. One that is there keeps its own.
	Permissions map[string]Permissions
}

// SetUser makes a user, or changes the password, tags and limits of the one that is there and leaves its permissions. Errors are [*Invalid]
// and the storage's; then nothing has changed.
func (a *Authenticator) SetUser(u UserUpdate) (created bool, err error) {
	hash, hashing, err := a.passwordOf(&u)
	if err != nil {
		return false, err
	}
	tags, err := checkTags(u.Tags)
	if err != nil {
		return false, err
	}
	if err := u.Limits.check(); err != nil {
		return false, err
	}
	err = a.change(u.Name, func(old *entry) (*entry, error) {
		created = old == nil
		account := Account{Name: u.Name, Permissions: u.Permissions}
		if old != nil {
			account = old.account.clone()
		}
		account.PasswordHash, account.HashingAlgorithm, account.Tags = hash, hashing, tags
		if u.Limits != nil {
			account.Limits = u.Limits
		}
		return compile(account.clone())
	})
	return created && err == nil, err
}

// passwordOf gives the hash to store for what an update says.
func (a *Authenticator) passwordOf(u *UserUpdate) (hash string, h Hashing, err error) {
	switch {
	case u.Password != nil && u.PasswordHash != nil:
		return "", "", &Invalid{ErrBothPasswords, ErrBothPasswords.Error()}
	case u.PasswordHash != nil:
		if _, err := base64.StdEncoding.DecodeString(*u.PasswordHash); err != nil && !isBcrypt(*u.PasswordHash) {
			return "", "", &Invalid{ErrInvalidHash, []string{"not_base64", *u.PasswordHash}}
		}
		return *u.PasswordHash, u.HashingAlgorithm, nil
	case u.Password != nil:
		return a.newHash(*u.Password)
	}
	return "", "", nil
}

// newHash hashes a new password, if the rules for passwords admit it. The blank one is kept as no hash at all: it never logs anybody in.
func (a *Authenticator) newHash(password string) (string, Hashing, error) {
	if check := a.options.CheckPassword; check != nil {
		if err := check(password); err != nil {
			return "", "", &Invalid{ErrWeakPassword, err.Error()}
		}
	}
	if password == "" {
		return "", SHA256, nil
	}
	hash, err := HashPassword(SHA256, password)
	return hash, SHA256, err
}

func checkTags(tags []string) ([]string, error) {
	if tags == nil {
		return nil, &Invalid{ErrNoTags, ErrNoTags.Error()}
	}
	if len(tags) > maxTags {
		return nil, &Invalid{ErrTooManyTags, fmt.Sprintf("A user can have at most %d tags (received %d)", maxTags, len(tags))}
	}
	return tags, nil
}

// SplitTags reads tags as they stand in one text, with commas between them.
func SplitTags(text string) []string {
	tags := []string{}
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// SetPassword changes a user's password. Open connections stay; the old password opens no new ones.
func (a *Authenticator) SetPassword(user, password string) error {
	hash, hashing, err := a.newHash(password)
	if err != nil {
		return err
	}
	return a.edit(user, func(account *Account) { account.PasswordHash, account.HashingAlgorithm = hash, hashing })
}

// ClearPassword takes the password away, so that the user can log in by other means alone.
func (a *Authenticator) ClearPassword(user string) error {
	return a.edit(user, func(account *Account) { account.PasswordHash = "" })
}

// SetTags replaces a user's tags.
func (a *Authenticator) SetTags(user string, tags []string) error {
	tags, err := checkTags(append([]string{}, tags...))
	if err != nil {
		return err
	}
	return a.edit(user, func(account *Account) { account.Tags = tags })
}

// DeleteUsers deletes those of the users that there are.
func (a *Authenticator) DeleteUsers(names []string) error {
	for _, name := range names {
		if err := a.DeleteUser(name); err != nil && !errors.Is(err, ErrNoUser) {
			return err
		}
	}
	return nil
}

// Account returns a copy of one user's account.
func (a *Authenticator) Account(name string) (Account, bool) {
	e := a.directory.Load().entries[name]
	if e == nil {
		return Account{}, false
	}
	return e.account.clone(), true
}

// CheckUnprotected returns an [*Invalid] if the user must not be changed over HTTP.
func (a *Authenticator) CheckUnprotected(name string) error {
	if e := a.directory.Load().entries[name]; e != nil && slices.Contains(e.account.Tags, protectedTag) {
		return &Invalid{ErrProtected, "Protected users cannot be modified via the HTTP API"}
	}
	return nil
}

// ForgetVHost takes away all users' permissions in a virtual host that is gone.
func (a *Authenticator) ForgetVHost(vhost string) error {
	for _, account := range a.Users() {
		if _, row := account.Permissions[vhost]; !row && account.TopicPermissions[vhost] == nil {
			continue
		}
		err := a.edit(account.Name, func(account *Account) {
			delete(account.Permissions, vhost)
			delete(account.TopicPermissions, vhost)
		})
		if err != nil && !errors.Is(err, ErrNoUser) {
			return err
		}
	}
	return nil
}
