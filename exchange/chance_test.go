package exchange_test

import (
	"fmt"
	"slices"
	"testing"

	"leveret/amqp"
	"leveret/exchange"

	"pgregory.net/rapid"
)

// counts routes n messages and counts the queues that they come to.
func counts(x *exchange.Exchange, n int) map[string]int {
	found := map[string]int{}
	r := keys("")
	for i := range n {
		r.Keys[0] = fmt.Append(r.Keys[0][:0], i)
		x.Route(r)
		for _, d := range r.Found() {
			found[d.Name()]++
		}
	}
	return found
}

func TestRandom(t *testing.T) {
	for _, kind := range []string{"x-random", "x-local-random"} {
		w := newWorld(t)
		x := w.exchange(kind, "x")
		expect(t, kind+" without bindings", names(x, keys("k")), []string{})
		queues := []*destination{newQueue("a"), newQueue("b"), newQueue("c")}
		for _, q := range queues {
			w.bind(x, q, "")
		}
		found := counts(x, 3000)
		for _, q := range queues {
			if n := found[q.name]; n < 800 || n > 1200 {
				t.Errorf("%s: %s got %d of 3000", kind, q.name, n)
			}
		}
		w.unbind(x, queues[1], "")
		if found = counts(x, 100); found["a"]+found["c"] != 100 {
			t.Errorf("%s: after an unbind: %v", kind, found)
		}
		r := keys("k")
		if x.Route(r); r.Stamp.Valid() {
			t.Errorf("%s: the route has a stamp", kind)
		}
	}
}

// The keys of the bindings do not matter, and a destination that is bound twice is no more likely.
func TestRandomKeys(t *testing.T) {
	w := newWorld(t)
	x, q, r := w.exchange("x-random", "x"), newQueue("q"), newQueue("r")
	for _, key := range []string{"a", "b", "c", "d"} {
		w.bind(x, q, key)
	}
	w.bind(x, r, "a")
	if n := counts(x, 2000)["r"]; n < 800 || n > 1200 {
		t.Errorf("r got %d of 2000", n)
	}
}

func TestLocalRandomBindings(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("x-local-random", "x")
	bind := func(d exchange.Destination, key string) error {
		return x.Bind(exchange.Binding{Destination: d, Key: key})
	}
	expectError(t, "with a key", bind(newQueue("q"), "k"), "Non empty binding 'k' key not permitted")
	expectError(t, "an exchange", bind(w.exchange("fanout", "y"), ""), "Destination not found")
	expectError(t, "an exchange with a key", bind(w.exchange("fanout", "z"), "k"), "Non empty binding 'k' key not permitted")
	expectError(t, "a queue", bind(newQueue("q"), ""), "")
}

// A key comes to the binding at its hash modulo the number of bindings, in order of the destinations' names, whatever came first.
func TestModulusHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bindings := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) [2]string {
			return [2]string{rapid.StringMatching(`[a-d]`).Draw(t, "queue"), rapid.StringMatching(`[a-c]`).Draw(t, "key")}
		}), 1, 9, rapid.ID).Draw(t, "bindings")
		queues := map[string]*destination{}
		for _, b := range bindings {
			queues[b[0]] = newQueue(b[0])
		}
		bound := func(order [][2]string) *exchange.Exchange {
			x, err := exchange.New(exchange.Options{Name: "x", Type: "x-modulus-hash"})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range order {
				mustBind(t, x, queues[b[0]], b[1])
			}
			return x
		}
		x := bound(bindings)
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "routing key")
		first := names(x, &exchange.Routing{Keys: [][]byte{key}})
		if len(first) != 1 {
			t.Fatalf("%d destinations", len(first))
		}
		other := bound(rapid.Permutation(bindings).Draw(t, "order"))
		if got := names(other, &exchange.Routing{Keys: [][]byte{key}}); !slices.Equal(got, first) {
			t.Fatalf("bound in another order %q came to %v, not %v", key, got, first)
		}
		for _, b := range bindings {
			if !x.Unbind(exchange.Binding{Destination: queues[b[0]], Key: b[1]}) {
				t.Fatalf("%v was not bound", b)
			}
		}
		if got := names(x, &exchange.Routing{Keys: [][]byte{key}}); len(got) > 0 {
			t.Fatalf("with nothing bound %q came to %v", key, got)
		}
	})
}

// A destination has a share for each of its bindings, arguments told apart too.
func TestModulusHashShares(t *testing.T) {
	w := newWorld(t)
	x, q, r := w.exchange("x-modulus-hash", "x"), newQueue("q"), newQueue("r")
	w.bind(x, q, "a")
	w.bind(x, q, "b")
	w.bind(x, q, "b", field("n", int32(1)))
	w.bind(x, r, "a")
	if n := counts(x, 4000)["r"]; n < 850 || n > 1150 {
		t.Errorf("the queue of one of four bindings got %d of 4000", n)
	}
	w.unbind(x, q, "b", field("n", int32(1)))
	w.unbind(x, q, "b")
	if n := counts(x, 4000)["r"]; n < 1850 || n > 2150 {
		t.Errorf("the queue of one of two bindings got %d of 4000", n)
	}
}

