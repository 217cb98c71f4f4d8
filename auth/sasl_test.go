package auth_test

import (
	"crypto/x509"
	"errors"
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

// field is one field of an AMQPLAIN response: name, tag, and a value with a length in four bytes.
func field(name string, tag byte, value string) string {
	return string(rune(len(name))) + name + string(tag) + "\x00\x00\x00" + string(rune(len(value))) + value
}

func TestPlainResponses(t *testing.T) {
	a := newAuth(t, auth.Account{Name: "u", PasswordHash: test12Hash})
	tests := []struct {
		name, response string
		code           uint16 // 0: logged in
	}{
		{"proper", "\x00u\x00test12", 0},
		{"empty", "", 502},
		{"name alone", "\x00u", 502},
		{"authorization identity", "u\x00u\x00test12", 502},
		{"zero byte in the password", "\x00u\x00test12\x00", 502},
		{"no zero bytes", "utest12", 502},
		{"three zero bytes", "\x00\x00\x00", 502},
		{"empty name and password", "\x00\x00", 403},
		{"not UTF-8", "\x00\xff\x00\xfe", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantLogin(t, a, "PLAIN", tt.response, tt.code) })
	}
}

func TestAMQPlainResponses(t *testing.T) {
	a := newAuth(t, auth.Account{Name: "u", PasswordHash: test12Hash})
	login, password := field("LOGIN", 'S', "u"), field("PASSWORD", 'S', "test12")
	tests := []struct {
		name, response string
		code           uint16
	}{
		{"proper", login + password, 0},
		{"other order", password + login, 0},
		{"more fields", login + field("REALM", 'S', "x") + password, 0},
		{"bytes", field("LOGIN", 'x', "u") + field("PASSWORD", 'x', "test12"), 0},
		{"wrong password", login + field("PASSWORD", 'S', "x"), 403},
		{"empty", "", 502},
		{"no password", login, 502},
		{"no login", password, 502},
		{"lower case", field("login", 'S', "u") + password, 502},
		{"login is true", "\x05LOGINt\x01" + password, 502},
		{"cut short", (login + password)[:20], 502},
		{"with its length", "\x00\x00\x00\x20" + login + password, 502},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantLogin(t, a, "AMQPLAIN", tt.response, tt.code) })
	}
}

func wantLogin(t *testing.T, a *auth.Authenticator, mechanism, response string, code uint16) {
	t.Helper()
	user, err := a.Authenticate(mechanism, []byte(response), loopback)
	var wire *amqp.Error
	switch {
	case code == 0 && err != nil:
		t.Errorf("refused: %v", err)
	case code == 0 && user.Name() != "u":
		t.Errorf("logged in as %q", user.Name())
	case code != 0 && (!errors.As(err, &wire) || wire.Code != code):
		t.Errorf("got %v, want %d", err, code)
	}
	var refusal *auth.Refusal
	if errors.As(err, &refusal) != (code == 403) {
		t.Errorf("a refusal is a 403 and nothing else: %v", err)
	}
}

// FuzzAuthenticate holds that whatever the response, somebody is let in only with the right name and password.
func FuzzAuthenticate(f *testing.F) {
	f.Add("PLAIN", []byte("\x00u\x00test12"))
	f.Add("PLAIN", []byte("x\x00u\x00test12"))
	f.Add("AMQPLAIN", []byte(field("LOGIN", 'S', "u")+field("PASSWORD", 'S', "test12")))
	f.Add("AMQPLAIN", []byte("\x05LOGINF\x00\x00\x00\xff"))
	f.Add("AMQPLAIN", []byte("\x05LOGINA\xff\xff\xff\xff"))
	f.Add("EXTERNAL", []byte("u"))
	f.Add("ANONYMOUS", []byte("u"))
	a := newAuthWith(f, func(o *auth.Options) { o.Mechanisms, o.FailureLimit, o.AnonymousUser = auth.KnownMechanisms(), 0, "v" },
		auth.Account{Name: "u", PasswordHash: test12Hash}, auth.Account{Name: "v", PasswordHash: test12Hash})
	from := auth.Client{Address: loopback.Address, Certificate: certificate(f, x509.Certificate{})} // of nobody
	f.Fuzz(func(t *testing.T, mechanism string, response []byte) {
		user, err := a.Authenticate(mechanism, response, from)
		if (user == nil) == (err == nil) {
			t.Fatalf("user %v and error %v", user, err)
		}
		var wire *amqp.Error
		if err != nil && !errors.As(err, &wire) {
			t.Errorf("error without a code: %v", err)
		}
		if err == nil && user.Name() != "u" {
			t.Errorf("%q is let in", user.Name())
		}
	})
}
