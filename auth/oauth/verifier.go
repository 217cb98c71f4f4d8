package oauth

import (
	"errors"
	"fmt"

	"leveret/auth"

	"github.com/golang-jwt/jwt/v5"
)

// Verifier verifies tokens. It is safe for use by any goroutine.
type Verifier struct {
	options Options // not changed after New
	prefix  string  // of the broker's scopes
	aliases map[string]string
	parser  *jwt.Parser
	keys    *keys
}

// New makes a verifier. It reads the files of single keys; a set of keys is read with the first token, or by [Verifier.Refresh].
func New(o Options) (*Verifier, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	v := &Verifier{options: o, prefix: o.ResourceServer + ".", aliases: make(map[string]string)}
	if o.ScopePrefix != nil {
		v.prefix = *o.ScopePrefix
	}
	for _, a := range o.ScopeAliases {
		v.aliases[a.Alias] = a.Scopes
	}
	// A token without an end would be good for ever, whoever has stolen it.
	rules := []jwt.ParserOption{jwt.WithValidMethods(o.Algorithms), jwt.WithLeeway(o.ClockSkew), jwt.WithExpirationRequired()}
	if !o.AnyAudience {
		rules = append(rules, jwt.WithAudience(o.ResourceServer))
	}
	if o.Issuer != "" {
		rules = append(rules, jwt.WithIssuer(o.Issuer))
	}
	v.parser = jwt.NewParser(rules...)
	var err error
	v.keys, err = newKeys(&o)
	return v, err
}

// Refresh reads the set of keys, so that a source that does not work is known at the start.
func (v *Verifier) Refresh() error { return v.keys.refresh() }

// maxName is the length of the longest user name: it has to fit a short string of AMQP.
const maxName = 255

var (
	errNoName   = errors.New("it names no user")
	errExtended = errors.New("it has to be understood by extensions (crit) that are not there")
)

// Verify returns what a token says, or why it is not good. It may take some seconds if the keys have to be fetched. Errors do not hold the
// token.
func (v *Verifier) Verify(token string) (auth.Token, error) {
	claims := jwt.MapClaims{}
	parsed, err := v.parser.ParseWithClaims(token, claims, v.keys.find)
	if err != nil {
		return auth.Token{}, err
	}
	if _, extended := parsed.Header["crit"]; extended { // RFC 7515, 4.1.11; the library does not look
		return auth.Token{}, errExtended
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return auth.Token{}, fmt.Errorf("when it ends is not said: %w", err)
	}
	name := v.username(claims)
	if name == "" || len(name) > maxName {
		return auth.Token{}, errNoName
	}
	scopes, err := v.scopes(claims)
	if err != nil {
		return auth.Token{}, err
	}
	return auth.Token{User: name, Scopes: scopes, Expires: expires.Add(v.options.ClockSkew)}, nil
}

// username is the first of the claims for it that is a text.
func (v *Verifier) username(claims jwt.MapClaims) string {
	for _, list := range [][]string{v.options.UsernameClaims, {"sub", "client_id"}} {
		for _, claim := range list {
			if name, _ := claims[claim].(string); name != "" {
				return name
			}
		}
	}
	return ""
}
