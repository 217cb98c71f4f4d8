package oauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Options say which tokens are good, and how to read them.
type Options struct {
	// ResourceServer is the broker's name at the provider. It has to be among a token's audience, and scopes begin with it and a dot.
	ResourceServer string
	// AnyAudience takes tokens that are meant for others too.
	AnyAudience bool
	// Issuer has to be a token's issuer, if it is set. Without another source of keys they come from what the issuer publishes (OpenID Connect Discovery).
	Issuer string
	// JWKSURL, JWKSFile and SigningKeys are the sources of keys; keys of SigningKeys come first, and the URL before the file.
	JWKSURL, JWKSFile string
	SigningKeys       []SigningKey
	// DefaultKey is the ID of the key of tokens that name none. Without it such a token is good only where there is one key.
	DefaultKey string
	// CAFile, in PEM, holds who may vouch for the provider's TLS certificate; empty: whom the system trusts.
	CAFile string
	// Algorithms are the signatures that count.
	Algorithms []string
	// ClockSkew is how far the provider's clock may be from ours; a token is good for that much longer.
	ClockSkew time.Duration
	// ScopePrefix is what the broker's scopes begin with; nil is ResourceServer and a dot.
	ScopePrefix *string
	// ScopeAliases are scopes that stand for others.
	ScopeAliases []Alias
	// AdditionalScopes are further claims with scopes, separated by spaces; a dot leads into a claim.
	AdditionalScopes string
	// UsernameClaims are looked at for the user's name, in this order and before sub and client_id.
	UsernameClaims []string
}

// SigningKey is a public key, or a certificate with one, in a PEM file.
type SigningKey struct{ ID, File string }

// Alias is a scope of the provider's own, and the broker's scopes that it stands for, separated by spaces. Its own name only tells several apart.
type Alias struct{ Name, Alias, Scopes string }

// DefaultOptions take signatures by private keys alone, since whoever may check the others may make them too.
func DefaultOptions() Options {
	return Options{
		Algorithms: []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"},
		ClockSkew:  5 * time.Second,
	}
}

// Check says everything that is wrong with the options; it opens nothing.
func (o *Options) Check() error {
	var errs []error
	complain := func(condition bool, format string, args ...any) {
		if condition {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	complain(o.ResourceServer == "", "auth_oauth2.resource_server_id is missing")
	complain(o.JWKSURL == "" && o.JWKSFile == "" && len(o.SigningKeys) == 0 && o.Issuer == "",
		"there is no key to check tokens with: set auth_oauth2.issuer, jwks_uri, jwks_file or signing_keys.ID")
	complain(o.JWKSURL != "" && !Confidential(o.JWKSURL), "auth_oauth2.jwks_uri = %s is not https", o.JWKSURL)
	complain(o.discovers() && !Confidential(o.Issuer), "auth_oauth2.issuer = %s is not https", o.Issuer)
	complain(len(o.Algorithms) == 0, "auth_oauth2.algorithms leaves none")
	for _, name := range o.Algorithms {
		complain(name == "none" || jwt.GetSigningMethod(name) == nil, "auth_oauth2.algorithms: %s is not supported", name)
	}
	for _, a := range o.ScopeAliases {
		complain(a.Alias == "" || a.Scopes == "", "auth_oauth2.scope_aliases.%s needs an alias and a scope", a.Name)
	}
	return errors.Join(errs...)
}

// discovers tells whether the issuer has to say where its keys are.
func (o *Options) discovers() bool {
	return o.Issuer != "" && o.JWKSURL == "" && o.JWKSFile == "" && len(o.SigningKeys) == 0
}

// Confidential tells URLs that nobody on the way can answer in the server's place: https, and http on this machine. Whoever could would make tokens,
// or users, of its own.
func Confidential(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host, _ := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || host.IsLoopback())
}
