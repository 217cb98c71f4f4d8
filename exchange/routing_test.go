package exchange_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
)

func TestDirect(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("direct", "x")
	for _, key := range []string{"Key", "a b", "\u00e4\x00", "", "#", "*"} {
		w.bind(x, newQueue(key), key)
	}
	for key, want := range map[string][]string{
		"Key": {"Key"}, "key": {}, "Key ": {}, "a b": {"a b"}, "a  b": {}, "\u00e4\x00": {"\u00e4\x00"}, "\u00e4": {},
		"": {""}, "#": {"#"}, "x": {}, "\xff": {},
	} {
		expect(t, fmt.Sprintf("key %q", key), names(x, keys(key)), want)
	}
	expect(t, "CC", names(x, keys("Key", "a b", "Key", "none")), []string{"Key", "a b"})
}

func TestFanout(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("fanout", "x")
	q, r := newQueue("q"), newQueue("r")
	w.bind(x, q, "a")
	w.bind(x, q, "b")
	w.bind(x, r, "", field("any", int32(1)))
	expect(t, "all", names(x, keys("zzz", "y")), []string{"q", "r"})
}

// Each exchange on the way looks at the same keys; one queue gets one copy whichever way it is reached.
func TestExchangeToExchange(t *testing.T) {
	w := newWorld(t)
	x, y, z := w.exchange("topic", "x"), w.exchange("direct", "y"), w.exchange("fanout", "z")
	q, r := newQueue("q"), newQueue("r")
	w.bind(x, y, "a.*")
	w.bind(y, q, "a.b")
	w.bind(x, q, "#.b")
	w.bind(y, z, "a.b")
	w.bind(z, r, "")
	w.bind(z, q, "")
	expect(t, "a.b", names(x, keys("a.b")), []string{"q", "r"})
	expect(t, "a.c", names(x, keys("a.c")), []string{})
	expect(t, "b.b", names(x, keys("b.b")), []string{"q"})
	expect(t, "from y", names(y, keys("a.b")), []string{"q", "r"})
}

func TestExchangeCycle(t *testing.T) {
	w := newWorld(t)
	x, y := w.exchange("fanout", "x"), w.exchange("fanout", "y")
	w.bind(x, y, "")
	w.bind(y, x, "")
	w.bind(x, x, "")
	w.bind(x, newQueue("q"), "")
	w.bind(y, newQueue("r"), "")
	expect(t, "from x", names(x, keys("")), []string{"q", "r"})
	expect(t, "from y", names(y, keys("")), []string{"q", "r"})
}

// More exchanges and queues than are compared one by one.
func TestLongWay(t *testing.T) {
	w := newWorld(t)
	const n = 300
	first := w.exchange("fanout", "x0")
	shared := newQueue("shared")
	last := first
	for i := range n {
		next := w.exchange("fanout", fmt.Sprint("x", i+1))
		w.bind(last, next, "")
		w.bind(next, first, "")
		w.bind(next, shared, "")
		w.bind(next, newQueue(fmt.Sprintf("q%03d", i)), "")
		last = next
	}
	r := keys("")
	for range 2 { // the second time with the scratch space of the first
		if got := names(first, r); len(got) != n+1 {
			t.Fatalf("%d queues, want %d", len(got), n+1)
		}
	}
	expect(t, "a short way afterwards", names(last, keys("")), names(first, r))
}

func alternate(name string) amqp.Field { return field(exchange.ArgAlternate, name) }

func TestAlternate(t *testing.T) {
	w := newWorld(t)
	q, r := newQueue("q"), newQueue("r")
	last := w.exchange("fanout", "last")
	w.bind(last, q, "")
	middle := w.exchange("direct", "middle", alternate("last"))
	w.bind(middle, r, "m")
	x := w.exchange("direct", "x", alternate("middle"))
	own := newQueue("own")
	w.bind(x, own, "k")
	w.bind(x, own, "two")
	w.bind(x, newQueue("too"), "two")
	expect(t, "routed", names(x, keys("k")), []string{"own"})
	expect(t, "routed to two", names(x, keys("two")), []string{"own", "too"})
	expect(t, "by the first alternate", names(x, keys("m")), []string{"r"})
	expect(t, "by the second", names(x, keys("z")), []string{"q"})
	expect(t, "CC that is routed keeps from the alternate", names(x, keys("z", "k")), []string{"own"})

	dead := w.exchange("direct", "dead")
	w.bind(x, dead, "d")
	expect(t, "a way to an exchange is a way, wherever that leads", names(x, keys("d")), []string{})

	source := w.exchange("fanout", "source")
	w.bind(source, x, "")
	w.bind(source, own, "")
	expect(t, "each exchange has its own alternate", names(source, keys("m")), []string{"own", "r"})
}

