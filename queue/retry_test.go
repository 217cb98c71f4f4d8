package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// delivered is how many messages were delivered since the last forget, when the queue has come to rest.
func (g *rig) delivered() int {
	synctest.Wait()
	g.outbox.Lock()
	defer g.outbox.Unlock()
	return len(g.journal.deliveries)
}

// forget empties the journal, and returns how many deliveries it had.
func (g *rig) forget() int {
	n := g.delivered()
	g.outbox.Lock()
	defer g.outbox.Unlock()
	g.journal.deliveries = nil
	return n
}

// retried gives a message back again and again, and measures how long in ms it waits each time.
func retried(g *rig, r *receiver, o queue.Outcome, times int) (waits []int64) {
	for range times {
		if g.forget() == 0 {
			return waits
		}
		begun := time.Now()
		g.settle(r, o, 1)
		for g.delivered() == 0 && time.Since(begun) < 10*time.Second {
			ms(1)
		}
		waits = append(waits, time.Since(begun).Milliseconds())
	}
	return waits
}

func TestRetryDelays(t *testing.T) {
	for _, c := range []struct {
		name       string
		kind       queue.Retry
		outcome    queue.Outcome
		multiplier float64
		most       int64
		want       string
	}{
		{"in proportion to failures", queue.RetryAll, queue.Requeue, 0, 35, "[10 20 30 35 35]"},
		{"in proportion to returns", queue.RetryAll, queue.Return, 0, 35, "[10 20 30 35 35]"},
		{"exponential", queue.RetryFailed, queue.Requeue, 2, 100, "[10 20 40 80 100]"},
		{"no maximum is the minimum", queue.RetryFailed, queue.Requeue, 2, -1, "[10 10 10 10 10]"},
		{"failures alone", queue.RetryFailed, queue.Return, 0, 35, "[0 0 0 0 0]"},
		{"returns alone", queue.RetryReturned, queue.Requeue, 0, 35, "[0 0 0 0 0]"},
		{"exponential returns", queue.RetryReturned, queue.Return, 2, 100, "[10 20 40 80 100]"},
		{"disabled", queue.RetryDisabled, queue.Requeue, 0, 35, "[0 0 0 0 0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			timed(t, func(_ *queue.Options, s *queue.Settings) {
				s.RetryType, s.RetryMin, s.RetryMax, s.RetryMultiplier = c.kind, 10, c.most, c.multiplier
			}, func(t *testing.T, g *rig, _ *exit) {
				r := g.start(queue.Consumer{Tag: "c"})
				g.publish("m")
				if got := fmt.Sprint(retried(g, r, c.outcome, 5)); got != c.want {
					t.Errorf("waits %s ms, want %s", got, c.want)
				}
			})
		})
	}
}

// Where returns do not count, a message that is given back waits as if for the first time.
func TestRetryDelayOfReturns(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) {
		s.RetryType, s.RetryMin, s.RetryMax, s.CountReturns = queue.RetryAll, 10, 35, queue.CountFailed
	}, func(t *testing.T, g *rig, _ *exit) {
		r := g.start(queue.Consumer{Tag: "c"})
		g.publish("m")
		if got := fmt.Sprint(retried(g, r, queue.Return, 2), retried(g, r, queue.Requeue, 2), retried(g, r, queue.Return, 1)); got != "[10 10] [10 20] [20]" {
			t.Errorf("waits %s ms", got)
		}
	})
}

func TestRetryJitter(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) {
		s.RetryType, s.RetryMin, s.RetryJitter = queue.RetryAll, 100, 0.5
	}, func(t *testing.T, g *rig, _ *exit) {
		r := g.start(queue.Consumer{Tag: "c"})
		g.publish("m")
		seen := map[int64]bool{}
		for _, wait := range retried(g, r, queue.Requeue, 30) {
			if seen[wait] = true; wait < 50 || wait > 100 {
				t.Errorf("waits %d ms, want 50 to 100", wait)
			}
		}
		if len(seen) < 3 {
			t.Errorf("chance has only %d values", len(seen))
		}
	})
}

