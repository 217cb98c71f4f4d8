package oauth

import (
	"fmt"
	"slices"
	"strings"
)

// maxScopes bounds what one token can make the broker look at with each check.
const maxScopes = 2048

// requestingPartyScopes is where Keycloak puts scopes into the tokens of its fine grained permissions.
const requestingPartyScopes = "authorization.permissions.scopes"

// scopes are the broker's scopes in a token, without the prefix that makes them the broker's, each once.
func (v *Verifier) scopes(claims map[string]any) ([]string, error) {
	all := v.words(claims["scope"])
	for _, claim := range append(strings.Fields(v.options.AdditionalScopes), requestingPartyScopes) {
		all = append(all, v.lookUp(claims, claim)...)
	}
	// Aliases of aliases are none: what a scope stands for is written in one place.
	for _, name := range slices.Clone(all) {
		all = append(all, strings.Fields(v.aliases[name])...)
	}
	var ours []string
	for _, scope := range all {
		if bare, found := strings.CutPrefix(scope, v.prefix); found {
			ours = append(ours, bare)
		}
	}
	slices.Sort(ours)
	if ours = slices.Compact(ours); len(ours) > maxScopes {
		return nil, fmt.Errorf("it has %d scopes, the limit is %d", len(ours), maxScopes)
	}
	return ours, nil
}

// lookUp finds the scopes of a claim. A dot in the name leads into the claim, unless there is a claim of that very name: some are URLs.
func (v *Verifier) lookUp(value any, path string) []string {
	switch value := value.(type) {
	case map[string]any:
		if inner, found := value[path]; found {
			return v.words(inner)
		}
		first, rest, found := strings.Cut(path, ".")
		if !found {
			return nil
		}
		return v.lookUp(value[first], rest)
	case []any:
		var all []string
		for _, element := range value {
			all = append(all, v.lookUp(element, path)...)
		}
		return all
	}
	return nil
}

// words reads a list of scopes: an array, a text with spaces, or an object that has one of these for each resource server.
func (v *Verifier) words(value any) []string {
	switch value := value.(type) {
	case string:
		return strings.Fields(value)
	case []any:
		var all []string
		for _, element := range value {
			if scope, ok := element.(string); ok {
				all = append(all, scope)
			}
		}
		return all
	case map[string]any:
		switch inner := value[v.options.ResourceServer].(type) {
		case string, []any:
			all := v.words(inner)
			for i := range all {
				all[i] = v.options.ResourceServer + "." + all[i]
			}
			return all
		}
	}
	return nil
}
