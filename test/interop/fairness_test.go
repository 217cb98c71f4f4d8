package interop

import (
	"slices"
	"strconv"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// One tenant has 20,000 messages waiting before a consumer that takes a thousand a second. Another that sends fifty a second waits as if it
// were alone: for what the consumer has prefetched, and no longer.
func TestTenantFlood(t *testing.T) {
	t.Parallel()
	const (
		flooded  = 20_000
		sent     = 150
		interval = 20 * time.Millisecond
		work     = time.Millisecond
		// A fair queue answers in tens of milliseconds, some seconds on a slow machine, and one that is first in, first out in twenty seconds or more.
		bound = flooded * work / 2
	)
	s := dial(t)
	q := s.queue(amqp091.Table{"x-fair-by": "header:tenant"})
	for range flooded {
		s.ok(publishFor(s.ch, q, "flood", ""))
	}
	s.awaitReady(q, flooded)
	modest, failed := s.channel().ch, make(chan error, 1)
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		var err error
		for i := 0; i < sent && err == nil; i++ {
			<-tick.C
			err = publishFor(modest, q, "modest", strconv.FormatInt(time.Now().UnixNano(), 10))
		}
		failed <- err
	}()
	waits := serveTenants(t, s.consume(q, 5), work, sent)
	s.ok(<-failed)
	left := s.ready(q)
	slices.Sort(waits)
	p50, p99 := waits[sent/2], waits[sent*99/100]
	t.Logf("the modest tenant waited %v at the median, %v at p99; %d messages of the other are left", p50, p99, left)
	if p99 > bound {
		t.Errorf("p99 is %v, want at most %v", p99, bound)
	}
	if left < flooded/4 {
		t.Errorf("%d messages are left: the flood was no flood", left)
	}
}

// While one tenant has 2,000 messages waiting, each message of another is the next that is served.
func TestTenantBesideAFlood(t *testing.T) {
	eachScripted(t, func(t *testing.T, client string) {
		run(t, client, "flood", []string{freshQueue(t)}, "20 waited for 0", "flooded")
	})
}

func publishFor(ch *amqp091.Channel, queue, tenant, body string) error {
	return ch.Publish("", queue, false, false, amqp091.Publishing{Headers: amqp091.Table{"tenant": tenant}, Body: []byte(body)})
}

// serveTenants works on what comes until that many of the modest tenant have, and returns how long each of them waited since the time in its body.
func serveTenants(t *testing.T, c *consumer, work time.Duration, count int) (waits []time.Duration) {
	t.Helper()
	tick := time.NewTicker(work)
	defer tick.Stop()
	for before := int64(0); len(waits) < count; {
		m := receive(t, c.deliveries, "a message")
		if m.Headers["tenant"] == "modest" {
			began, err := strconv.ParseInt(string(m.Body), 10, 64)
			if c.ok(err); began <= before {
				t.Errorf("a message of time %d came after one of %d", began, before)
			}
			before = began
			waits = append(waits, time.Since(time.Unix(0, began)))
		}
		<-tick.C
		c.ok(m.Ack(false))
	}
	return waits
}
