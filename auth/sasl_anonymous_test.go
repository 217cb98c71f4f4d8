package auth_test

import (
	"testing"

	"leveret/auth"
)

func TestAnonymous(t *testing.T) {
	tests := []struct {
		name       string
		mechanisms []string
		user       string
		code       uint16
	}{
		{"not enabled", []string{"PLAIN"}, "guest", 503},
		{"enabled", []string{"PLAIN", "ANONYMOUS"}, "guest", 0},
		{"nobody", []string{"ANONYMOUS"}, "", 403},
		{"somebody who is not there", []string{"ANONYMOUS"}, "other", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthWith(t, func(o *auth.Options) {
				o.Mechanisms, o.AnonymousUser, o.AnonymousPassword = tt.mechanisms, tt.user, "test12"
			}, auth.Account{Name: "guest", PasswordHash: test12Hash})
			for _, response := range []string{"", "me@example", "\x00root\x00root"} {
				user, err := a.Authenticate("ANONYMOUS", []byte(response), loopback)
				if code(err) != tt.code || err == nil && user.Name() != "guest" {
					t.Errorf("response %q: %v, %v", response, user, err)
				}
			}
		})
	}
}

// The anonymous user is bound to the loopback interface like any other by the same name.
func TestAnonymousFromAfar(t *testing.T) {
	a, err := auth.New(func() auth.Options {
		o := auth.DefaultOptions()
		o.Mechanisms = []string{"ANONYMOUS"}
		return o
	}())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Authenticate("ANONYMOUS", nil, loopback); err != nil {
		t.Errorf("from here: %v", err)
	}
	if _, err := a.Authenticate("ANONYMOUS", nil, auth.Client{}); code(err) != 403 {
		t.Errorf("from nowhere: %v", err)
	}
}
