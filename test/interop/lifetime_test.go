package interop

import (
	"fmt"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// keepFor is keep for one message with an expiration.
func (s *session) keepFor(queue string, expiration time.Duration, body string) {
	s.t.Helper()
	s.ok(s.ch.Confirm(false))
	c, err := s.ch.PublishWithDeferredConfirm("", queue, false, false, amqp091.Publishing{DeliveryMode: amqp091.Persistent,
		Expiration: fmt.Sprint(expiration.Milliseconds()), Body: []byte(body)})
	if s.ok(err); !c.Wait() {
		s.t.Fatal("the publish was refused")
	}
}

// deaths are the entries of a message's x-death, the latest first.
func deaths(t *testing.T, m amqp091.Delivery) (tables []amqp091.Table) {
	t.Helper()
	entries, _ := m.Headers["x-death"].([]any)
	for _, entry := range entries {
		table, ok := entry.(amqp091.Table)
		if !ok {
			t.Fatalf("x-death holds %v", entry)
		}
		tables = append(tables, table)
	}
	if len(tables) == 0 {
		t.Fatalf("the headers %v have no x-death", m.Headers)
	}
	return tables
}

// Time goes on while the broker is down, killed or stopped: what has expired then is not delivered any more.
func TestAgesSurviveRestarts(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(l *lives) error{
		"killed":  func(l *lives) error { l.kill(); return nil },
		"stopped": func(l *lives) error { return l.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l := newLives(t); l != nil {
				ageOverRestart(l, end)
			}
		})
	}
}

func ageOverRestart(l *lives, end func(l *lives) error) {
	l.t.Helper()
	const ttl = 4 * time.Second
	s := l.dial()
	s.durable("kept")
	s.durable("dead")
	s.lasting("own", amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	s.lasting("all", amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead", "x-message-ttl": ttl.Milliseconds()})
	s.keep("", "all", "of all")
	s.keep("", "kept", "kept")
	s.keepFor("own", ttl, "of its own")
	sent := time.Now()
	s.ok(end(l))
	<-time.After(time.Until(sent.Add(ttl)))
	l.start()

	s = l.dial()
	s.wantGot("all", "")
	s.wantGot("own", "")
	poll(l.t, func() error {
		want := int((time.Since(sent) - ttl/2).Seconds()) // what counts from the start is behind by ttl or more
		age, err := l.gauge("leveret_oldest_message_age_seconds")
		if err == nil && age < want {
			err = fmt.Errorf("the oldest message is %d s old, want %d s", age, want)
		}
		return err
	})
	if m := s.get("kept"); string(m.Body) != "kept" {
		l.t.Errorf("got %q", m.Body)
	}
	s.awaitReady("dead", 2)
	for range 2 {
		m := s.get("dead")
		if death := deaths(l.t, m)[0]; death["reason"] != "expired" || m.Expiration != "" {
			l.t.Errorf("%q died of %v, and expires after %q", m.Body, death["reason"], m.Expiration)
		}
	}
}

// A message's age begins anew in each queue that it dies into: two queues of 600 ms in a row hold it for 1.2 s.
func TestAgesInARowOfQueues(t *testing.T) {
	t.Parallel()
	const ttl = 600 * time.Millisecond
	s := dial(t)
	end := s.queue(nil)
	second := s.queue(amqp091.Table{"x-message-ttl": ttl.Milliseconds(), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": end})
	first := s.queue(amqp091.Table{"x-message-ttl": ttl.Milliseconds(), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": second})
	c := s.consume(end, 1)
	began := time.Now()
	s.publish(first, "row")
	m := c.next("row")
	if took := time.Since(began); took < 2*(ttl-early) {
		t.Errorf("it had died twice after %v", took)
	}
	for i, queue := range []string{second, first} {
		if death := deaths(t, m)[i]; death["queue"] != queue || death["reason"] != "expired" || death["count"] != int64(1) {
			t.Errorf("death %d is %v, want one in %s", i, death, queue)
		}
	}
}

// The expiration does not go along with a dead letter, which would die of it again, but is told in x-death.
func TestExpirationOfADeadLetter(t *testing.T) {
	t.Parallel()
	s := dial(t)
	dead := s.queue(nil)
	q := s.queue(amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead})
	s.ok(s.ch.Publish("", q, false, false, amqp091.Publishing{Expiration: "50", Body: []byte("short")}))
	s.awaitReady(dead, 1)
	<-time.After(200 * time.Millisecond)
	m := s.get(dead)
	if original := deaths(t, m)[0]["original-expiration"]; original != "50" || m.Expiration != "" {
		t.Errorf("the expiration is %q, was %v", m.Expiration, original)
	}
}

// Behind a message that may wait, one that has expired stays until it gets to the head, unless the queue looks everywhere.
func TestExpireAnywhere(t *testing.T) {
	t.Parallel()
	s := dial(t)
	var queues []string
	dead := s.queue(nil)
	for _, anywhere := range []bool{false, true} {
		q := s.queue(amqp091.Table{"x-expire-anywhere": anywhere, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead})
		s.publish(q, "patient")
		s.ok(s.ch.Publish("", q, false, false, amqp091.Publishing{Expiration: "100", Body: []byte("short")}))
		queues = append(queues, q)
	}
	s.awaitReady(dead, 1)
	for i, want := range []int{2, 1} {
		if n := s.ready(queues[i]); n != want {
			t.Errorf("%d messages are ready, want %d; the head alone is looked at: %v", n, want, i == 0)
		}
	}
	s.wantGot(queues[0], "patient")
}

// A queue that delays, and deletes itself when it is not used: the second message comes through it like the first.
func TestSecondMessageThroughADelay(t *testing.T) {
	t.Parallel()
	const ttl = 300 * time.Millisecond
	s := dial(t)
	work := s.queue(nil)
	delay := s.queue(amqp091.Table{"x-message-ttl": ttl.Milliseconds(), "x-expires": (ttl + 10*time.Second).Milliseconds(),
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": work})
	c := s.consume(work, 1)
	for _, body := range []string{"first", "second"} {
		s.publish(delay, body)
		m := c.next(body)
		if count := deaths(t, m)[0]["count"]; count != int64(1) {
			t.Errorf("%s died %v times", body, count)
		}
		s.ok(m.Ack(false))
		<-time.After(ttl)
	}
}
