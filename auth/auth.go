package auth

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"leveret/amqp"
)

// Options say how logins are checked and where users last.
type Options struct {
	// Storage keeps the users; nil means that they last as long as the process.
	Storage Storage
	// Mechanisms are the SASL mechanisms that clients may choose from, in the order in which they are offered.
	Mechanisms []string
	// LoopbackUsers may log in from a loopback address only. Empty lifts the rule.
	LoopbackUsers []string
	// CheckPassword returns why a new password may not be used; nil admits all. See [MinPasswordLength] and [PasswordPattern].
	CheckPassword func(password string) error
	// DefaultUser, DefaultPassword and DefaultVHost make the first user, with the tag administrator and all permissions, when the
	// storage holds no user at all. An empty DefaultUser makes none.
	DefaultUser, DefaultPassword, DefaultVHost string
}

// DefaultOptions are those of a fresh broker: guest, with the password guest, from loopback only.
func DefaultOptions() Options {
	return Options{
		Mechanisms:      []string{"PLAIN", "AMQPLAIN"},
		LoopbackUsers:   []string{"guest"},
		DefaultUser:     "guest",
		DefaultPassword: "guest",
		DefaultVHost:    "/",
	}
}

// Authenticator checks logins and holds the users. It is safe for use by any goroutine.
type Authenticator struct {
	options   Options
	directory atomic.Pointer[directory]
	version   atomic.Uint64
	changing  sync.Mutex // held by whoever makes the next directory
	onDelete  atomic.Pointer[func(user string)]

	attempts, failures atomic.Uint64
}

// New loads the users, and makes the default user when there is none.
func New(options Options) (*Authenticator, error) {
	if options.Storage == nil {
		options.Storage = forgetful{}
	}
	for _, name := range options.Mechanisms {
		if mechanisms[name] == nil {
			return nil, fmt.Errorf("unknown authentication mechanism %q", name)
		}
	}
	a := &Authenticator{options: options}
	d, err := load(options.Storage)
	if err != nil {
		return nil, err
	}
	a.directory.Store(d)
	if len(d.entries) == 0 && options.DefaultUser != "" {
		return a, a.addDefaultUser()
	}
	return a, nil
}

func (a *Authenticator) addDefaultUser() error {
	hash, err := HashPassword(SHA256, a.options.DefaultPassword)
	if err != nil {
		return fmt.Errorf("default user: %w", err)
	}
	return a.PutUser(Account{
		Name:         a.options.DefaultUser,
		PasswordHash: hash,
		Tags:         []string{"administrator"},
		Permissions:  map[string]Permissions{a.options.DefaultVHost: AllPermissions()},
	})
}

// Mechanisms is the list for connection.start, with a space between the names.
func (a *Authenticator) Mechanisms() string { return strings.Join(a.options.Mechanisms, " ") }

// Authenticate checks the response that a client at peer gave in connection.start-ok. Errors are [*amqp.Error] for what is no proper
// login at all (unknown mechanism 503, response of the wrong shape 502), and [*Refusal] for one that is turned down.
func (a *Authenticator) Authenticate(mechanism string, response []byte, peer netip.Addr) (*User, error) {
	a.attempts.Add(1)
	user, err := a.authenticate(mechanism, attempt{response: response, peer: peer})
	if err != nil {
		a.failures.Add(1)
	}
	return user, err
}

func (a *Authenticator) authenticate(mechanism string, at attempt) (*User, error) {
	m := mechanisms[mechanism]
	if m == nil {
		return nil, amqp.UnknownMechanism(mechanism)
	}
	if !slices.Contains(a.options.Mechanisms, mechanism) {
		return nil, amqp.InvalidMechanism(mechanism)
	}
	e, err := m.login(a, at)
	if err == nil {
		err = a.admit(e, at.peer)
	}
	if refusal, ok := err.(*Refusal); ok {
		refusal.Mechanism = mechanism
	}
	if err != nil {
		return nil, err
	}
	return &User{auth: a, name: e.account.Name}, nil
}

// verify finds the account that has this name and password.
func (a *Authenticator) verify(name, password string) (*entry, error) {
	e := a.directory.Load().entries[name]
	switch {
	case e == nil:
		SHA256.verify(decoyHash, password) // takes as long as for a user that exists
		return nil, &Refusal{User: name, Reason: "does not exist"}
	case password == "":
		return nil, &Refusal{User: name, Reason: "gave a blank password"}
	case !e.account.HashingAlgorithm.verify(e.account.PasswordHash, password):
		return nil, &Refusal{User: name, Reason: "gave a wrong password"}
	}
	return e, nil
}

// decoyHash belongs to nobody: its password is not known.
const decoyHash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// admit holds the rules that are about the user and not about its proof.
func (a *Authenticator) admit(e *entry, peer netip.Addr) error {
	name := e.account.Name
	if slices.Contains(a.options.LoopbackUsers, name) && !peer.Unmap().IsLoopback() {
		return &Refusal{User: name, Reason: "can only connect via localhost"}
	}
	return nil
}

// Attempts counts logins since the start.
type Attempts struct{ Total, Failed uint64 }

// Attempts returns the counts so far.
func (a *Authenticator) Attempts() Attempts {
	failed := a.failures.Load() // before the total, so that it is never above it
	return Attempts{Total: a.attempts.Load(), Failed: failed}
}
