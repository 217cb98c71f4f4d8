package auth

import (
	"fmt"
	"maps"
	"slices"
)

// Account is all that is kept about a user, with the field names of a definitions file. Accounts given out by this package are copies.
type Account struct {
	// Name is what the user logs in with; any text but the empty one.
	Name string `json:"name"`
	// PasswordHash is base64 of salt and digest, see [HashPassword]. An account without one can't log in with a password.
	PasswordHash string `json:"password_hash"`
	// HashingAlgorithm names the digest of PasswordHash; empty means the default, SHA256.
	HashingAlgorithm Hashing `json:"hashing_algorithm"`
	// Tags give rights outside of AMQP (administrator, monitoring, ...) and the right to set any user-id (impersonator).
	Tags []string `json:"tags"`
	// Permissions has a row for each virtual host that the user may open.
	Permissions map[string]Permissions `json:"permissions,omitempty"`
	// TopicPermissions has rows by virtual host, then by exchange. A topic exchange without a row is not restricted.
	TopicPermissions map[string]map[string]TopicPermissions `json:"topic_permissions,omitempty"`
	// Limits are the user's own, see [LimitNames].
	Limits Limits `json:"limits,omitempty"`
}

// Permissions are one user's rights in one virtual host: three regular expressions that are searched in the name of the exchange or queue.
// The empty expression allows nothing.
type Permissions struct {
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// AllPermissions allows everything in a virtual host.
func AllPermissions() Permissions { return Permissions{Configure: ".*", Write: ".*", Read: ".*"} }

// TopicPermissions restrict the routing keys that a user may publish with to one topic exchange, and the keys it may bind. The variables
// {username} and {vhost} stand for the user's own name and virtual host.
type TopicPermissions struct {
	Write string `json:"write"`
	Read  string `json:"read"`
}

// clone copies the account so deeply that changing the copy leaves the original alone.
func (a *Account) clone() Account {
	c := *a
	c.Tags = slices.Clone(a.Tags)
	c.Permissions = maps.Clone(a.Permissions)
	c.TopicPermissions = maps.Clone(a.TopicPermissions)
	c.Limits = maps.Clone(a.Limits)
	for vhost, rows := range c.TopicPermissions {
		c.TopicPermissions[vhost] = maps.Clone(rows)
	}
	return c
}

// entry is an account as the directory holds it: immutable, with its expressions compiled.
type entry struct {
	account Account
	grants  map[string]*grant // by virtual host
}

// grant is the compiled form of a row of [Permissions] with the topic rows of the same virtual host.
type grant struct {
	configure, write, read pattern
	topics                 map[string]topicGrant // by exchange
	scopes                 []scope               // of a token, which has no rows; what they say of routing keys is found there
}

type topicGrant struct{ write, read pattern }

// compile checks an account and prepares it for the directory.
func compile(account Account) (*entry, error) {
	if account.Name == "" {
		return nil, ErrNoName
	}
	if account.HashingAlgorithm == "" {
		account.HashingAlgorithm = SHA256
	}
	if account.PasswordHash != "" {
		if err := account.HashingAlgorithm.check(account.PasswordHash); err != nil {
			return nil, fmt.Errorf("user %q: %w", account.Name, err)
		}
	}
	e := &entry{account: account, grants: make(map[string]*grant, len(account.Permissions))}
	for vhost, row := range account.Permissions {
		g, err := compileGrant(account.Name, vhost, row, account.TopicPermissions[vhost])
		if err != nil {
			return nil, fmt.Errorf("permissions of user %q in vhost %q: %w", account.Name, vhost, err)
		}
		e.grants[vhost] = g
	}
	return e, nil
}

func compileGrant(user, vhost string, row Permissions, topics map[string]TopicPermissions) (*grant, error) {
	var errs firstError
	g := &grant{
		configure: errs.compile(row.Configure),
		write:     errs.compile(row.Write),
		read:      errs.compile(row.Read),
		topics:    make(map[string]topicGrant, len(topics)),
	}
	for exchange, topic := range topics {
		g.topics[exchange] = topicGrant{
			write: errs.compile(substitute(topic.Write, user, vhost)),
			read:  errs.compile(substitute(topic.Read, user, vhost)),
		}
	}
	return g, errs.err
}

// firstError compiles one expression after another and keeps the first failure.
type firstError struct{ err error }

func (f *firstError) compile(expression string) pattern {
	p, err := compilePattern(expression)
	if f.err == nil {
		f.err = err
	}
	return p
}
