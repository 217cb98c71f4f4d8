package exchange_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
)

func TestNewRefusesTypes(t *testing.T) {
	for kind, want := range map[string]string{
		"bogus":  "PRECONDITION_FAILED - unknown exchange type 'bogus'",
		"DIRECT": "PRECONDITION_FAILED - unknown exchange type 'DIRECT'",
		"":       "PRECONDITION_FAILED - invalid exchange type ''",
		"queue":  "PRECONDITION_FAILED - invalid exchange type 'queue'",
	} {
		_, err := exchange.New(exchange.Options{Type: kind})
		var refused *amqp.Error
		if !errors.As(err, &refused) || refused.Code != 406 || refused.Text != want {
			t.Errorf("type %q: got %v, want 406 %s", kind, err, want)
		}
		if known := exchange.KnownType(kind); known == nil || known.Error() != want {
			t.Errorf("KnownType(%q) = %v, want %s", kind, known, want)
		}
	}
	if err := exchange.KnownType("topic"); err != nil {
		t.Errorf("KnownType(topic) = %v", err)
	}
}

// Equal bindings are one; those that differ in key or arguments are two, in every type.
func TestBindingIdentity(t *testing.T) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			x, q := w.exchange(kind, "x"), newQueue("q")
			a, b := field("a", int32(1)), field("b", "2")
			w.bind(x, q, "k", a, b)
			w.bind(x, q, "k", b, a)
			w.bind(x, q, "k")
			w.bind(x, q, "j")
			if n := x.Len(); n != 3 {
				t.Errorf("%d bindings after binding again, want 3", n)
			}
			for _, different := range [][]amqp.Field{{a}, {b}, {field("a", int64(1)), b}, {field("a", int32(2)), b}} {
				if w.unbind(x, q, "k", different...) {
					t.Errorf("unbind with other arguments %v removed something", different)
				}
			}
			if !w.unbind(x, q, "k", b, a) || w.unbind(x, q, "k", a, b) {
				t.Error("one unbind must remove the binding, and the second find none")
			}
			r := keys("k")
			r.Headers = table()
			expect(t, "still bound by k without arguments", names(x, r), []string{"q"})
			w.unbind(x, q, "k")
			w.unbind(x, q, "j")
			expect(t, "unbound", names(x, r), []string{})
			if n := x.Len(); n != 0 {
				t.Errorf("%d bindings left", n)
			}
		})
	}
}

// A queue declared again under the same name is another destination.
func TestDestinationsAreCompared(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("direct", "x")
	old, fresh := newQueue("q"), newQueue("q")
	w.bind(x, old, "k")
	if x.Has(exchange.Binding{Destination: fresh, Key: "k"}) || w.unbind(x, fresh, "k") {
		t.Error("a binding of the queue before was taken for one of the new queue")
	}
	if !x.Has(exchange.Binding{Destination: old, Key: "k"}) {
		t.Error("the binding is gone")
	}
}

func TestUnbindAll(t *testing.T) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			x, q, other := w.exchange(kind, "x"), newQueue("q"), newQueue("other")
			for i := range 100 {
				w.bind(x, q, fmt.Sprint("k.", i))
			}
			w.bind(x, other, "k.1")
			for _, i := range []int{0, 50, 99} { // the ends of the chain and one amid it
				w.unbind(x, q, fmt.Sprint("k.", i))
			}
			if n := len(x.BindingsTo(q)); n != 97 || !x.Bound(q) {
				t.Errorf("%d bindings listed, want 97", n)
			}
			stamp := exchange.NewStamp(&w.graph)
			if n := x.UnbindAll(q); n != 97 || stamp.Valid() || x.Bound(q) {
				t.Errorf("%d bindings removed, want 97; routes before are valid: %v", n, stamp.Valid())
			}
			if n := x.UnbindAll(q); n != 0 {
				t.Errorf("%d bindings removed the second time", n)
			}
			r := keys("k.1")
			r.Headers = table()
			expect(t, "left", names(x, r), []string{"other"})
		})
	}
}

