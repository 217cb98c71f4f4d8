package interop

import (
	"fmt"
	"slices"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// exchange declares a fresh exchange that is deleted with its last binding.
func (s *session) exchange(kind string) string {
	s.t.Helper()
	exchange := freshName(s.t)
	s.ok(s.ch.ExchangeDeclare(exchange, kind, false, true, false, false, nil))
	return exchange
}

// bound declares a queue of this connection's and binds it to the exchange with each of the keys.
func (s *session) bound(exchange string, args amqp091.Table, keys ...string) string {
	s.t.Helper()
	queue := exclusiveQueue(s.ch)
	for _, key := range keys {
		s.ok(s.ch.QueueBind(queue, key, exchange, false, args))
	}
	return queue
}

// drain gets all there is in a queue.
func (s *session) drain(queue string) []string {
	s.t.Helper()
	var bodies []string
	for {
		m, ok, err := s.ch.Get(queue, true)
		if s.ok(err); !ok {
			return bodies
		}
		bodies = append(bodies, string(m.Body))
	}
}

// Words are what stands between dots and may be empty; the empty key has no word.
func TestTopicPatterns(t *testing.T) {
	t.Parallel()
	keys := []string{"", "a", "a.b", "a.b.c", "a..b", "a.", ".", "a.x.b", "a.b.c.d"}
	cases := map[string][]string{
		"#":       keys,
		"":        {""},
		"a":       {"a"},
		"*":       {"a"},
		"*.#":     keys[1:],
		"a.*":     {"a.b", "a."},
		"*.*":     {"a.b", "a.", "."},
		"#.":      {"a.", "."},
		"a.#":     {"a", "a.b", "a.b.c", "a..b", "a.", "a.x.b", "a.b.c.d"},
		"a.#.b":   {"a.b", "a..b", "a.x.b"},
		"#.b":     {"a.b", "a..b", "a.x.b"},
		"a.*.b":   {"a..b", "a.x.b"},
		"a.*.c.#": {"a.b.c", "a.b.c.d"},
		"a.b.c":   {"a.b.c"},
		"a*":      nil,
		"A":       nil,
	}
	s := dial(t)
	exchange := s.exchange("topic")
	queues := map[string]string{}
	for pattern := range cases {
		queues[pattern] = s.bound(exchange, nil, pattern)
	}
	many := s.bound(exchange, nil, "#", "a.#", "a.*", "*.b", "a.b")
	for _, key := range keys {
		send(s.ch, exchange, key, key)
	}
	for pattern, want := range cases {
		if got := s.drain(queues[pattern]); !slices.Equal(got, want) {
			t.Errorf("%q matched %q, want %q", pattern, got, want)
		}
	}
	if got := s.drain(many); !slices.Equal(got, keys) {
		t.Errorf("a queue with many bindings got %q, want each of %q once", got, keys)
	}
}

func TestHeadersMatching(t *testing.T) {
	t.Parallel()
	message := amqp091.Table{"n": int64(1), "s": "1", "x-h": "x", "void": nil, "list": []any{int32(1)}}
	cases := []struct {
		name string
		args amqp091.Table
		want bool
	}{
		{"all is the default", amqp091.Table{"n": int64(1), "s": "2"}, false},
		{"all of them", amqp091.Table{"x-match": "all", "n": int64(1), "s": "1"}, true},
		{"any of them", amqp091.Table{"x-match": "any", "n": int64(2), "s": "1"}, true},
		{"none of them", amqp091.Table{"x-match": "any", "n": int64(2), "s": "2"}, false},
		{"no arguments, all", nil, true},
		{"no arguments, any", amqp091.Table{"x-match": "any"}, false},
		{"x- is ignored by all", amqp091.Table{"x-match": "all", "n": int64(1), "x-h": "y"}, true},
		{"x- is ignored by any", amqp091.Table{"x-match": "any", "x-h": "x"}, false},
		{"x- counts in all-with-x", amqp091.Table{"x-match": "all-with-x", "n": int64(1), "x-h": "y"}, false},
		{"x- counts in any-with-x", amqp091.Table{"x-match": "any-with-x", "x-h": "x"}, true},
		{"void asks for presence", amqp091.Table{"n": nil}, true},
		{"void asks for absence in vain", amqp091.Table{"missing": nil}, false},
		{"other integer width", amqp091.Table{"n": int32(1)}, true},
		{"string of the same digits", amqp091.Table{"n": "1"}, false},
		{"integer for a string", amqp091.Table{"s": int32(1)}, false},
		{"whole array", amqp091.Table{"list": []any{int32(1)}}, true},
		{"item of an array", amqp091.Table{"list": int32(1)}, false},
	}
	s := dial(t)
	for _, c := range cases {
		exchange := s.exchange("headers")
		queue := s.bound(exchange, c.args, "", "other") // two bindings, one copy
		s.ok(s.ch.Publish(exchange, "ignored", false, false, amqp091.Publishing{Headers: message}))
		want := 0
		if c.want {
			want = 1
		}
		if got := len(s.drain(queue)); got != want {
			t.Errorf("%s: %d copies, want %d", c.name, got, want)
		}
	}
	exchange := s.exchange("headers")
	queue := exclusiveQueue(s.ch)
	s.refuse(amqp091.PreconditionFailed, "unknown x-match", func(ch *amqp091.Channel) error {
		return ch.QueueBind(queue, "", exchange, false, amqp091.Table{"x-match": "some"})
	})
}

// The first consumer alone is served. When it dies the next gets what it held, first, in order and redelivered, while messages keep
// coming; the one after it gets nothing until its turn.
func TestSingleActiveConsumerFailsOver(t *testing.T) {
	t.Parallel()
	s := dial(t)
	for range 20 {
		q := s.queue(amqp091.Table{"x-single-active-consumer": true})
		active, tcp := dialTCP(t)
		first, second, third := active.consume(q, 3), s.consume(q, 100), s.consume(q, 100)
		s.publish(q, numbers(0, 5)...)
		for _, body := range numbers(0, 2) {
			first.next(body)
		}
		published := make(chan error, 1)
		go func() { published <- publishAll(s.ch, q, numbers(6, 30)) }()
		s.ok(tcp.SetLinger(0))
		s.ok(tcp.Close())
		for n, body := range numbers(0, 30) {
			if m := second.next(body); m.Redelivered != (n < 3) {
				t.Fatalf("message %s came with redelivered %v", body, m.Redelivered)
			} else if n == 30 {
				s.ok(m.Ack(true))
			}
		}
		s.ok(receive(t, published, "the publisher's end"))
		s.ok(second.ch.Cancel(second.tag, false))
		s.publish(q, "last")
		third.next("last")
		s.ok(second.ch.Close())
		s.ok(third.ch.Close())
	}
}

// publishAll publishes to a queue from a goroutine that must not end the test.
func publishAll(ch *amqp091.Channel, queue string, bodies []string) error {
	for _, body := range bodies {
		if err := ch.Publish("", queue, false, false, amqp091.Publishing{Body: []byte(body)}); err != nil {
			return fmt.Errorf("publish %s: %w", body, err)
		}
	}
	return nil
}
