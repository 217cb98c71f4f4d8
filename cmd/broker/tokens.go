package main

import (
	"fmt"

	"leveret/auth"
	"leveret/auth/oauth"
	"leveret/config"
	"log/slog"
)

// tokenVerifier makes what access tokens are checked with, nil if none are taken. A provider that does not answer is no reason not to start: it is
// asked again with each token. A file that is not there is one, where nothing else lets anybody in.
func tokenVerifier(c config.Config, log *slog.Logger) (auth.TokenVerifier, error) {
	if !c.TakesTokens() {
		return nil, nil
	}
	v, err := oauth.New(c.OAuth)
	if err != nil {
		return nil, fmt.Errorf("access tokens: %w", err)
	}
	// Now, and not with the first token: who misspelt a URL is to hear of it at the start.
	err = v.Refresh()
	if err != nil && c.TokensOnly() && c.OAuth.JWKSURL == "" && c.OAuth.Issuer == "" {
		return nil, fmt.Errorf("nobody could log in: the keys of access tokens can't be read: %w", err) // files don't come back by themselves
	}
	if err != nil {
		log.Warn("the keys of access tokens can't be read; they are tried again when somebody logs in", "error", err)
	}
	return v, nil
}
