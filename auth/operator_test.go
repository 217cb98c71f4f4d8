package auth_test

import (
	"net/netip"
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

// TestOperator: it needs no account, and may do everything everywhere.
func TestOperator(t *testing.T) {
	options := auth.DefaultOptions()
	options.DefaultUser = ""
	a, err := auth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	u := a.Operator()
	if u.Name() != auth.OperatorName || !u.HasTag("administrator") || u.HasTag("impersonator") {
		t.Errorf("%s, administrator %v, impersonator %v", u.Name(), u.HasTag("administrator"), u.HasTag("impersonator"))
	}
	r, ok := u.Rights("anywhere")
	if !ok {
		t.Fatal("an operator can't open a virtual host")
	}
	for name, err := range map[string]error{
		"configure": r.Configure(amqp.QueueResource, "q"), "write": r.Write(amqp.ExchangeResource, ""), "read": r.Read(amqp.QueueResource, "q"),
		"write topic": r.WriteTopic("x", "k"), "read topic": r.ReadTopic("x", "k"),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Login(auth.OperatorName, "", auth.Client{Protocol: auth.HTTP}); err == nil {
		t.Error("somebody can log in as the operator")
	}
}

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
