package interop

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// backlog is the size of the field's classic: a queue filled before its consumers come.
const backlog = 45_000

// A holder is a program with one or more consumers that acknowledge nothing of what they get.
type holder struct {
	*program
	early []string // deliveries that were printed before the last consumer had started
}

// held is one delivery to a holder.
type held struct {
	consumer    int
	redelivered bool
	body        string
}

// startHolder returns when all its consumers have started. A prefetch of 0 is no limit; mode is manual or auto.
func startHolder(t *testing.T, client, queue string, prefetch, consumers int, mode string) *holder {
	t.Helper()
	h := &holder{program: start(t, client, "hold", queue, strconv.Itoa(prefetch), strconv.Itoa(consumers), mode)}
	for line := h.next(); line != "ready"; line = h.next() {
		h.early = append(h.early, line)
	}
	return h
}

// take returns the next deliveries, in the order of their arrival.
func (h *holder) take(count int) []held {
	h.t.Helper()
	got := make([]held, count)
	for i := range got {
		line := ""
		if len(h.early) > 0 {
			line, h.early = h.early[0], h.early[1:]
		} else {
			line = h.next()
		}
		var redelivered int
		if _, err := fmt.Sscanf(line, "%d %d %s", &got[i].consumer, &redelivered, &got[i].body); err != nil {
			h.t.Fatalf("%s printed %q: %v", h.name, line, err)
		}
		got[i].redelivered = redelivered == 1
	}
	return got
}

// byConsumer sorts the bodies of deliveries by the consumer that got them, in the order of their arrival.
func byConsumer(deliveries []held) map[int][]string {
	bodies := map[int][]string{}
	for _, d := range deliveries {
		bodies[d.consumer] = append(bodies[d.consumer], d.body)
	}
	return bodies
}

// wantInOrder wants exactly these bodies in this order, all with that redelivered flag.
func wantInOrder(t *testing.T, got []held, redelivered bool, bodies []string) {
	t.Helper()
	for i, d := range got {
		if d.body != bodies[i] || d.redelivered != redelivered {
			t.Fatalf("delivery %d is %q, redelivered %v; want %q, %v", i, d.body, d.redelivered, bodies[i], redelivered)
		}
	}
}

// wantShares wants each of the consumers to have got that many of the deliveries.
func wantShares(t *testing.T, deliveries []held, consumers, each int) {
	t.Helper()
	shares := byConsumer(deliveries)
	for number := range consumers {
		if got := len(shares[number]); got != each {
			t.Errorf("consumer %d got %d messages, want %d", number, got, each)
		}
	}
}

// Without prefetch the first consumer takes all there is. The seven that come later get nothing of it, which shows when new messages
// come: each of the eight gets one, and for the seven it is the first.
func TestConsumerWithoutPrefetchHoardsTheQueue(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		s.fill(q, 1, backlog)
		first := startHolder(t, client, q, 0, 1, "manual")
		wantInOrder(t, first.take(backlog), false, numbers(1, backlog))
		late := startHolder(t, client, q, 0, 7, "manual")
		if n := s.ready(q); n != 0 {
			t.Errorf("%d messages are ready beside a consumer without limit", n)
		}
		s.fill(q, backlog+1, backlog+8)
		first.take(1)
		wantShares(t, late.take(7), 7, 1)
	})
}

// With prefetch 10 the first consumer holds ten, and so does each that comes later, however long the queue is.
func TestEachConsumerHoldsItsPrefetch(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		s.fill(q, 1, backlog)
		first := startHolder(t, client, q, 10, 1, "manual")
		wantInOrder(t, first.take(10), false, numbers(1, 10))
		s.awaitReady(q, backlog-10)
		late := startHolder(t, client, q, 10, 7, "manual")
		wantShares(t, late.take(70), 7, 10)
		if n := s.ready(q); n != backlog-80 {
			t.Errorf("%d messages are ready, want all but 80 of %d", n, backlog)
		}
	})
}

func TestFullConsumerIsSkipped(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		small := startHolder(t, client, q, 1, 1, "manual")
		large := startHolder(t, client, q, 3, 1, "manual")
		s.fill(q, 1, 5)
		wantInOrder(t, small.take(1), false, []string{"1"})
		wantInOrder(t, large.take(3), false, numbers(2, 4))
		if n := s.ready(q); n != 1 {
			t.Errorf("%d messages are ready behind two full consumers, want 1", n)
		}
	})
}

func TestRoundRobinAmongConsumersWithRoom(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		h := startHolder(t, client, q, 3, 3, "manual")
		s.fill(q, 1, 9)
		got := byConsumer(h.take(9))
		for number, want := range [][]string{{"1", "4", "7"}, {"2", "5", "8"}, {"3", "6", "9"}} {
			if !slices.Equal(got[number], want) {
				t.Errorf("consumer %d got %v, want %v", number, got[number], want)
			}
		}
	})
}

// An idle consumer beside a full one gets every next message; an ack makes the full one idle and puts it last in the round.
func TestIdleConsumerGetsTheNext(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(nil)
	busy, idle := s.consume(q, 1), s.consume(q, 1)
	s.publish(q, numbers(1, 6)...)
	kept := busy.next("1")
	for _, body := range numbers(2, 5) {
		s.ok(idle.next(body).Ack(false))
	}
	idle.next("6")
	s.ok(kept.Ack(false))
	s.publish(q, "7")
	busy.next("7")
}

func TestAutoAckIgnoresPrefetch(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		s := dial(t)
		q := s.queue(nil)
		s.fill(q, 1, 1000)
		h := startHolder(t, client, q, 10, 1, "auto")
		wantInOrder(t, h.take(1000), false, numbers(1, 1000))
		h.kill()
		s.awaitReady(q, 0) // nothing comes back of what was acknowledged as it was sent
	})
}

// A message that a consumer gives back is the next that it gets, before all that it has not seen.
func TestNackedMessageComesBackFirst(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(nil)
	s.fill(q, 1, 3)
	c := s.consume(q, 1)
	for range 3 {
		s.ok(c.next("1").Nack(false, true))
	}
	again := c.next("1")
	if !again.Redelivered {
		t.Error("the message came back without the redelivered flag")
	}
	s.ok(again.Ack(false))
	c.next("2")
}
