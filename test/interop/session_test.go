package interop

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// names counts the names that were made in this run; the time keeps runs against the same foreign broker apart.
var (
	names   atomic.Int64
	runName = strconv.FormatInt(time.Now().UnixNano(), 36)
)

// freshName returns a name that nothing on the broker has.
func freshName(t *testing.T) string {
	return fmt.Sprintf("%s-%s-%d", t.Name(), runName, names.Add(1))
}

// freshQueue returns a fresh name for a queue on the shared broker, which is deleted at the test's end if it is there.
func freshQueue(t *testing.T) string {
	t.Helper()
	queue := freshName(t)
	t.Cleanup(func() {
		conn, err := amqp091.Dial(shared.url())
		if err != nil {
			t.Errorf("cannot connect to delete %q: %v", queue, err)
			return
		}
		defer conn.Close()
		if ch, err := conn.Channel(); err == nil {
			ch.QueueDelete(queue, false, false, false) // refused if it is exclusive, which then deletes it
		}
	})
	return queue
}

// A session is an amqp091-go connection with one channel, driven by the test itself. Its verbs fail the test on any error.
type session struct {
	t    *testing.T
	conn *amqp091.Connection
	ch   *amqp091.Channel
}

// dial opens a session on the shared broker, closed at the test's end.
func dial(t *testing.T) *session { return dialBroker(t, shared) }

func dialBroker(t *testing.T, b *broker) *session {
	t.Helper()
	conn, err := amqp091.Dial(b.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return (&session{t: t, conn: conn}).channel()
}

// channel returns a session on another channel of the same connection.
func (s *session) channel() *session {
	s.t.Helper()
	ch, err := s.conn.Channel()
	s.ok(err)
	return &session{t: s.t, conn: s.conn, ch: ch}
}

func (s *session) ok(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}

// queue declares a fresh queue that is neither durable nor deleted by itself.
func (s *session) queue(args amqp091.Table) string {
	s.t.Helper()
	queue := freshQueue(s.t)
	_, err := s.ch.QueueDeclare(queue, false, false, false, false, args)
	s.ok(err)
	return queue
}

// publish sends messages to a queue through the default exchange.
func (s *session) publish(queue string, bodies ...string) {
	s.t.Helper()
	for _, body := range bodies {
		s.ok(s.ch.Publish("", queue, false, false, amqp091.Publishing{Body: []byte(body)}))
	}
}

// fill publishes the numbers from first to last, on a channel of its own, and returns when all are confirmed.
func (s *session) fill(queue string, first, last int) {
	s.t.Helper()
	filler := s.channel()
	s.ok(filler.ch.Confirm(false))
	outcomes := filler.ch.NotifyPublish(make(chan amqp091.Confirmation, last-first+1))
	for _, body := range numbers(first, last) {
		filler.publish(queue, body)
	}
	for range last - first + 1 {
		if outcome := receive(s.t, outcomes, "a confirm"); !outcome.Ack {
			s.t.Fatalf("publish %d was refused", outcome.DeliveryTag)
		}
	}
	s.ok(filler.ch.Close())
}

// numbers are the decimal texts from first to last.
func numbers(first, last int) []string {
	texts := make([]string, 0, last-first+1)
	for n := first; n <= last; n++ {
		texts = append(texts, strconv.Itoa(n))
	}
	return texts
}

// receive takes a value that must come soon.
func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case value, open := <-from:
		if !open {
			t.Fatalf("%s was awaited, but its source closed", what)
		}
		return value
	case <-time.After(patience):
		t.Fatalf("%s did not come within %v", what, patience)
	}
	panic("unreachable")
}

// get takes the next message of a queue without acknowledging it.
func (s *session) get(queue string) amqp091.Delivery {
	s.t.Helper()
	m, ok, err := s.ch.Get(queue, false)
	s.ok(err)
	if !ok {
		s.t.Fatalf("queue %q is empty", queue)
	}
	return m
}

// ready asks for the number of ready messages.
func (s *session) ready(queue string) int {
	s.t.Helper()
	state, err := s.ch.QueueDeclarePassive(queue, false, false, false, false, nil)
	s.ok(err)
	return state.Messages
}

// awaitReady waits until a queue has exactly that many ready messages.
func (s *session) awaitReady(queue string, want int) {
	s.t.Helper()
	poll(s.t, func() error {
		if got := s.ready(queue); got != want {
			return fmt.Errorf("%d messages ready in %q, want %d", got, queue, want)
		}
		return nil
	})
}

// awaitGone waits until a queue does not exist any more.
func (s *session) awaitGone(queue string) {
	s.t.Helper()
	poll(s.t, func() error {
		_, err := s.channel().ch.QueueDeclarePassive(queue, false, false, false, false, nil)
		if code(err) != amqp091.NotFound {
			return fmt.Errorf("queue %q: %v, want 404", queue, err)
		}
		return nil
	})
}

// poll asks again and again until there is no error.
func poll(t *testing.T, ask func() error) {
	t.Helper()
	pollFor(t, patience, ask)
}

// pollFor is poll with a limit of its own.
func pollFor(t *testing.T, limit time.Duration, ask func() error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); ; <-tick.C {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", limit, err)
		}
	}
}

// code is the reply code of an error, 0 for none and for errors of other kinds.
func code(err error) int {
	var refused *amqp091.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// refuse wants an action to close its channel with that code, and runs it on a channel of its own.
func (s *session) refuse(want int, what string, action func(ch *amqp091.Channel) error) {
	s.t.Helper()
	if err := action(s.channel().ch); code(err) != want {
		s.t.Errorf("%s: %v, want %d", what, err, want)
	}
}

// A consumer is one consumer on the channel of its session.
type consumer struct {
	*session
	tag        string
	deliveries <-chan amqp091.Delivery
}

// consume starts a consumer with manual acknowledgement on a new channel. A prefetch of 0 is no limit.
func (s *session) consume(queue string, prefetch int) *consumer {
	s.t.Helper()
	c := &consumer{session: s.channel(), tag: freshName(s.t)}
	s.ok(c.ch.Qos(prefetch, 0, false))
	var err error
	c.deliveries, err = c.ch.Consume(queue, c.tag, false, false, false, false, nil)
	s.ok(err)
	return c
}

// next takes the next delivery and wants it to have that body.
func (c *consumer) next(body string) amqp091.Delivery {
	c.t.Helper()
	m := receive(c.t, c.deliveries, "delivery "+body)
	if string(m.Body) != body {
		c.t.Fatalf("got message %q, want %q", m.Body, body)
	}
	return m
}
