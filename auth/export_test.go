package auth

// Remembered is how many decisions a handle holds.
func (r *Rights) Remembered() int { return len(r.decided) }

// What tests measure against.
const (
	MaxSuspects = maxSuspects
	MaxSources  = maxSources
)

// Suspects is how many budgets of failures are remembered.
func (a *Authenticator) Suspects() int { return len(a.throttle.budgets) }

// MatchWildcard reports whether text matches a scope's wildcard.
func MatchWildcard(pattern, text string) bool {
	w, ok := parseWildcard(pattern)
	return ok && w.match(text)
}
