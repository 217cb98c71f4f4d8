package interop

import (
	"fmt"
	"strconv"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"leveret/amqp"
)

const (
	hotMessages  = 1_000_000 // of the hot group: most of them are on disk
	otherGroups  = 100       // none of them in the hot one's lane
	otherSize    = 3
	hotPrefetch  = 10
	hotFollowing = 2_000 // of the hot group, that are looked at in the end
)

// A million messages of one group stand before those of others, and their consumer does nothing. The others are served all the same; and when the
// consumer's connection dies, the group goes to another one from its first message on, in order.
func TestHotGroupOfAMillion(t *testing.T) {
	t.Parallel()
	b := ownBroker(t)
	s := dialBroker(t, b)
	q := freshName(t)
	_, err := s.ch.QueueDeclare(q, true, false, false, false, amqp091.Table{"x-group-by": "header:group"})
	s.ok(err)
	fillHot(t, b, q)

	idle := dialBroker(t, b)
	held := idle.consume(q, hotPrefetch)
	for n := range hotPrefetch {
		wantHot(t, held, n, false)
	}
	busy := s.consume(q, 100)
	next := map[string]int{}
	for range otherGroups * otherSize {
		m := receive(t, busy.deliveries, "a message of another group")
		group := m.Headers["group"].(string)
		if string(m.Body) != strconv.Itoa(next[group]) {
			t.Fatalf("message %s of group %q comes, want %d", m.Body, group, next[group])
		}
		next[group]++
		s.ok(m.Ack(false))
	}
	if n := next["hot"]; n > 0 {
		t.Fatalf("%d messages of the hot group went to another consumer", n)
	}
	s.awaitReady(q, hotMessages-hotPrefetch)

	s.ok(idle.conn.Close())
	for n := range hotFollowing {
		s.ok(wantHot(t, busy, n, n < hotPrefetch).Ack(false))
	}
}

// fillHot publishes the messages of the hot group, then those of the others, as fast as the broker takes them, and returns when it has all.
func fillHot(t *testing.T, b *broker, queue string) {
	t.Helper()
	const atOnce = 1000
	w, tune := startWire(t, b), offer()
	w.send(0, &tune)
	call[*amqp.ConnectionOpenOk](w, 0, &amqp.ConnectionOpen{VirtualHost: "/"})
	w.open(1)
	var octets []byte
	for n := range hotMessages + otherGroups*otherSize {
		group, body := "hot", n
		if i := n - hotMessages; i >= 0 {
			group, body = fmt.Sprintf("cold-%d", i%otherGroups), i/otherGroups
		}
		p := amqp.Properties{Flags: amqp.FlagHeaders | amqp.FlagDeliveryMode, DeliveryMode: amqp.Persistent, Headers: amqp.Table{{Name: "group", Value: group}}}
		octets = append(octets, w.message(1, amqp.BasicPublish{RoutingKey: []byte(queue)}, p, strconv.AppendInt(nil, int64(body), 10))...)
		if n%atOnce == atOnce-1 {
			w.write(octets)
			octets = octets[:0]
		}
	}
	w.write(octets)
	if n := w.count(1, queue); n != hotMessages+otherGroups*otherSize {
		t.Fatalf("%d messages are ready", n)
	}
}

// wantHot takes a delivery and wants it to be that message of the hot group.
func wantHot(t *testing.T, c *consumer, number int, redelivered bool) amqp091.Delivery {
	t.Helper()
	m := c.next(strconv.Itoa(number))
	if m.Headers["group"] != "hot" || m.Redelivered != redelivered {
		t.Fatalf("message %d of group %q comes, redelivered %v", number, m.Headers["group"], m.Redelivered)
	}
	return m
}