// More messages than one turn handles are due at once, and nobody does anything else: all of them come.
func TestRetryOfMany(t *testing.T) {
	const many = 3500
	timed(t, func(_ *queue.Options, s *queue.Settings) { s.RetryType, s.RetryMin = queue.RetryAll, 100 }, func(t *testing.T, g *rig, _ *exit) {
		r := g.start(queue.Consumer{Tag: "c"})
		var seqs []uint64
		for n := range uint64(many) {
			g.mortal("m", -1)
			seqs = append(seqs, n+1)
		}
		synctest.Wait()
		g.settle(r, queue.Requeue, seqs...)
		synctest.Wait()
		if s := g.Stats(); s.Pending != many || s.Ready != 0 || s.Unacked != 0 {
			t.Fatalf("%d wait, %d are ready, %d unacked", s.Pending, s.Ready, s.Unacked)
		}
		g.forget()
		ms(100)
		if n := g.delivered(); n != many || g.Stats().Pending != 0 {
			t.Errorf("%d were delivered, %d still wait", n, g.Stats().Pending)
		}
	})
}

// What waits can be discarded and purged, and counts nowhere then.
func TestRetryIsDropped(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) { s.RetryType, s.RetryMin = queue.RetryAll, 100 }, func(t *testing.T, g *rig, _ *exit) {
		r := g.start(queue.Consumer{Tag: "c"})
		g.publish("a", "b", "c")
		g.settle(r, queue.Requeue, 1, 2, 3)
		if n, err := g.Discard([]uint64{2}); n != 1 || err != nil {
			t.Errorf("discarded %d, %v", n, err)
		}
		if n, err := g.Purge(); n != 2 || err != nil {
			t.Errorf("purged %d, %v", n, err)
		}
		g.forget()
		ms(200)
		g.delivered()
		g.took("")
		if s := g.Stats(); s.Pending != 0 || s.ReadyBytes != 0 || s.Purged != 3 {
			t.Errorf("%d wait, %d bytes, %d purged", s.Pending, s.ReadyBytes, s.Purged)
		}
	})
}

// A message says how often it came back, and leaves when that was once too often.
func TestDeliveryLimit(t *testing.T) {
	for _, c := range []struct {
		count    queue.Counting
		outcomes []queue.Outcome
		headers  string // after each return: acquired/failed
		left     string
	}{
		{queue.CountFailed, []queue.Outcome{queue.Return, queue.Requeue, queue.Requeue, queue.Return, queue.Requeue}, "1/0 2/1 3/2 4/2 ", "0:delivery_limit:m"},
		{queue.CountEvery, []queue.Outcome{queue.Return, queue.Requeue, queue.Return}, "1/1 2/2 ", "0:delivery_limit:m"},
		{queue.CountFailed, []queue.Outcome{queue.Return, queue.Return, queue.Return}, "1/0 2/0 3/0 ", ""},
	} {
		timed(t, func(_ *queue.Options, s *queue.Settings) { s.DeliveryLimit, s.CountReturns = 2, c.count }, func(t *testing.T, g *rig, x *exit) {
			r := g.start(queue.Consumer{Tag: "c"})
			g.publish("m")
			var headers strings.Builder
			for _, o := range c.outcomes {
				g.journal.deliveries = nil
				g.settle(r, o, 1)
				if len(g.journal.deliveries) > 0 {
					headers.WriteString(attemptHeaders(t, r.last) + " ")
				}
			}
			if headers.String() != c.headers {
				t.Errorf("headers %q, want %q", headers.String(), c.headers)
			}
			x.took(t, c.left)
		})
	}
}

// attemptHeaders are x-acquired-count and x-delivery-count, 0 for one that is not there.
func attemptHeaders(t *testing.T, m amqp.Message) string {
	t.Helper()
	p, err := amqp.DecodeProperties(m.Properties())
	if err != nil {
		t.Fatal(err)
	}
	acquired, _ := p.Headers.Get("x-acquired-count")
	failed, ok := p.Headers.Get("x-delivery-count")
	if !ok {
		failed = 0
	}
	return fmt.Sprintf("%v/%v", acquired, failed)
}
