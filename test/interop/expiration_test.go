package interop

import (
	"testing"

	"leveret/amqp"
)

// What is no number of milliseconds is refused with the publish, and nothing is enqueued; the queue goes on.
func TestValuesOfExpiration(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	w.open(2)
	q := w.queue(2)
	publish := func(expiration string) {
		p := amqp.Properties{Flags: amqp.FlagExpiration, Expiration: expiration}
		w.write(w.message(1, amqp.BasicPublish{RoutingKey: []byte(q)}, p, []byte("perishable")))
	}
	for _, bad := range []string{"abc", "", " 5", "5 ", "1.5", "-1", "0x10", "tomorrow", "2030-01-01", "6779303336614035452", "315360000001"} {
		publish(bad)
		w.wantClosed(1, 406, "invalid expiration '"+bad+"'")
		w.open(1)
		if n := w.count(1, q); n != 0 {
			t.Errorf("%d messages are enqueued after an expiration of %q", n, bad)
		}
	}
	for _, good := range []string{"4294967296", "315360000000"} {
		publish(good)
		if _, c := w.get(1, q); string(c.body) != "perishable" || c.Expiration != good {
			t.Errorf("got %q, which expires after %q, want %q", c.body, c.Expiration, good)
		}
	}
}

// A message that may not wait at all reaches a consumer that is ready for it, and expires where there is none.
func TestExpirationOfZero(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	w.open(2)
	q := w.queue(2)
	publish := w.message(1, amqp.BasicPublish{RoutingKey: []byte(q)}, amqp.Properties{Flags: amqp.FlagExpiration, Expiration: "0"}, []byte("now"))
	w.write(publish)
	w.send(1, &amqp.BasicGet{Queue: q})
	expect[*amqp.BasicGetEmpty](w, 1)
	call[*amqp.BasicConsumeOk](w, 1, &amqp.BasicConsume{Queue: q, NoAck: true})
	w.write(publish)
	w.delivery(1, "now")
}
