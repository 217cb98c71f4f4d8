package auth

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	expressions "leveret/pattern"
)

// pattern is a compiled permission. The zero value allows nothing, which is what an empty expression means: read as a regular expression
// it would be found in every name.
type pattern struct {
	everything bool
	re         *expressions.Pattern
	wildcards  []wildcard // of a token's scopes, any of which will do
}

// add widens a pattern of wildcards by one.
func (p *pattern) add(w wildcard) {
	if w.everything() {
		p.everything = true
	}
	p.wildcards = append(p.wildcards, w)
}

// compilePattern fails with [ErrInvalidRegexp]. Expressions that allow everything are by far the most common ones and are told apart, so
// that they cost no matching.
func compilePattern(expression string) (pattern, error) {
	switch expression {
	case "", "^$":
		return pattern{}, nil
	}
	re, err := expressions.Compile(expression)
	if err != nil {
		return pattern{}, fmt.Errorf("%w: %w", ErrInvalidRegexp, err)
	}
	if re.Everything() {
		return pattern{everything: true}, nil
	}
	return pattern{re: re}, nil
}

// allows reports whether the expression is found anywhere in name, or a wildcard is it. One that takes too long to match allows nothing.
func (p pattern) allows(name string) bool {
	return p.everything || p.re != nil && p.re.Match(name) ||
		slices.ContainsFunc(p.wildcards, func(w wildcard) bool { return w.match(name) })
}

// constant reports whether the answer is the same for every name, so that remembering it would only waste memory.
func (p pattern) constant() bool { return p.everything || p.re == nil && p.wildcards == nil }

// substitute puts the user's own name and virtual host in place of the variables of a topic permission. They are quoted: a user named
// ".*" must not gain anything by it.
func substitute(expression, user, vhost string) string {
	return strings.NewReplacer("{username}", regexp.QuoteMeta(user), "{vhost}", regexp.QuoteMeta(vhost)).Replace(expression)
}
