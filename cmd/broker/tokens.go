package main

import (
	"fmt"

	"leveret/auth"
	"leveret/auth/oauth"
	"leveret/config"
	"log/slog"
)

// tokenVerifier makes what access tokens are checked with, nil if none are taken. A provider that does not answer is no reason not to start: it is
// asked again with each token.
func tokenVerifier(c config.Config, log *slog.Logger) (auth.TokenVerifier, error) {
	if !c.TakesTokens() {
		return nil, nil
	}
	v, err := oauth.New(c.OAuth)
	if err != nil {
		return nil, fmt.Errorf("access tokens: %w", err)
	}
	if err := v.Refresh(); err != nil {
		log.Warn("the keys of access tokens can't be read; they are tried again when somebody logs in", "error", err)
	}
	return v, nil
}
