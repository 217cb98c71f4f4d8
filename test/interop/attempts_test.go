package interop

import (
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// lasting declares a durable queue with arguments.
func (s *session) lasting(queue string, args amqp091.Table) {
	s.t.Helper()
	_, err := s.ch.QueueDeclare(queue, true, false, false, false, args)
	s.ok(err)
}

// wantCounts wants a message to say that it came back so often, and that so many of its deliveries failed. A count of 0 is not said.
func wantCounts(t *testing.T, m amqp091.Delivery, acquired, failed int64) {
	t.Helper()
	for name, count := range map[string]int64{"x-acquired-count": acquired, "x-delivery-count": failed} {
		var want any
		if count > 0 {
			want = count
		}
		if got := m.Headers[name]; got != want {
			t.Errorf("%s of %q is %v, want %v", name, m.Body, got, want)
		}
	}
}

// What a message has been through is known after a crash, and it dies when that was too much.
func TestDeliveryLimitOverCrashes(t *testing.T) {
	t.Parallel()
	type back func(m amqp091.Delivery) error
	nack := func(m amqp091.Delivery) error { return m.Nack(false, true) }
	reject := func(m amqp091.Delivery) error { return m.Reject(true) }
	for kind, c := range map[string]struct {
		backs    []back
		acquired []int64 // before each of them, and failed
		failed   []int64
	}{
		"classic": {[]back{nack, reject, nack}, []int64{0, 1, 2}, []int64{0, 1, 2}}, // all of them count
		"quorum":  {[]back{reject, nack, reject, reject}, []int64{0, 1, 2, 3}, []int64{0, 1, 1, 2}},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLives(t)
			if l == nil {
				return
			}
			s := l.dial()
			s.durable("dead")
			s.lasting("jobs", amqp091.Table{"x-queue-type": kind, "x-delivery-limit": 2,
				"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
			s.keep("", "jobs", "poison")
			for i, back := range c.backs {
				m := s.get("jobs")
				wantCounts(t, m, c.acquired[i], c.failed[i])
				s.ok(back(m))
				l.settled(s)
				l.crash()
				s = l.dial()
			}
			s.wantGot("jobs", "")
			m := s.get("dead")
			if reason := m.Headers["x-last-death-reason"]; string(m.Body) != "poison" || reason != "delivery_limit" {
				t.Errorf("%q died of %v", m.Body, reason)
			}
		})
	}
}

// What comes back waits, longer each time, and is neither ready nor unacked meanwhile.
func TestDelayedRetries(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(amqp091.Table{"x-delayed-retry-type": "all", "x-delayed-retry-min": 100, "x-delayed-retry-max": 400, "x-delayed-retry-multiplier": 2.0})
	c := s.consume(q, 1)
	s.publish(q, "again", "other")
	m := c.next("again")
	for i, wait := range []time.Duration{100, 200, 400, 400} {
		before := time.Now()
		s.ok(m.Nack(false, true))
		if i == 0 {
			s.ok(c.next("other").Ack(false)) // it does not wait
		}
		m = c.next("again")
		if took := time.Since(before); took < wait*time.Millisecond-early {
			t.Errorf("return %d waited %v, want %v ms", i+1, took, int(wait))
		}
		wantCounts(t, m, int64(i+1), int64(i+1))
	}
	s.ok(m.Ack(false))
}

// A retry that waits is still waiting after a crash, and comes at its time.
func TestDelayedRetryOverACrash(t *testing.T) {
	t.Parallel()
	l := newLives(t)
	if l == nil {
		return
	}
	const wait = 3 * time.Second
	s := l.dial()
	s.lasting("jobs", amqp091.Table{"x-delayed-retry-type": "all", "x-delayed-retry-min": wait.Milliseconds()})
	s.keep("", "jobs", "again")
	before := time.Now()
	s.ok(s.get("jobs").Nack(false, true))
	l.settled(s)
	l.crash()
	s = l.dial()
	ready := s.ready("jobs")
	if since := time.Since(before); since < wait-early && ready != 0 {
		t.Errorf("%d messages are ready after %v", ready, since)
	}
	m := s.consume("jobs", 1).next("again")
	if took := time.Since(before); took < wait-early || took > wait+lateness {
		t.Errorf("it came after %v, want %v", took, wait)
	}
	wantCounts(t, m, 1, 1)
}
