package config_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"leveret/auth/oauth"
	"leveret/config"
)

const tokenLines = `auth_backends.1 = rabbit_auth_backend_oauth2
auth_backends.2 = internal
auth_oauth2.resource_server_id = rabbit
auth_oauth2.verify_aud = false
auth_oauth2.issuer = https://issuer
auth_oauth2.jwks_url = https://issuer/keys
auth_oauth2.jwks_file = keys.json
auth_oauth2.signing_keys.id.1 = one.pem
auth_oauth2.signing_keys.id2 = two.pem
auth_oauth2.default_key = id.1
auth_oauth2.https.cacertfile = ca.pem
auth_oauth2.algorithms.1 = ES256
auth_oauth2.clock_skew = 30
auth_oauth2.scope_prefix = ''
auth_oauth2.scope_aliases.1.alias = https://x.y/admin
auth_oauth2.scope_aliases.1.scope = tag:administrator read:*/*
auth_oauth2.scope_aliases.reader = read:*/*
auth_oauth2.additional_scopes_key = roles realm.roles
auth_oauth2.preferred_username_claims.1 = email
auth_oauth2.preferred_username_claims.2 = name
`

func TestTokenSettings(t *testing.T) {
	l := mustLoad(t, tokenLines)
	none := ""
	want := oauth.Options{
		ResourceServer: "rabbit", AnyAudience: true, Issuer: "https://issuer", JWKSURL: "https://issuer/keys", JWKSFile: "keys.json",
		SigningKeys: []oauth.SigningKey{{ID: "id.1", File: "one.pem"}, {ID: "id2", File: "two.pem"}}, DefaultKey: "id.1", CAFile: "ca.pem",
		Algorithms: []string{"ES256"}, ClockSkew: 30 * time.Second, ScopePrefix: &none,
		ScopeAliases:     []oauth.Alias{{Name: "1", Alias: "https://x.y/admin", Scopes: "tag:administrator read:*/*"}, {Name: "reader", Alias: "reader", Scopes: "read:*/*"}},
		AdditionalScopes: "roles realm.roles", UsernameClaims: []string{"email", "name"},
	}
	if !reflect.DeepEqual(l.OAuth, want) || !l.TakesTokens() || l.TokensOnly() || l.Warnings != nil {
		t.Errorf("got %+v, warnings %q", l.OAuth, l.Warnings)
	}
	if err := l.Validate(); err != nil {
		t.Error(err)
	}
	var printed bytes.Buffer
	if err := l.Print(&printed); err != nil {
		t.Fatal(err)
	}
	if again := mustLoad(t, printed.String()); !reflect.DeepEqual(again.OAuth, l.OAuth) || !reflect.DeepEqual(again.AuthBackends, l.AuthBackends) {
		t.Errorf("printed and read again it is %+v", again.OAuth)
	}
}

func TestTokenComplaints(t *testing.T) {
	const good = "auth_backends.1 = oauth2\nauth_oauth2.resource_server_id = r\nauth_oauth2.issuer = https://i\n"
	tests := []struct{ name, lines, want string }{
		{"good", good, ""},
		{"not asked for", "auth_oauth2.jwks_uri = http://example.com\n", ""},
		{"no name", "auth_backends.1 = oauth2\nauth_oauth2.issuer = https://i\n", "resource_server_id is missing"},
		{"no keys", "auth_backends.1 = oauth2\nauth_oauth2.resource_server_id = r\n", "no key"},
		{"several", "auth_backends.1 = oauth2\n", "missing; there is no key"},
		{"in the open", good + "auth_oauth2.jwks_uri = http://example.com\n", "not https"},
		{"unsigned", good + "auth_oauth2.algorithms.1 = none\n", "none is not supported"},
		{"half an alias", good + "auth_oauth2.scope_aliases.1.alias = x\n", "scope_aliases.1 needs"},
		{"another backend", "auth_backends.1 = ldap\n", `"ldap" is not one of internal, oauth2`},
		{"split backend", "auth_backends.1.authn = internal\nauth_backends.1.authz = rabbit_auth_backend_ldap\n", "is not one of"},
	}
	for _, tt := range tests {
		l, err := load(t, tt.lines, nil, nil)
		if err == nil {
			err = l.Validate()
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if l := mustLoad(t, "auth_backends.1 = oauth2"); !l.TokensOnly() {
		t.Error("passwords are taken where only tokens are to be")
	}
	if c := config.Default(); c.TakesTokens() || c.TokensOnly() {
		t.Error("by default tokens are taken")
	}
}
