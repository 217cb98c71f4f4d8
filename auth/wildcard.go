package auth

import (
	"net/url"
	"strings"
)

// wildcard is a pattern of a token's scopes: the texts between its stars, each of which stands for any text, the empty one too. It has at
// least one part.
type wildcard []string

// parseWildcard takes a pattern apart. What is special in scopes (a star, a slash, a percent sign) is written as in a URL's query; false means
// that it is not written well.
func parseWildcard(pattern string) (wildcard, bool) {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		decoded, err := url.QueryUnescape(part)
		if err != nil {
			return nil, false
		}
		parts[i] = decoded
	}
	return parts, true
}

// everything reports whether any text matches.
func (w wildcard) everything() bool { return len(w) == 2 && w[0] == "" && w[1] == "" }

// match reports whether the whole of text matches. What comes first of the middle parts is taken first, which leaves most room for the rest,
// so nothing has to be tried twice.
func (w wildcard) match(text string) bool {
	first, last := w[0], w[len(w)-1]
	if len(w) == 1 {
		return text == first
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range w[1 : len(w)-1] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}
