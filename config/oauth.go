package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leveret/auth/oauth"
)

// The places where users may be known, for auth_backends.
const (
	InternalBackend = "internal"
	TokenBackend    = "oauth2"
)

// backends are auth_backends' words. Of RabbitMQ's others none is taken, not even with a warning: whoever relies on one would have a broker that
// lets other users in than it says.
var backends = map[string]string{
	"internal": InternalBackend, "rabbit_auth_backend_internal": InternalBackend,
	"oauth2": TokenBackend, "rabbit_auth_backend_oauth2": TokenBackend,
}

func parseBackend(value string) (string, error) {
	if name := backends[value]; name != "" {
		return name, nil
	}
	return "", fmt.Errorf("%q is not one of internal, oauth2", value)
}

// TakesTokens tells whether access tokens are taken in place of passwords.
func (c Config) TakesTokens() bool { return slices.Contains(c.AuthBackends, TokenBackend) }

// TokensOnly tells whether nothing else is taken.
func (c Config) TokensOnly() bool { return !slices.Contains(c.AuthBackends, InternalBackend) }

// tokenSettings are about access tokens.
var tokenSettings = []setting{
	list("auth_backends", parseBackend, verbatim, func(c *Config) *[]string { return &c.AuthBackends }),
	text("auth_oauth2.resource_server_id", "", func(c *Config) *string { return &c.OAuth.ResourceServer }),
	parsed("auth_oauth2.verify_aud", "", func(c *Config) *bool { return &c.OAuth.AnyAudience },
		func(value string) (bool, error) { verified, err := parseBool(value); return !verified, err },
		func(skipped bool) string { return fmt.Sprint(!skipped) }),
	text("auth_oauth2.issuer", "", func(c *Config) *string { return &c.OAuth.Issuer }),
	text("auth_oauth2.jwks_uri", "", func(c *Config) *string { return &c.OAuth.JWKSURL }),
	otherName("auth_oauth2.jwks_url", func(c *Config) *string { return &c.OAuth.JWKSURL }),
	text("auth_oauth2.jwks_file", "", func(c *Config) *string { return &c.OAuth.JWKSFile }),
	signingKeys("auth_oauth2.signing_keys"),
	text("auth_oauth2.default_key", "", func(c *Config) *string { return &c.OAuth.DefaultKey }),
	text("auth_oauth2.https.cacertfile", "", func(c *Config) *string { return &c.OAuth.CAFile }),
	list("auth_oauth2.algorithms", parseWord, verbatim, func(c *Config) *[]string { return &c.OAuth.Algorithms }),
	duration("auth_oauth2.clock_skew", time.Second, time.Hour, func(c *Config) *time.Duration { return &c.OAuth.ClockSkew }),
	scopePrefix("auth_oauth2.scope_prefix"),
	scopeAliases("auth_oauth2.scope_aliases"),
	text("auth_oauth2.additional_scopes_key", "", func(c *Config) *string { return &c.OAuth.AdditionalScopes }),
	list("auth_oauth2.preferred_username_claims", parseWord, verbatim, func(c *Config) *[]string { return &c.OAuth.UsernameClaims }),
}

// signingKeys is a family of files whose names are the keys' IDs.
func signingKeys(key string) setting {
	return setting{
		key:   key + ".",
		clear: func(c *Config) { c.OAuth.SigningKeys = nil },
		set: func(c *Config, name, value string) error {
			c.OAuth.SigningKeys = append(c.OAuth.SigningKeys, oauth.SigningKey{ID: name, File: value})
			return nil
		},
		get: func(c *Config) []assignment {
			var all []assignment
			for _, k := range c.OAuth.SigningKeys {
				all = append(all, assignment{key: key + "." + k.ID, value: k.File})
			}
			return all
		},
	}
}

// scopePrefix is a text whose empty value is not that of a key that is not there.
func scopePrefix(key string) setting {
	return setting{
		key: key,
		set: func(c *Config, _, value string) error {
			c.OAuth.ScopePrefix = &value
			return nil
		},
		get: func(c *Config) []assignment {
			if c.OAuth.ScopePrefix == nil {
				return nil
			}
			return []assignment{{key: key, value: *c.OAuth.ScopePrefix}}
		},
	}
}

// scopeAliases is a family in RabbitMQ's two forms: pairs NAME.alias and NAME.scope, or an alias that is the name, with its scopes as value.
func scopeAliases(key string) setting {
	return setting{
		key:   key + ".",
		clear: func(c *Config) { c.OAuth.ScopeAliases = nil },
		set: func(c *Config, name, value string) error {
			switch base, part, _ := cutLast(name, "."); part {
			case "alias":
				scopeAlias(c, base).Alias = value
			case "scope":
				scopeAlias(c, base).Scopes = value
			default:
				*scopeAlias(c, name) = oauth.Alias{Name: name, Alias: name, Scopes: value}
			}
			return nil
		},
		get: func(c *Config) []assignment {
			var all []assignment
			for _, a := range c.OAuth.ScopeAliases {
				base := key + "." + a.Name
				all = append(all, assignment{key: base + ".alias", value: a.Alias}, assignment{key: base + ".scope", value: a.Scopes})
			}
			return all
		},
	}
}

// scopeAlias finds an alias by its name, or adds one.
func scopeAlias(c *Config, name string) *oauth.Alias {
	list := &c.OAuth.ScopeAliases
	i := slices.IndexFunc(*list, func(a oauth.Alias) bool { return a.Name == name })
	if i < 0 {
		i = len(*list)
		*list = append(*list, oauth.Alias{Name: name})
	}
	return &(*list)[i]
}

// validateTokens checks what no single of the settings here can tell.
func (c Config) validateTokens(complain func(condition bool, format string, args ...any)) {
	complain(len(c.AuthBackends) == 0, "auth_backends leaves no way to log in")
	if !c.TakesTokens() {
		return
	}
	if err := c.OAuth.Check(); err != nil {
		complain(true, "auth_backends has oauth2: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}
