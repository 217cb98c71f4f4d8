package auth_test

import (
	"testing"

	"leveret/amqp"
)

func TestOperatorNeedsNoAccount(t *testing.T) {
	a := newAuth(t)
	user := a.Operator()
	if user.HasAccount() {
		t.Error("an operator has an account")
	}
	if !user.HasTag("administrator") || !user.HasTag("impersonator") || user.HasTag("monitoring") {
		t.Errorf("administrator %v, impersonator %v, monitoring %v", user.HasTag("administrator"), user.HasTag("impersonator"), user.HasTag("monitoring"))
	}
	rights, allowed := user.Rights("any")
	if !allowed {
		t.Fatal("an operator may not open a virtual host")
	}
	for name, err := range map[string]error{
		"configure": rights.Configure(amqp.QueueResource, "q"), "write": rights.Write(amqp.ExchangeResource, ""),
		"read": rights.Read(amqp.QueueResource, "q"), "topic": rights.WriteTopic("amq.topic", "k"),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
