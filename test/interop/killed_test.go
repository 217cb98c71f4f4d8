package interop

import (
	"slices"
	"testing"
)

func TestKilledConsumersMessagesGoToTheOneSurvivor(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		s.fill(q, 1, 10)
		victim := startHolder(t, client, q, 10, 1, "manual")
		wantInOrder(t, victim.take(10), false, numbers(1, 10))
		survivor := startHolder(t, client, q, 20, 1, "manual")
		victim.kill()
		wantInOrder(t, survivor.take(10), true, numbers(1, 10))
	})
}

// The seven survivors have room for seventy: with the ten of the dead and sixty new ones they hold each message once.
func TestKilledConsumersMessagesArriveOnce(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		s.fill(q, 1, 10)
		victim := startHolder(t, client, q, 10, 1, "manual")
		victim.take(10)
		survivors := startHolder(t, client, q, 10, 7, "manual")
		victim.kill()
		returned := survivors.take(10)
		for _, d := range returned {
			if !d.redelivered {
				t.Errorf("message %s came back without the redelivered flag", d.body)
			}
		}
		s.fill(q, 11, 70)
		all := append(returned, survivors.take(60)...)
		wantShares(t, all, 7, 10)
		wantEachOnce(t, all, numbers(1, 70))
	})
}

// Without a survivor the messages wait at the head of the queue, before later ones.
func TestKilledConsumersMessagesReturnToTheHead(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		s.fill(q, 1, 15)
		victim := startHolder(t, client, q, 10, 1, "manual")
		victim.take(10)
		victim.kill()
		s.awaitReady(q, 15)
		heir := startHolder(t, client, q, 0, 1, "manual")
		got := heir.take(15)
		wantInOrder(t, got[:10], true, numbers(1, 10))
		wantInOrder(t, got[10:], false, numbers(11, 15))
	})
}

// wantEachOnce wants each of the bodies in exactly one of the deliveries.
func wantEachOnce(t *testing.T, deliveries []held, bodies []string) {
	t.Helper()
	var got []string
	for _, d := range deliveries {
		got = append(got, d.body)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(bodies))
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want each of %v once", got, want)
	}
}
