package auth

import (
	"strings"

	"leveret/amqp"
)

// scope is one right of a token, `configure:vhost/name` or `write:vhost/name/routing key`, each part of which is a [wildcard].
type scope struct {
	right       amqp.Right
	vhost, name wildcard
	key         wildcard // nil: it says nothing of routing keys
}

// scopeRights are the words that scopes of rights begin with.
var scopeRights = map[string]amqp.Right{"configure": amqp.Configure, "write": amqp.Write, "read": amqp.Read}

// tagScope begins the scopes that are tags of the user.
const tagScope = "tag:"

// parseScope reads a scope; false means that it is about something else, and gives nothing.
func parseScope(text string) (s scope, ok bool) {
	word, pattern, _ := strings.Cut(text, ":")
	if s.right, ok = scopeRights[word]; !ok {
		return s, false
	}
	parts := strings.Split(pattern, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return s, false
	}
	for i, at := range []*wildcard{&s.vhost, &s.name, &s.key}[:len(parts)] {
		if *at, ok = parseWildcard(parts[i]); !ok {
			return s, false
		}
	}
	return s, true
}

// credential is what a user has shown that needs no account: all that it may do stands there.
type credential struct {
	Token
	tags   []string
	scopes []scope
}

// newCredential sorts a token's scopes into tags and rights.
func newCredential(t Token) *credential {
	c := &credential{Token: t}
	for _, text := range t.Scopes {
		if tag, found := strings.CutPrefix(text, tagScope); found {
			c.tags = append(c.tags, tag)
		} else if s, ok := parseScope(text); ok {
			c.scopes = append(c.scopes, s)
		}
	}
	return c
}

// in gives the rights in one virtual host, nil if there are none: then it may not be opened.
func (c *credential) in(vhost string) *grant {
	var g *grant
	for _, s := range c.scopes {
		if !s.vhost.match(vhost) {
			continue
		}
		if g == nil {
			g = new(grant)
		}
		g.at(s.right).add(s.name)
		g.scopes = append(g.scopes, s)
	}
	return g
}

// keys is what a user of a token may use as routing keys of a topic exchange. Unlike an account it may use none that it has no word for.
func (g *grant) keys(right amqp.Right, exchange string) pattern {
	var p pattern
	for _, s := range g.scopes {
		if s.right == right && s.key != nil && s.name.match(exchange) {
			p.add(s.key)
		}
	}
	return p
}
