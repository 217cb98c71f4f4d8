package auth_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

var loopback = auth.Client{Address: netip.MustParseAddr("127.0.0.1")}

// newAuth makes an authenticator that holds these users alone.
func newAuth(t testing.TB, accounts ...auth.Account) *auth.Authenticator {
	t.Helper()
	return newAuthWith(t, func(*auth.Options) {}, accounts...)
}

// newAuthWith is newAuth with other options.
func newAuthWith(t testing.TB, set func(o *auth.Options), accounts ...auth.Account) *auth.Authenticator {
	t.Helper()
	options := auth.DefaultOptions()
	options.DefaultUser = ""
	set(&options)
	a, err := auth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, account := range accounts {
		if err := a.PutUser(account); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func login(a *auth.Authenticator, user, password string) (*auth.User, error) {
	return a.Authenticate("PLAIN", []byte("\x00"+user+"\x00"+password), loopback)
}

// code is that of the error which the client is told, 0 if there is none.
func code(err error) uint16 {
	var wire *amqp.Error
	if errors.As(err, &wire) {
		return wire.Code
	}
	return 0
}

func TestFreshBrokerHasGuest(t *testing.T) {
	a, err := auth.New(auth.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Mechanisms(loopback); got != "PLAIN AMQPLAIN" {
		t.Errorf("mechanisms %q", got)
	}
	user, err := login(a, "guest", "guest")
	if err != nil {
		t.Fatal(err)
	}
	if user.Name() != "guest" || !user.HasTag("administrator") || user.HasTag("impersonator") {
		t.Errorf("name %q, administrator %v", user.Name(), user.HasTag("administrator"))
	}
	if _, ok := user.Rights("/"); !ok {
		t.Error("guest can't open /")
	}
	if _, ok := user.Rights("other"); ok {
		t.Error("guest can open a virtual host that it has no permissions in")
	}
}

func TestLoopbackUsers(t *testing.T) {
	tests := []struct {
		peer string
		ok   bool
	}{
		{"127.0.0.1", true},
		{"127.9.9.9", true},
		{"::1", true},
		{"::ffff:127.0.0.1", true},
		{"10.0.0.1", false},
		{"::ffff:10.0.0.1", false},
		{"fe80::1", false},
		{"", false}, // unknown
	}
	guarded := auth.DefaultOptions()
	lifted := auth.DefaultOptions()
	lifted.LoopbackUsers = nil
	for _, tt := range tests {
		t.Run(tt.peer, func(t *testing.T) {
			peer, _ := netip.ParseAddr(tt.peer)
			a, err := auth.New(guarded)
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Authenticate("PLAIN", []byte("\x00guest\x00guest"), auth.Client{Address: peer})
			if (err == nil) != tt.ok {
				t.Errorf("guarded: %v, want ok %v", err, tt.ok)
			}
			if a, err = auth.New(lifted); err != nil {
				t.Fatal(err)
			}
			if _, err = a.Authenticate("PLAIN", []byte("\x00guest\x00guest"), auth.Client{Address: peer}); err != nil {
				t.Errorf("lifted: %v", err)
			}
		})
	}
}

func TestOtherUsersConnectFromAnywhere(t *testing.T) {
	a := newAuth(t, auth.Account{Name: "u", PasswordHash: test12Hash})
	if _, err := a.Authenticate("PLAIN", []byte("\x00u\x00test12"), auth.Client{Address: netip.MustParseAddr("10.0.0.1")}); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	a := newAuth(t,
		auth.Account{Name: "u", PasswordHash: test12Hash},
		auth.Account{Name: "nohash"},
		auth.Account{Name: "guest", PasswordHash: test12Hash})
	tests := []struct {
		name, user, password, reason string
		peer                         string
	}{
		{"unknown user", "nobody", "x", "does not exist", "127.0.0.1"},
		{"no user", "", "x", "does not exist", "127.0.0.1"},
		{"wrong password", "u", "x", "wrong password", "127.0.0.1"},
		{"blank password", "u", "", "blank password", "127.0.0.1"},
		{"no password hash", "nohash", "x", "wrong password", "127.0.0.1"},
		{"not from loopback", "guest", "test12", "can only connect via localhost", "10.0.0.1"},
	}
	const told = "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a.Authenticate("PLAIN", []byte("\x00"+tt.user+"\x00"+tt.password), auth.Client{Address: netip.MustParseAddr(tt.peer)})
			var refusal *auth.Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if !strings.Contains(refusal.Error(), tt.reason) || refusal.User != tt.user {
				t.Errorf("log line %q, want %q", refusal, tt.reason)
			}
			var wire *amqp.Error
			if !errors.As(err, &wire) || wire.Code != 403 || wire.Text != told {
				t.Errorf("client is told %v", wire)
			}
		})
	}
	if got, want := a.Attempts(), (auth.Attempts{Total: 6, Failed: 6}); got != want {
		t.Errorf("attempts %+v, want %+v", got, want)
	}
}

func TestMechanismMustBeOffered(t *testing.T) {
	options := auth.DefaultOptions()
	options.Mechanisms = []string{"PLAIN"}
	a, err := auth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ mechanism, text string }{
		{"AMQPLAIN", "COMMAND_INVALID - invalid authentication mechanism 'AMQPLAIN'"},
		{"plain", "COMMAND_INVALID - unknown authentication mechanism 'plain'"},
		{"", "COMMAND_INVALID - unknown authentication mechanism ''"},
	}
	for _, tt := range tests {
		_, err := a.Authenticate(tt.mechanism, []byte("\x00guest\x00guest"), loopback)
		var wire *amqp.Error
		if !errors.As(err, &wire) || wire.Code != 503 || wire.Text != tt.text {
			t.Errorf("%q: %v", tt.mechanism, err)
		}
	}
	options.Mechanisms = []string{"PLAIN", "SCRAM"}
	if _, err := auth.New(options); err == nil {
		t.Error("an unknown mechanism may be offered")
	}
}
