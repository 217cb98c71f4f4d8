package queue_test

import (
	"testing"

	"leveret/queue"
)

func TestSettings(t *testing.T) {
	q := queue.New(queue.Options{Name: "q"})
	if got := q.Settings(); got != queue.DefaultSettings() {
		t.Errorf("a queue that nobody said anything about has %+v", got)
	}
	given := queue.DefaultSettings()
	given.MaxLength = 5
	q = queue.New(queue.Options{Name: "q", Settings: given})
	if got := q.Settings(); got != given {
		t.Errorf("begins with %+v, not %+v", got, given)
	}
	given.MaxLength, given.TTL = 3, 0
	q.Apply(given)
	if got := q.Settings(); got != given {
		t.Errorf("has %+v after a change to %+v", got, given)
	}
	if _, err := q.Delete(false, false); err != nil {
		t.Fatal(err)
	}
	q.Apply(queue.DefaultSettings()) // a policy may change at any time, also too late
}

func TestDefaultSettingsLimitNothing(t *testing.T) {
	s := queue.DefaultSettings()
	for name, got := range map[string]int64{
		"TTL": s.TTL, "Expires": s.Expires, "MaxLength": s.MaxLength, "MaxBytes": s.MaxBytes, "DeliveryLimit": s.DeliveryLimit,
		"ConsumerTimeout": s.ConsumerTimeout, "RetryMin": s.RetryMin, "RetryMax": s.RetryMax,
	} {
		if got != -1 {
			t.Errorf("%s is %d, which is a limit", name, got)
		}
	}
	if s.DeadLetter || s.Overflow != queue.DropHead || s.RetryType != queue.RetryDisabled || s.Dispatch != queue.RoundRobin {
		t.Errorf("a plain queue has features: %+v", s)
	}
}
