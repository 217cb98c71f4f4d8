package vhost_test

import (
	"testing"

	"leveret/store"
	"leveret/vhost"
)

// TestChurn: what comes and goes is counted, in whatever way it goes.
func TestChurn(t *testing.T) {
	churn := new(vhost.Churn)
	v, err := vhost.New(vhost.Options{Name: "/", Store: store.NewMemory(), Churn: churn})
	if err != nil {
		t.Fatal(err)
	}
	declare := func(name string, exclusive bool) {
		t.Helper()
		if _, err := v.DeclareQueue(vhost.QueueDeclare{Name: name, Exclusive: exclusive}, 1, vhost.Unrestricted{}); err != nil {
			t.Fatal(err)
		}
	}
	declare("a", false)
	declare("a", false)
	declare("b", true)
	if _, err := v.DeclareQueue(vhost.QueueDeclare{Name: "a", Durable: true}, 1, vhost.Unrestricted{}); err == nil {
		t.Error("a queue of other properties is declared")
	}
	if _, err := v.DeleteQueue("a", false, false, 1, vhost.Unrestricted{}); err != nil {
		t.Fatal(err)
	}
	if err := v.DeleteOwned(1); err != nil {
		t.Fatal(err)
	}
	if churn.Declared() != 3 || churn.Created() != 2 || churn.Deleted() != 2 {
		t.Errorf("%d declared, %d created, %d deleted", churn.Declared(), churn.Created(), churn.Deleted())
	}
}
