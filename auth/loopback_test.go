package auth_test

import (
	"net/netip"
	"testing"

	"leveret/auth"
)

func TestLoopbackUsersChange(t *testing.T) {
	a, err := auth.New(auth.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	away := auth.Client{Protocol: auth.AMQP, Address: netip.MustParseAddr("192.0.2.1")}
	for _, tt := range []struct {
		users []string
		ok    bool
	}{{nil, true}, {[]string{"guest"}, false}, {[]string{"other"}, true}} {
		a.SetLoopbackUsers(tt.users)
		if _, err := a.Login("guest", "guest", away); (err == nil) != tt.ok || len(a.LoopbackUsers()) != len(tt.users) {
			t.Errorf("%v: %v", tt.users, err)
		}
	}
}
