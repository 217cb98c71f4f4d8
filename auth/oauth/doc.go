// Package oauth verifies access tokens (JWT, RFC 7519) and says what they say: who the user is, which scopes it has and how long that holds. What
// scopes allow is decided in package auth, which this package is plugged into as its [auth.TokenVerifier].
//
// The keys that tokens are signed with come from PEM files, from a JWK set in a file or behind a URL, or from the document that an issuer publishes.
// A set is read when a token needs it and again when it has aged or lacks a key, so a provider that is away when the broker starts delays
// nobody but those who log in by token, and new keys are taken up without a restart. There is no goroutine.
//
// The settings are those of RabbitMQ's OAuth 2 plugin, under the same names.
package oauth
