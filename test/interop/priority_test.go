package interop

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// The message of low priority waits for ever behind those of high priority, unless the queue says that it must not.
func TestStarvingPriority(t *testing.T) {
	eachScripted(t, func(t *testing.T, client string) {
		t.Run("none", func(t *testing.T) {
			t.Parallel()
			run(t, client, "starve", []string{freshQueue(t), "none", "0"}, "starved")
		})
		t.Run("burst", func(t *testing.T) {
			t.Parallel()
			if served, _ := starve(t, client, "burst", 10); served != 10 {
				t.Errorf("the low message came after %d of high priority, want 10", served)
			}
		})
		t.Run("aging", func(t *testing.T) {
			t.Parallel()
			const step = 20 // ms, for each of the eight levels between them
			if served, took := starve(t, client, "aging", step); took < 8*step {
				t.Errorf("the low message came after %d of high priority and %d ms, want at least %d ms", served, took, 8*step)
			}
		})
	})
}

// starve has a program wait for the message of low priority, and returns how many were served and how many milliseconds went by before it.
func starve(t *testing.T, client, remedy string, number int) (served, took int) {
	t.Helper()
	p := start(t, client, "starve", freshQueue(t), remedy, strconv.Itoa(number))
	line := p.next()
	if _, err := fmt.Sscanf(line, "low after %d and %d ms", &served, &took); err != nil {
		t.Fatalf("%s printed %q: %v", p.name, line, err)
	}
	p.finish()
	return served, took
}

// prioritized publishes a message for each priority, which is its body too, on the session's channel. A negative one is none.
func (s *session) prioritized(queue string, priorities ...int) {
	s.t.Helper()
	for _, p := range priorities {
		m := amqp091.Publishing{Body: []byte("none")}
		if p >= 0 {
			m.Priority, m.Body = uint8(p), []byte(strconv.Itoa(p))
		}
		s.ok(s.ch.Publish("", queue, false, false, m))
	}
}

// Priorities above the maximum are the maximum, in the order in which they came, and none is 0.
func TestOrderOfPriorities(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(amqp091.Table{"x-max-priority": 5})
	s.prioritized(q, 0, 9, 5, 1, -1, 3, 200)
	if got, want := strings.Join(s.got(q, 10, true), " "), "9 5 200 3 1 0 none"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What a consumer has prefetched is not called back; it gets the highest of what is there when it settles.
func TestPrioritiesWithAPrefetch(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(amqp091.Table{"x-max-priority": 5})
	c := s.consume(q, 1)
	s.prioritized(q, 1)
	m := c.next("1")
	s.prioritized(q, 2, 5, 3, 4, 5)
	s.awaitReady(q, 5)
	for _, body := range []string{"5", "5", "4", "3", "2"} {
		s.ok(m.Ack(false))
		if m = c.next(body); m.Redelivered {
			t.Errorf("message %s is redelivered the first time", body)
		}
	}
	s.ok(m.Ack(false))
}

func TestMaximumOfPriorities(t *testing.T) {
	t.Parallel()
	s := dial(t)
	for _, most := range []int64{256, 2147483647, -1} {
		q := freshName(t)
		s.refuse(amqp091.PreconditionFailed, fmt.Sprint("a maximum of ", most), func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare(q, false, false, true, false, amqp091.Table{"x-max-priority": most})
			return err
		})
	}
	q := s.queue(amqp091.Table{"x-max-priority": int32(255)})
	s.prioritized(q, 254, 255)
	if got := strings.Join(s.got(q, 2, true), " "); got != "255 254" {
		t.Errorf("got %s", got)
	}
}
