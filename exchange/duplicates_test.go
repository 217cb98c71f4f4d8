package exchange_test

import (
	"testing"

	"leveret/amqp"
	"leveret/dedup"
	"leveret/exchange"
)

// key is a routing with a deduplication key.
func key(value any) *exchange.Routing {
	r := keys("k")
	r.Headers = table(field("x-deduplication-header", value))
	return r
}

func TestDuplicates(t *testing.T) {
	w := newWorld(t)
	x, y := w.exchange("fanout", "x"), w.exchange("fanout", "y")
	w.bind(x, newQueue("q"), "")
	w.bind(y, newQueue("other"), "")
	x.Apply(exchange.Settings{Window: dedup.New(dedup.Options{Size: 10}), Alternate: "y", HasAlternate: true})

	r := key("a")
	expect(t, "the first", names(x, r), []string{"q"})
	if r.Duplicate || len(r.Claims) != 1 || r.Stamp.Valid() {
		t.Errorf("duplicate %v, claims %d, stamp %v", r.Duplicate, len(r.Claims), r.Stamp.Valid())
	}
	expect(t, "not sent yet", names(x, key("a")), []string{"q"})
	if !r.Claims.Take() {
		t.Fatal("the key is taken")
	}
	again := key("a")
	expect(t, "the second, not for the alternate either", names(x, again), []string{})
	if !again.Duplicate || len(again.Claims) != 0 {
		t.Errorf("duplicate %v, claims %d", again.Duplicate, len(again.Claims))
	}
	again.Forwarded = true
	expect(t, "a dead letter", names(x, again), []string{"q"})
	expect(t, "another", names(x, key("b")), []string{"q"})
	expect(t, "without a key", names(x, keys("k")), []string{"q"})
	x.RouteDue(again)
	if len(again.Found()) != 1 || again.Duplicate {
		t.Errorf("what was delayed comes to %v", again.Found())
	}
}

// Behind another exchange a duplicate goes where it would go without this one.
func TestDuplicatesBehindAnExchange(t *testing.T) {
	w := newWorld(t)
	x, y := w.exchange("fanout", "x"), w.exchange("fanout", "y")
	w.bind(x, newQueue("q"), "")
	w.bind(x, y, "")
	w.bind(y, newQueue("r"), "")
	y.Apply(exchange.Settings{Window: dedup.New(dedup.Options{Size: 10})})
	r := key(int32(1))
	expect(t, "the first", names(x, r), []string{"q", "r"})
	r.Claims.Take()
	expect(t, "the second", names(x, key(int64(1))), []string{"q"})
}

func TestDeduplicates(t *testing.T) {
	for _, c := range []struct {
		opts exchange.Options
		want bool
	}{
		{exchange.Options{Type: "x-message-deduplication"}, true},
		{exchange.Options{Type: "topic"}, false},
		{exchange.Options{Type: "topic", Arguments: amqp.Table{field("x-message-deduplication", true)}}, true},
		{exchange.Options{Type: "topic", Arguments: amqp.Table{field("x-message-deduplication", false)}}, false},
	} {
		if got := c.opts.Deduplicates(); got != c.want {
			t.Errorf("%+v: %v", c.opts, got)
		}
	}
	w := newWorld(t)
	x := w.exchange(exchange.DeduplicationType, "x")
	w.bind(x, newQueue("q"), "any")
	expect(t, "it routes as fanout does", names(x, keys("k")), []string{"q"})
}
