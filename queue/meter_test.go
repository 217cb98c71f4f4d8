package queue_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/queue"
	"leveret/store"
)

// within reports whether durations are as many as they should be, and all about as long as they should be.
func within(t *testing.T, what string, h queue.Histogram, count uint64, duration time.Duration) {
	t.Helper()
	if h.Count() != count {
		t.Errorf("%s: %d durations, want %d", what, h.Count(), count)
	}
	ms := float64(duration.Milliseconds())
	for _, share := range []float64{0.01, 0.5, 0.99} {
		if got := h.Quantile(share); count > 0 && (got < ms/2 || got > max(1, 2*ms)) {
			t.Errorf("%s: %g of them are up to %g ms long, want about %g", what, share, got, ms)
		}
	}
}

// A queue knows how long its messages waited and how long they took, one by one while there are few.
func TestWaitAndProcessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timings := new(queue.Timings)
		g := newRig(t, queue.Options{Timings: timings})
		within(t, "before the first", g.Wait(time.Now()), 0, 0)
		g.publish("1", "2", "3", "4")
		time.Sleep(100 * time.Millisecond)
		r := g.start(queue.Consumer{})
		within(t, "waited", g.Wait(time.Now()), 4, 100*time.Millisecond)
		within(t, "unacked", g.Processing(time.Now()), 0, 0)

		time.Sleep(20 * time.Millisecond)
		s := queue.NewSettlement(r.consumer, queue.Ack)
		s.Timed(520)
		for n := uint64(1); n <= 4; n++ {
			s.AddTimed(n, 500)
		}
		if g.Settle(s) {
			g.RunHere()
		}
		within(t, "took", g.Processing(time.Now()), 4, 20*time.Millisecond)
		within(t, "all queues waited", timings.Wait.Histogram(), 4, 100*time.Millisecond)
		within(t, "all queues took", timings.Processing.Histogram(), 4, 20*time.Millisecond)

		time.Sleep(5 * time.Minute)
		within(t, "waited five minutes ago", g.Wait(time.Now()), 0, 0)
		within(t, "all queues waited", timings.Wait.Histogram(), 4, 100*time.Millisecond)
	})
}

// What comes back, and who gives it back, does not count: a message waits once, and takes as long as its ack does.
func TestRedeliveriesDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		r := g.start(queue.Consumer{Prefetch: 1})
		g.publish("1")
		for range 3 {
			time.Sleep(time.Second)
			s := queue.NewSettlement(r.consumer, queue.Requeue)
			s.Timed(time.Now().UnixMilli())
			s.AddTimed(1, 1)
			if g.Settle(s) {
				g.RunHere()
			}
		}
		within(t, "waited", g.Wait(time.Now()), 1, 0)
		within(t, "took", g.Processing(time.Now()), 0, 0)
	})
}

// Messages that are got wait as those of consumers do.
func TestWaitOfGets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		g.publish("1", "2")
		for range 2 {
			time.Sleep(time.Second)
			if found, err := g.get(true); !found || err != nil {
				t.Fatalf("got: %v, %v", found, err)
			}
		}
		h := g.Wait(time.Now())
		if got := h.Quantile(0.4); got < 512 || got > 1024 {
			t.Errorf("the first waited %g ms, want about 1000", got)
		}
		if got := h.Quantile(1); got < 1024 || got > 2048 {
			t.Errorf("the second waited %g ms, want about 2000", got)
		}
	})
}

// While much is delivered in a millisecond, the messages that are looked at stand for the others: none is lost and none counts twice.
func TestLooksStandForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		g.start(queue.Consumer{NoAck: true})
		for range 50 {
			for range 7 {
				g.publish("x", "y", "z")
			}
			time.Sleep(time.Millisecond)
		}
		g.publish("last")
		within(t, "waited", g.Wait(time.Now()), 50*7*3+1, 0)
	})
}

// What is unacked and what is persistent is counted in messages and in bytes of bodies, wherever the messages stand.
func TestWeights(t *testing.T) {
	g := newRig(t, queue.Options{Durable: true, ID: 1, Log: store.NewMemory()})
	weights := func(unacked int64, persistent int, bodies int64) {
		t.Helper()
		s := g.Stats()
		if s.UnackedBodies != unacked || s.Persistent != persistent || s.PersistentBodies != bodies {
			t.Errorf("%d bytes unacked, %d messages persistent, of %d bytes; want %d, %d, %d", s.UnackedBodies, s.Persistent, s.PersistentBodies,
				unacked, persistent, bodies)
		}
	}
	lasting, passing := kept+strings.Repeat("l", 100-len(kept)), strings.Repeat("p", 10)
	g.publish(lasting, passing, lasting)
	weights(0, 2, 200)
	r := g.start(queue.Consumer{Prefetch: 3})
	weights(210, 2, 200)
	g.publish(passing)
	weights(210, 2, 200)
	g.settle(r, queue.Ack, 1)
	weights(120, 1, 100)
	g.settle(r, queue.Requeue, 2)
	weights(120, 1, 100)
	g.settle(r, queue.Reject, 3)
	weights(20, 0, 0)
	g.settle(r, queue.Ack, 2, 4)
	weights(0, 0, 0)
	if s := g.Stats(); s.DiskWrites != 2 {
		t.Errorf("%d messages were written to disk, want 2", s.DiskWrites)
	}
}

// Who asks for the past of what a client holds is told how often it came back, even where the queue does not count that.
func TestHeld(t *testing.T) {
	for _, c := range []struct {
		name    string
		options queue.Options
		want    queue.Held
	}{
		{"classic", queue.Options{}, queue.Held{Redelivered: true, Acquired: 1}},
		{"quorum", queue.Options{Quorum: true, Durable: true}, queue.Held{Redelivered: true, Acquired: 2, Failed: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, c.options)
			r := g.start(queue.Consumer{})
			g.publish("1", "2")
			g.settle(r, queue.Requeue, 1)
			g.settle(r, queue.Requeue, 1)
			held, err := g.Held([]uint64{1, 2})
			if err != nil || len(held) != 2 || held[0] != c.want || held[1] != (queue.Held{}) {
				t.Errorf("held %+v, %v, want %+v", held, err, c.want)
			}
			g.settle(r, queue.Ack, 1)
			if held, err := g.Held([]uint64{1}); err != nil || held[0] != (queue.Held{}) {
				t.Errorf("after the ack: %+v, %v", held, err)
			}
			if _, err := g.Delete(false, false); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Held([]uint64{2}); !errors.Is(err, queue.ErrClosed) {
				t.Errorf("a deleted queue says %v", err)
			}
		})
	}
}
