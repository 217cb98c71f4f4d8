package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// Memory that is full of large messages of a group whose consumer has no room hides no other group: its messages are read from behind them.
func TestLargeHotGroupHidesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hot = 6 * manyLarge
		s := store.NewMemory()
		g := newRig(t, queue.Options{ID: 7, Durable: true, Log: s, GroupBy: queue.Keying{Source: queue.ByProperty, Name: "correlation-id"}})
		for range hot {
			loggedAs(g, s, large(-1, -1), 1)
		}
		loggedAs(g, s, large(-1, -1), 2)
		for range hot {
			loggedAs(g, s, large(-1, -1), 1)
		}
		g.start(queue.Consumer{Prefetch: 1})
		g.start(queue.Consumer{Prefetch: 1})
		for range 10 {
			time.Sleep(time.Second)
			g.Tend()
			synctest.Wait()
		}
		if got := g.journal.deliveries; len(got) != 2 || got[1].seq != hot+1 {
			t.Errorf("took %d, in memory %d", len(got), g.Stats().InMemory)
		}
		g.Delete(false, false)
	})
}

// In a queue with groups, of either type, a message whose time is up stays as long as an older one does, be it of its group or of another.
func TestOldestOfGroupsExpires(t *testing.T) {
	for _, quorum := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := store.NewMemory()
			keying := queue.Keying{Source: queue.ByProperty, Name: "correlation-id"}
			g := newRig(t, queue.Options{ID: 7, Durable: true, Log: s, Quorum: quorum, GroupBy: keying})
			small := func(expiration int) amqp.Message {
				m := large(-1, expiration)
				return m[:len(m)-64<<10]
			}
			const older = 999 // and the first: so many of one lane are looked at ahead of their turn, and not the next one
			loggedAs(g, s, small(1000), 1)
			for range older {
				loggedAs(g, s, small(-1), 1)
			}
			loggedAs(g, s, small(1000), 1)
			loggedAs(g, s, small(1000), 2)
			time.Sleep(1100 * time.Millisecond)
			synctest.Wait()
			if st := g.Stats(); st.Ready != older+2 || st.Dropped[queue.Expired] != 1 {
				t.Errorf("quorum %t: %d are ready, %d have expired", quorum, st.Ready, st.Dropped[queue.Expired])
			}
			r := g.start(queue.Consumer{Prefetch: older})
			synctest.Wait()
			g.settle(r, queue.Ack, 2)
			synctest.Wait()
			if st := g.Stats(); st.Ready != 0 || st.Unacked != older-1 || st.Dropped[queue.Expired] != 3 {
				t.Errorf("quorum %t: %d are ready, %d unacked, %d have expired", quorum, st.Ready, st.Unacked, st.Dropped[queue.Expired])
			}
			g.Delete(false, false)
		})
	}
}