func TestDelete(t *testing.T) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		w := newWorld(t)
		x, q := w.exchange(kind, "x"), newQueue("q")
		w.bind(x, q, "k")
		r := keys("k")
		x.Route(r)
		if _, ok := x.Delete(true); ok {
			t.Errorf("%s: deleted though it has a binding", kind)
		}
		if kind != "headers" && !r.Stamp.Valid() {
			t.Errorf("%s: a refused deletion made a route invalid", kind)
		}
		if bindings, ok := x.Delete(false); !ok || len(bindings) != 1 || bindings[0].Key != "k" || x.Len() != 0 {
			t.Errorf("%s: deleted %v with the bindings %v", kind, ok, bindings)
		}
		if r.Stamp.Valid() {
			t.Errorf("%s: a route outlives its exchange", kind)
		}
		if err := x.Bind(exchange.Binding{Destination: q, Key: "k"}); !errors.Is(err, exchange.ErrDeleted) {
			t.Errorf("%s: bind to a deleted exchange: %v", kind, err)
		}
		expect(t, kind+" deleted", names(x, r), []string{})
		if w.unbind(x, q, "k") {
			t.Errorf("%s: the binding is still there", kind)
		}
	}
}

func TestDeleteUnused(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("fanout", "x")
	w.bind(w.exchange("fanout", "source"), x, "") // being a destination is no use
	if _, ok := x.Delete(true); !ok {
		t.Error("an exchange without bindings as source was not deleted")
	}
}

func TestBindings(t *testing.T) {
	w := newWorld(t)
	x, y, q := w.exchange("topic", "x"), w.exchange("topic", "y"), newQueue("q")
	w.bind(x, q, "a.*", field("n", int32(1)))
	w.bind(x, y, "#")
	listed := make(map[string]bool)
	for _, b := range x.Bindings() {
		listed[fmt.Sprint(b.Destination.Name(), " ", b.Key, " ", b.ToExchange(), " ", len(b.Arguments))] = true
	}
	if len(listed) != 2 || !listed["q a.* false 1"] || !listed["y # true 0"] {
		t.Errorf("bindings: %v", listed)
	}
	if x.Name() != "x" || x.Options().Type != "topic" {
		t.Errorf("name and options: %q, %+v", x.Name(), x.Options())
	}
}

func TestCanonicalArguments(t *testing.T) {
	text := func(fields ...amqp.Field) string {
		return (&exchange.Binding{Arguments: fields}).CanonicalArguments()
	}
	a, b := field("a", int32(1)), field("b", "x")
	if text() != "" || text(a, b) != text(b, a) || text(a) == text(b) || text(a) == text(field("a", int64(1))) {
		t.Error("arguments are canonical up to the order of their names, and nothing else")
	}
	fields := amqp.Table{b, a}
	text(fields...)
	if fields[0].Name != "b" {
		t.Error("the table itself was sorted")
	}
}

// Destinations beyond a few are found by an index; it must agree with the list at all times.
func TestManyDestinationsUnderOneKey(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("fanout", "x")
	const n = 200
	queues := make([]*destination, n)
	for i := range queues {
		queues[i] = newQueue(fmt.Sprintf("q%03d", i))
		w.bind(x, queues[i], "")
		w.bind(x, queues[i], "again")
	}
	for i := range queues {
		w.unbind(x, queues[i], "")
	}
	if got := names(x, keys("")); len(got) != n {
		t.Fatalf("%d queues with one of two bindings left, want %d", len(got), n)
	}
	for i := 0; i < n; i += 2 {
		w.unbind(x, queues[i], "again")
	}
	got := names(x, keys(""))
	if len(got) != n/2 || got[0] != "q001" || strings.Join(got[:2], " ") != "q001 q003" {
		t.Errorf("%d queues left, the first are %q", len(got), got[:2])
	}
}
