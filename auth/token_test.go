package auth_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/auth"
)

// aToken has a token's form: what it says is up to the verifier of the test. The first part is {}.
const aToken = "e30.e30.x"

// verifier is a [auth.TokenVerifier] that knows its tokens beforehand.
type verifier map[string]auth.Token

func (v verifier) Verify(token string) (auth.Token, error) {
	t, found := v[token]
	if !found {
		return t, errors.New("forged")
	}
	return t, nil
}

// trusting takes any text in a token's form for this token.
func trusting(t auth.Token) auth.TokenVerifier { return verifier{aToken: t} }

func TestTokenLogin(t *testing.T) {
	tokens := verifier{aToken: {User: "worker", Scopes: []string{"read:v/*"}, Expires: time.Now().Add(time.Hour)}}
	account := auth.Account{Name: "u", PasswordHash: test12Hash}
	tests := []struct {
		name           string
		only           bool
		verifier       auth.TokenVerifier
		user, password string
		want           string // user, empty: refused
		mention        string
	}{
		{"token", false, tokens, "whoever", aToken, "worker", ""},
		{"token without a name", false, tokens, "", aToken, "worker", ""},
		{"forged", false, tokens, "u", "e30.e30.y", "", "forged"},
		{"password beside tokens", false, tokens, "u", "test12", "u", ""},
		{"password where tokens are needed", true, tokens, "u", "test12", "", "gave no token"},
		{"token alone", true, tokens, "u", aToken, "worker", ""},
		{"token where none are taken", false, nil, "u", aToken, "", "wrong password"},
		{"not quite a token", false, tokens, "u", "e30.e30", "", "wrong password"},
		{"dots in a password", false, tokens, "u", "a.b.c", "", "wrong password"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthWith(t, func(o *auth.Options) { o.Tokens, o.TokensOnly = tt.verifier, tt.only }, account)
			user, err := login(a, tt.user, tt.password)
			var refusal *auth.Refusal
			switch {
			case tt.want == "" && (!errors.As(err, &refusal) || !strings.Contains(err.Error(), tt.mention) || strings.Contains(err.Error(), "e30")):
				t.Errorf("got %v, want a refusal that says %q and not the token", err, tt.mention)
			case tt.want != "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && user.Name() != tt.want:
				t.Errorf("is %q, want %q", user.Name(), tt.want)
			}
		})
	}
}

// The other ways to log in must not be a way around tokens either.
func TestTokensOnly(t *testing.T) {
	a := newAuthWith(t, func(o *auth.Options) {
		o.Mechanisms, o.Tokens, o.TokensOnly, o.AnonymousUser, o.AnonymousPassword = auth.KnownMechanisms(), verifier{}, true, "u", "test12"
		o.CertificateName.From = auth.FromCommonName
	}, auth.Account{Name: "u", PasswordHash: test12Hash})
	from := loopback
	from.Certificate = certificate(t, x509.Certificate{Subject: pkix.Name{CommonName: "u"}})
	for _, mechanism := range []string{"ANONYMOUS", "EXTERNAL"} {
		if _, err := a.Authenticate(mechanism, nil, from); code(err) != 403 {
			t.Errorf("%s: %v", mechanism, err)
		}
	}
}

// An account of the same name gives a token's user nothing, and takes nothing from it.
func TestTokenUserIsNoAccount(t *testing.T) {
	tokens := verifier{aToken: {User: "u", Scopes: []string{"read:v/*"}, Expires: time.Now().Add(time.Hour)}}
	a := newAuthWith(t, func(o *auth.Options) { o.Tokens = tokens }, auth.Account{
		Name: "u", Tags: []string{"administrator"}, Permissions: map[string]auth.Permissions{"w": auth.AllPermissions(), "v": auth.AllPermissions()},
		Limits: auth.Limits{auth.MaxConnections: 0},
	})
	user, err := login(a, "u", aToken)
	if err != nil {
		t.Fatal(err)
	}
	if _, limited := user.Limit(auth.MaxConnections); limited || user.HasTag("administrator") || user.HasAccount() {
		t.Error("the account's tags and limits are the token's user's")
	}
	rights, ok := user.Rights("w")
	if err := rights.Read(amqp.QueueResource, "q"); ok || err == nil {
		t.Error("the account's virtual host is open")
	}
	rights, _ = user.Rights("v")
	if rights.Write(amqp.QueueResource, "q") == nil {
		t.Error("the account's right counts")
	}
	if err := a.DeleteUser("u"); err != nil {
		t.Fatal(err)
	}
	if err := rights.Read(amqp.QueueResource, "q"); err != nil {
		t.Errorf("after the account is gone: %v", err)
	}
}

func TestRenew(t *testing.T) {
	later := time.Now().Add(2 * time.Hour)
	tokens := verifier{
		aToken:      {User: "u", Scopes: []string{"read:v/a"}, Expires: time.Now().Add(time.Hour)},
		"e30.e30.2": {User: "u", Scopes: []string{"read:v/b", "tag:monitoring"}, Expires: later},
		"e30.e30.3": {User: "w", Scopes: []string{"read:v/*"}, Expires: later},
	}
	a := newAuthWith(t, func(o *auth.Options) { o.Tokens = tokens }, auth.Account{Name: "p", PasswordHash: test12Hash})
	user, err := login(a, "", aToken)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"e30.e30.3", "e30.e30.x4", "test12", ""} {
		var refusal *auth.Refusal
		if err := user.Renew(bad); !errors.As(err, &refusal) || refusal.User != "u" {
			t.Errorf("renewed with %q: %v", bad, err)
		}
	}
	if at, ok := user.Expires(); !ok || !at.Before(later) {
		t.Errorf("a refused token moved the end to %v", at)
	}
	if err := user.Renew("e30.e30.2"); err != nil {
		t.Fatal(err)
	}
	rights, _ := user.Rights("v")
	if at, _ := user.Expires(); !at.Equal(later) || !user.HasTag("monitoring") || rights.Read(amqp.QueueResource, "a") == nil || rights.Read(amqp.QueueResource, "b") != nil {
		t.Errorf("after the renewal: ends %v, tags %q", at, user.Tags())
	}
	other, err := login(a, "p", "test12")
	if err != nil {
		t.Fatal(err)
	}
	if _, ends := other.Expires(); other.Renew("anything") != nil || ends {
		t.Error("a user with a password is asked for a token")
	}
}

// Tokens are guessed at no faster than passwords.
func TestForgedTokensAreHeldBack(t *testing.T) {
	a := newAuthWith(t, func(o *auth.Options) {
		o.Tokens, o.FailureLimit, o.FailureInterval = trusting(auth.Token{User: "u"}), 2, time.Hour
	})
	for range 2 {
		if _, err := login(a, "u", "e30.e30.y"); code(err) != 403 {
			t.Fatal(err)
		}
	}
	if _, err := login(a, "u", aToken); err == nil || !strings.Contains(err.Error(), "failed too often") {
		t.Errorf("got %v", err)
	}
}
