package auth_test

import (
	"testing"
	"time"

	"leveret/auth"
)

// What a failed login costs: with a budget that is never empty, with one that always is, and without any.
func BenchmarkFailedLogin(b *testing.B) {
	for name, set := range map[string]func(o *auth.Options){
		"counted": func(o *auth.Options) { o.FailureLimit, o.FailureInterval = 1<<30, time.Nanosecond },
		"held":    func(o *auth.Options) { o.FailureLimit, o.FailureInterval = 1, time.Hour },
		"free":    func(o *auth.Options) { o.FailureLimit = 0 },
	} {
		b.Run(name, func(b *testing.B) {
			a := newAuthWith(b, set, auth.Account{Name: "u", PasswordHash: test12Hash})
			for b.Loop() {
				a.Login("u", "wrong", loopback)
			}
		})
	}
}
