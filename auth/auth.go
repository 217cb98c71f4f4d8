package auth

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leveret/events"
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
	// DefaultUser, DefaultPassword and DefaultVHost make the first user when the storage holds no user at all. An empty DefaultUser makes
	// none.
	DefaultUser, DefaultPassword, DefaultVHost string
	// DefaultTags and DefaultPermissions are the first user's.
	DefaultTags        []string
	DefaultPermissions Permissions
	// AnonymousUser and AnonymousPassword are what ANONYMOUS logs in with, if that is among the mechanisms.
	AnonymousUser, AnonymousPassword string
	// CertificateName says which user a client's certificate stands for.
	CertificateName CertificateName
	// FailureLimit is how often an address may fail to log in as one user before it has to wait; 0 is no limit. With all users together it
	// may fail ten times as often. One failure is forgiven in each FailureInterval.
	FailureLimit    int
	FailureInterval time.Duration
	// Tokens verifies access tokens, which may be given in a password's place; nil takes none.
	Tokens TokenVerifier
	// TokensOnly: nobody gets in but with a token. The accounts are not looked at.
	TokensOnly bool
	// Events are told what becomes of users and permissions; nil for nobody.
	Events *events.Bus
	// TrackSources counts logins by address and user too, for [Authenticator.AttemptsBySource].
	TrackSources bool
}

// DefaultOptions are those of a fresh broker: guest, with the password guest, from loopback only.
func DefaultOptions() Options {
	return Options{
		Mechanisms:         []string{"PLAIN", "AMQPLAIN"},
		LoopbackUsers:      []string{"guest"},
		DefaultUser:        "guest",
		DefaultPassword:    "guest",
		DefaultVHost:       "/",
		DefaultTags:        []string{"administrator"},
		DefaultPermissions: AllPermissions(),
		AnonymousUser:      "guest",
		AnonymousPassword:  "guest",
		CertificateName:    CertificateName{From: FromDistinguishedName, AlternativeType: "dns"},
		FailureLimit:       20,
		FailureInterval:    time.Second,
	}
}

// Authenticator checks logins and holds the users. It is safe for use by any goroutine.
type Authenticator struct {
	options   Options
	directory atomic.Pointer[directory]
	version   atomic.Uint64
	changing  sync.Mutex // held by whoever makes the next directory
	onDelete  atomic.Pointer[func(user string)]

	attempts ledger
	throttle throttle
	loopback atomic.Pointer[[]string] // users that may come from a loopback address only
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
	a := &Authenticator{
		options:  options,
		throttle: throttle{burst: options.FailureLimit, every: forgiveness(options.FailureInterval)},
	}
	a.SetLoopbackUsers(options.LoopbackUsers)
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
		Tags:         a.options.DefaultTags,
		Permissions:  map[string]Permissions{a.options.DefaultVHost: a.options.DefaultPermissions},
	})
}

// Authenticate checks the response that a client gave in connection.start-ok. Errors are [*amqp.Error] for what is no proper login at all
// (unknown mechanism 503, response of the wrong shape 502), and [*Refusal] for one that is turned down.
func (a *Authenticator) Authenticate(mechanism string, response []byte, from Client) (*User, error) {
	return a.attempt(mechanism, &from, func() (*User, error) {
		m, err := a.mechanism(mechanism, &from)
		if err != nil {
			return nil, err
		}
		return m.login(a, response, &from)
	})
}

// Login checks a name and a password, or a token in its place, that came in some other way than by SASL, such as HTTP's basic
// authentication. A refusal is a [*Refusal].
func (a *Authenticator) Login(name, password string, from Client) (*User, error) {
	return a.attempt("password", &from, func() (*User, error) { return a.verify(name, password, &from) })
}

// attempt makes one login: it admits the user, and counts and names what went wrong.
func (a *Authenticator) attempt(how string, from *Client, prove func() (*User, error)) (*User, error) {
	user, err := prove()
	if err == nil {
		err = a.admit(user.name, from.Address)
	}
	claimed := ""
	if refusal, ok := err.(*Refusal); ok {
		refusal.Mechanism, claimed = how, refusal.User
	} else if err == nil {
		claimed = user.name
	}
	a.attempts.count(from, claimed, err != nil, a.options.TrackSources)
	if err != nil {
		return nil, err
	}
	return user, nil
}

// verify finds the user that has this name and password. Whoever has failed too often is not looked at.
func (a *Authenticator) verify(name, password string, from *Client) (*User, error) {
	if ok, news := a.throttle.admits(from, name); !ok {
		return nil, &Refusal{User: name, Reason: "has failed too often from this address", Repeated: !news}
	}
	user, reason := a.prove(name, password)
	if reason != "" {
		a.throttle.failed(from, name)
		return nil, &Refusal{User: name, Reason: reason}
	}
	return user, nil
}

// prove finds the user by what was given as the password, or says why there is none.
func (a *Authenticator) prove(name, password string) (user *User, reason string) {
	if a.options.Tokens != nil && isToken(password) {
		return a.tokenUser(password)
	}
	if reason := a.wrongPassword(name, password); reason != "" {
		return nil, reason
	}
	return &User{auth: a, name: name}, ""
}

// wrongPassword says what is wrong with a name and a password, nothing if they are right.
func (a *Authenticator) wrongPassword(name, password string) string {
	e := a.directory.Load().entries[name]
	switch {
	case a.options.TokensOnly:
		return "gave no token"
	case e == nil:
		SHA256.verify(decoyHash, password) // takes as long as for a user that exists
		return "does not exist"
	case password == "":
		return "gave a blank password"
	case !e.account.HashingAlgorithm.verify(e.account.PasswordHash, password):
		return "gave a wrong password"
	}
	return ""
}

// decoyHash belongs to nobody: its password is not known.
const decoyHash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// admit holds the rules that are about the user and not about its proof.
func (a *Authenticator) admit(name string, peer netip.Addr) error {
	if slices.Contains(*a.loopback.Load(), name) && !peer.Unmap().IsLoopback() {
		return &Refusal{User: name, Reason: "can only connect via localhost", LoopbackOnly: true}
	}
	return nil
}