func TestModulusHashAllKeys(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("x-modulus-hash", "x")
	for i := range 5 {
		w.bind(x, newQueue(fmt.Sprint("q", i)), "")
	}
	seen := map[string]bool{}
	for i := range 50 {
		seen[names(x, keys("same", fmt.Sprint("copy", i)))[0]] = true
	}
	if len(seen) < 2 {
		t.Error("the further keys of a message do not count")
	}
}

func TestHistoryLength(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{int32(1), ""}, {int64(5), ""}, {uint8(3), ""},
		{int32(0), "Invalid argument 0, 'x-recent-history-length' must be a positive integer"},
		{int64(-1), "Invalid argument -1, 'x-recent-history-length' must be a positive integer"},
		{"a", `Invalid argument <<"a">>, 'x-recent-history-length' must be a positive integer`},
		{1.5, "Invalid argument 1.5, 'x-recent-history-length' must be a positive integer"},
		{nil, "Invalid argument undefined, 'x-recent-history-length' must be a positive integer"},
	} {
		_, err := exchange.New(exchange.Options{Name: "x", Type: "x-recent-history", Arguments: amqp.Table{field("x-recent-history-length", c.value)}})
		expectError(t, fmt.Sprint("length ", c.value), err, c.want)
	}
}

// message is a message with a body and headers.
func message(body string, headers ...amqp.Field) (amqp.Message, *amqp.PropertyIndex) {
	p := amqp.Properties{}
	if headers != nil {
		p.Flags, p.Headers = amqp.FlagHeaders, headers
	}
	raw := p.AppendTo(nil)
	var index amqp.PropertyIndex
	if err := amqp.ScanProperties(raw, &index); err != nil {
		panic(err)
	}
	m := amqp.Message(append(append(amqp.AppendMessageAddress(nil, []byte("x"), []byte("k")), raw...), body...))
	m.SetProperties(len(raw), &index, 1)
	return m, &index
}

// send routes a message through an exchange, and then overwrites it: what is kept must be a copy.
func send(x *exchange.Exchange, body string, headers ...amqp.Field) {
	m, index := message(body, headers...)
	r := keys("k")
	r.Message, r.Properties, r.Headers = m, index, index.Headers
	x.Route(r)
	clear(m)
}

func recalled(t *testing.T, x *exchange.Exchange, queue string) (bodies []string) {
	t.Helper()
	messages, err := x.BindAndRecall(exchange.Binding{Destination: newQueue(queue)})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		bodies = append(bodies, string(m.Body()))
	}
	return bodies
}

func TestHistory(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("x-recent-history", "x", field("x-recent-history-length", int32(3)))
	expect(t, "before any message", recalled(t, x, "q0"), nil)
	send(x, "1")
	send(x, "not kept", field("x-recent-history-no-store", true))
	send(x, "2", field("x-recent-history-no-store", false))
	expect(t, "while there are few", recalled(t, x, "q1"), []string{"1", "2"})
	for _, body := range []string{"3", "4", "5", "6", "7"} {
		send(x, body)
	}
	expect(t, "the last, the oldest first", recalled(t, x, "q2"), []string{"5", "6", "7"})
	if err := x.Bind(exchange.Binding{Destination: newQueue("q3")}); err != nil {
		t.Error(err)
	}
	expect(t, "routed to all", names(x, keys("any")), []string{"q0", "q1", "q2", "q3"})
	x.Delete(false)
	if _, err := x.BindAndRecall(exchange.Binding{Destination: newQueue("q4")}); err != exchange.ErrDeleted {
		t.Errorf("bind to a deleted exchange: %v", err)
	}
}

func TestHistoryOfABindingThatIsThere(t *testing.T) {
	w := newWorld(t)
	x, q := w.exchange("x-recent-history", "x"), newQueue("q")
	w.bind(x, q, "k")
	send(x, "1")
	messages, err := x.BindAndRecall(exchange.Binding{Destination: q, Key: "k"})
	if err != nil || messages != nil {
		t.Errorf("a binding that is there got %d messages, error %v", len(messages), err)
	}
}

// Nobody sees the keys of BCC.
func TestHistoryWithoutBlindCopies(t *testing.T) {
	x := newWorld(t).exchange("x-recent-history", "x")
	send(x, "body", field("BCC", amqp.Array{"secret"}), field("CC", amqp.Array{"open"}))
	messages, _ := x.BindAndRecall(exchange.Binding{Destination: newQueue("q")})
	if len(messages) != 1 || string(messages[0].Body()) != "body" {
		t.Fatalf("%d messages", len(messages))
	}
	p, err := amqp.DecodeProperties(messages[0].Properties())
	if err != nil || len(p.Headers) != 1 || p.Headers[0].Name != "CC" {
		t.Errorf("headers %v, error %v", p.Headers, err)
	}
}