func TestAlternateLeadsNowhere(t *testing.T) {
	w := newWorld(t)
	for _, x := range []*exchange.Exchange{
		w.exchange("direct", "missing", alternate("none")),
		w.exchange("direct", "itself", alternate("itself")),
		w.exchange("direct", "there", alternate("back")),
		w.exchange("direct", "back", alternate("there")),
	} {
		expect(t, x.Name(), names(x, keys("k")), []string{})
	}
}

// A queue that was found already is a way too, and keeps the message from the alternate.
func TestAlternateNotAfterDuplicate(t *testing.T) {
	w := newWorld(t)
	q, alt := newQueue("q"), w.exchange("fanout", "alt")
	w.bind(alt, newQueue("wrong"), "")
	x, y := w.exchange("fanout", "x"), w.exchange("fanout", "y", alternate("alt"))
	w.bind(x, q, "")
	w.bind(x, y, "")
	w.bind(y, q, "")
	expect(t, "queues", names(x, keys("")), []string{"q"})
}

func TestStamp(t *testing.T) {
	w := newWorld(t)
	x, unrelated, q := w.exchange("topic", "x"), w.exchange("topic", "unrelated"), newQueue("q")
	if (exchange.Stamp{}).Valid() {
		t.Error("the zero stamp is valid")
	}
	stamp := func(from *exchange.Exchange, r *exchange.Routing) exchange.Stamp {
		from.Route(r)
		return r.Stamp
	}
	valid := func(what string, s exchange.Stamp, want bool) {
		t.Helper()
		if s.Valid() != want {
			t.Errorf("%s: valid = %v", what, s.Valid())
		}
	}

	s := stamp(x, keys("k"))
	valid("nothing changed", s, true)
	w.bind(unrelated, q, "k")
	valid("another exchange changed", s, true)
	w.bind(x, q, "k")
	valid("bound", s, false)
	s = stamp(x, keys("k"))
	w.bind(x, q, "k")
	valid("bound again", s, true)
	w.unbind(x, q, "k")
	valid("unbound", s, false)

	y := w.exchange("direct", "y")
	w.bind(x, y, "#")
	s = stamp(x, keys("k"))
	valid("over two exchanges", s, true)
	w.bind(y, q, "k")
	valid("the second exchange changed", s, false)

	z := w.exchange("direct", "z", alternate("later"))
	s = stamp(z, keys("k"))
	valid("an alternate that is not there", s, true)
	w.graph.Add(1) // as its declaration does
	valid("the alternate was declared", s, false)

	valid("several keys", stamp(x, keys("k", "j")), false)
	valid("headers", stamp(w.exchange("headers", "h"), keys("k")), false)
	w.bind(y, w.exchanges["h"], "k")
	valid("a way over headers", stamp(x, keys("k")), false)
}

func TestRouteDoesNotAllocate(t *testing.T) {
	w := newWorld(t)
	alt := w.exchange("fanout", "alt")
	for i := range 40 {
		w.bind(alt, newQueue(fmt.Sprint("q", i)), "")
	}
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		x := w.exchange(kind, kind, alternate("alt"))
		w.bind(x, newQueue("q"), "a.b.c", field("h", "v"), field("n", int32(5)))
		w.bind(x, alt, "a.b.c", field("h", "v"))
		r := keys("a.b.c", "a.b")
		r.Headers = table(field("n", int64(5)), field("h", []byte("v")))
		x.Route(r)
		if n := testing.AllocsPerRun(100, func() { x.Route(r) }); n != 0 {
			t.Errorf("%s: %v allocations a route", kind, n)
		}
		if len(r.Found()) != 41 {
			t.Errorf("%s: %d queues, want 41", kind, len(r.Found()))
		}
	}
}

// Run with -race: routing goes on while bindings come and go, and always finds the binding that stays.
func TestConcurrentUse(t *testing.T) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		w := newWorld(t)
		x, y, stays := w.exchange(kind, "x"), w.exchange(kind, "y"), newQueue("stays")
		w.bind(x, stays, "k")
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				q := newQueue(fmt.Sprint("q", i))
				for range 200 {
					w.bind(x, q, "k")
					w.bind(x, y, "k", field("n", int32(i)))
					w.bind(y, q, "k")
					x.UnbindAll(q)
					w.unbind(x, y, "k", field("n", int32(i)))
					w.unbind(y, q, "k")
				}
			})
			wg.Go(func() {
				r := keys("k")
				r.Headers = table()
				for range 200 {
					x.Route(r)
					if !holds(r, stays) {
						t.Errorf("%s: the binding that stays was not found", kind)
						return
					}
				}
			})
		}
		wg.Wait()
		r := keys("k")
		r.Headers = table()
		expect(t, kind+" in the end", names(x, r), []string{"stays"})
	}
}

func holds(r *exchange.Routing, d exchange.Destination) bool { return slices.Contains(r.Found(), d) }
