package exchange_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/exchange"

	"pgregory.net/rapid"
)

func TestConsistentHashWeights(t *testing.T) {
	for _, c := range []struct {
		key, want string // of the error; none if empty
	}{
		{"1", ""}, {"10000", ""}, {"007", ""},
		{"0", "The binding key must be greater than 0"},
		{"-1", "The binding key must be greater than 0"},
		{"-99999999999999999999", "The binding key must be greater than 0"},
		{"10001", "The binding key must not exceed 10000"},
		{"99999999999999999999", "The binding key must not exceed 10000"},
		{"a", `The binding key must be an integer: <<"a">>`},
		{"1.5", `The binding key must be an integer: <<"1.5">>`},
		{" 1", `The binding key must be an integer: <<" 1">>`},
		{"", "The binding key must be an integer: <<>>"},
	} {
		x := newWorld(t).exchange("x-consistent-hash", "x")
		expectError(t, "weight "+strconv.Quote(c.key), x.Bind(exchange.Binding{Destination: newQueue("q"), Key: c.key}), c.want)
	}
}

func TestConsistentHashArguments(t *testing.T) {
	for _, c := range []struct {
		name      string
		arguments amqp.Table
		want      string
	}{
		{"header", amqp.Table{field("hash-header", "h")}, ""},
		{"property", amqp.Table{field("hash-property", "timestamp")}, ""},
		{"LavinMQ", amqp.Table{field("x-hash-on", "h"), field("x-algorithm", "ring")}, ""},
		{"jump", amqp.Table{field("x-algorithm", "jump")}, ""},
		{"both", amqp.Table{field("hash-header", "h"), field("hash-property", "message_id")}, "hash-header and hash-property are mutually exclusive"},
		{"unknown property", amqp.Table{field("hash-property", "app_id")}, "Unsupported property: app_id"},
		{"no string", amqp.Table{field("hash-property", int32(1))}, "Unsupported property: 1"},
		{"header no string", amqp.Table{field("hash-header", int32(1))}, "Invalid header name to hash: 1"},
		{"unknown algorithm", amqp.Table{field("x-algorithm", "md5")}, "Unsupported hash algorithm: md5; expected jump or ring"},
		{"algorithm no string", amqp.Table{field("x-algorithm", amqp.Array{})}, "Unsupported hash algorithm: A:[]; expected jump or ring"},
	} {
		_, err := exchange.New(exchange.Options{Name: "x", Type: "x-consistent-hash", Arguments: c.arguments})
		expectError(t, c.name, err, c.want)
	}
}

// What is hashed: equal values lead to one queue, and different ones to different queues sooner or later.
func TestConsistentHashSources(t *testing.T) {
	byNumber := func(fill func(r *exchange.Routing, i int)) func(int) *exchange.Routing {
		return func(i int) *exchange.Routing {
			r := keys(fmt.Sprint("key", 5))
			fill(r, i)
			return r
		}
	}
	properties := func(p amqp.Properties) *amqp.PropertyIndex {
		var index amqp.PropertyIndex
		if err := amqp.ScanProperties(p.AppendTo(nil), &index); err != nil {
			t.Fatal(err)
		}
		return &index
	}
	for _, c := range []struct {
		name      string
		arguments []amqp.Field
		message   func(i int) *exchange.Routing
	}{
		{"routing key", nil, func(i int) *exchange.Routing { return keys(fmt.Sprint("key", i)) }},
		{"hash-header", []amqp.Field{field("hash-header", "h")}, byNumber(func(r *exchange.Routing, i int) { r.Headers = table(field("h", int32(i))) })},
		{"x-hash-on", []amqp.Field{field("x-hash-on", "h")}, byNumber(func(r *exchange.Routing, i int) { r.Headers = table(field("h", fmt.Sprint(i))) })},
		{"message_id", []amqp.Field{field("hash-property", "message_id")}, byNumber(func(r *exchange.Routing, i int) {
			r.Properties = properties(amqp.Properties{Flags: amqp.FlagMessageID, MessageID: fmt.Sprint(i)})
		})},
		{"correlation_id", []amqp.Field{field("hash-property", "correlation_id")}, byNumber(func(r *exchange.Routing, i int) {
			r.Properties = properties(amqp.Properties{Flags: amqp.FlagCorrelationID, CorrelationID: fmt.Sprint(i)})
		})},
		{"timestamp", []amqp.Field{field("hash-property", "timestamp")}, byNumber(func(r *exchange.Routing, i int) {
			r.Properties = properties(amqp.Properties{Flags: amqp.FlagTimestamp, Timestamp: amqp.Timestamp(i)})
		})},
	} {
		x := newWorld(t).exchange("x-consistent-hash", "x", c.arguments...)
		for i := range 3 {
			mustBind(t, x, newQueue(fmt.Sprint("q", i)), "5")
		}
		seen := map[string]bool{}
		for i := range 50 {
			first, second := names(x, c.message(i)), names(x, c.message(i))
			expect(t, c.name, second, first)
			if len(first) != 1 {
				t.Fatalf("%s: %d queues", c.name, len(first))
			}
			seen[first[0]] = true
		}
		if len(seen) != 3 {
			t.Errorf("%s: 50 values came to %d of 3 queues", c.name, len(seen))
		}
	}
}

// Values that are equal but for their encoding belong together, and so do messages that lack what is hashed.
func TestConsistentHashEqualValues(t *testing.T) {
	x := newWorld(t).exchange("x-consistent-hash", "x", field("hash-header", "h"))
	for i := range 7 {
		mustBind(t, x, newQueue(fmt.Sprint("q", i)), "1")
	}
	for i := range 20 {
		narrow, wide := keys("a"), keys("b")
		narrow.Headers, wide.Headers = table(field("h", int8(i))), table(field("h", int64(i)))
		expect(t, "integers of two widths", names(x, wide), names(x, narrow))
		none, other := keys(fmt.Sprint(i)), keys("")
		other.Headers = table(field("other", int32(i)))
		expect(t, "without the header", names(x, other), names(x, none))
	}
}

// A destination that is bound twice has the weight of its first binding as long as that is there.
func TestConsistentHashSecondBinding(t *testing.T) {
	w := newWorld(t)
	x, q, r := w.exchange("x-consistent-hash", "x"), newQueue("q"), newQueue("r")
	w.bind(x, q, "1")
	w.bind(x, q, "99")
	w.bind(x, r, "1")
	expectShare(t, x, "q", 0.5)
	w.unbind(x, q, "1")
	expectShare(t, x, "q", 0.99)
	w.unbind(x, q, "99")
	expectShare(t, x, "q", 0)
	w.unbind(x, r, "1")
	expect(t, "without bindings", names(x, keys("k")), []string{})
}

func TestConsistentHashToExchange(t *testing.T) {
	w := newWorld(t)
	x, y := w.exchange("x-consistent-hash", "x"), w.exchange("fanout", "y")
	w.bind(x, y, "1")
	w.bind(y, newQueue("q"), "")
	expect(t, "through an exchange", names(x, keys("k")), []string{"q"})
}

func TestConsistentHashIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("x-consistent-hash", "x")
	w.bind(x, newQueue("q"), "1")
	r := keys("k")
	if x.Route(r); r.Stamp.Valid() {
		t.Error("the route has a stamp, and there are as many as keys")
	}
}

// sample is how many keys a share is measured with.
const sample = 3000

// spread routes keys and gives the queue of each.
func spread(x *exchange.Exchange) []string {
	found := make([]string, sample)
	r := keys("")
	for i := range found {
		r.Keys[0] = strconv.AppendInt(r.Keys[0][:0], int64(i), 10)
		if x.Route(r); len(r.Found()) > 0 {
			found[i] = r.Found()[0].Name()
		}
	}
	return found
}

func expectShare(t testing.TB, x *exchange.Exchange, queue string, want float64) {
	t.Helper()
	n := 0
	for _, q := range spread(x) {
		if q == queue {
			n++
		}
	}
	if got := float64(n) / sample; math.Abs(got-want) > 0.04 {
		t.Errorf("%s has %.3f of the keys, want %.3f", queue, got, want)
	}
}

// Exactly one destination a key; shares by weight; few keys move when a queue comes or goes.
func TestConsistentHashProperties(t *testing.T) {
	for algorithm, slack := range map[string]float64{"jump": 0.04, "ring": 0.15} {
		t.Run(algorithm, rapid.MakeCheck(func(t *rapid.T) {
			x, err := exchange.New(exchange.Options{Name: "x", Type: "x-consistent-hash", Arguments: amqp.Table{field("x-algorithm", algorithm)}})
			if err != nil {
				t.Fatal(err)
			}
			m := &hashModel{x: x, slack: slack, weights: map[*destination]int{}}
			for i := range rapid.IntRange(2, 5).Draw(t, "changes") {
				m.change(t, i)
			}
		}))
	}
}

// hashModel is an exchange, and what is bound to it.
type hashModel struct {
	x       *exchange.Exchange
	slack   float64
	queues  []*destination
	weights map[*destination]int
	total   int
	before  []string
}

func (m *hashModel) change(t *rapid.T, i int) {
	var changed *destination
	weight, n := 0, m.total
	if len(m.queues) > 1 && rapid.Bool().Draw(t, "unbind") {
		at := rapid.IntRange(0, len(m.queues)-1).Draw(t, "which")
		changed = m.queues[at]
		weight = m.weights[changed]
		m.queues = append(m.queues[:at:at], m.queues[at+1:]...)
		m.total -= weight
		if !m.x.Unbind(exchange.Binding{Destination: changed, Key: strconv.Itoa(weight)}) {
			t.Fatalf("the binding of %s was not there", changed.name)
		}
	} else {
		changed, weight = newQueue(fmt.Sprint("q", i)), rapid.IntRange(5, 40).Draw(t, "weight")
		m.queues = append(m.queues, changed)
		m.weights[changed] = weight
		m.total += weight
		n = m.total
		mustBind(t, m.x, changed, strconv.Itoa(weight))
	}
	now := spread(m.x)
	m.checkShares(t, now)
	moved := 0
	for k := range m.before {
		if now[k] != m.before[k] {
			moved++
		}
	}
	// When a queue goes, as many other buckets may have to move into its place.
	if most := 2*float64(weight)/float64(n) + m.slack; float64(moved)/sample > most {
		t.Fatalf("%d of %d keys moved for a weight of %d in %d", moved, sample, weight, n)
	}
	m.before = now
}

func (m *hashModel) checkShares(t *rapid.T, found []string) {
	counts := map[string]int{}
	for _, q := range found {
		counts[q]++
	}
	for _, q := range m.queues {
		want := float64(m.weights[q]) / float64(m.total)
		if got := float64(counts[q.name]) / sample; math.Abs(got-want) > m.slack {
			t.Fatalf("%s has %.3f of the keys, its weight is %.3f", q.name, got, want)
		}
		delete(counts, q.name)
	}
	if len(counts) > 0 {
		t.Fatalf("keys came to what is not bound: %v", counts)
	}
}

// The shares of a ring do not depend on the order of the bindings.
func TestRingWithoutOrder(t *testing.T) {
	var routes [][]string
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}} {
		x := newWorld(t).exchange("x-consistent-hash", "x", field("x-algorithm", "ring"))
		for _, i := range order {
			mustBind(t, x, newQueue(fmt.Sprint("q", i)), "10")
		}
		routes = append(routes, spread(x))
	}
	expect(t, "in another order", routes[1], routes[0])
}

// Keys must come to the same queue in every version of the broker: this pins the hash.
func TestConsistentHashStaysTheSame(t *testing.T) {
	x := newWorld(t).exchange("x-consistent-hash", "x")
	for i := range 4 {
		mustBind(t, x, newQueue(fmt.Sprint(i)), "1")
	}
	var got strings.Builder
	for _, key := range []string{"", "a", "order", "customer.17", "a key of more than sixteen octets", "b", "c", "d"} {
		got.WriteString(names(x, keys(key))[0])
	}
	if want := "00331020"; got.String() != want {
		t.Errorf("the keys came to %s, before to %s", got.String(), want)
	}
}

func mustBind(t interface {
	Helper()
	Fatalf(string, ...any)
}, x *exchange.Exchange, q exchange.Destination, key string) {
	t.Helper()
	if err := x.Bind(exchange.Binding{Destination: q, Key: key}); err != nil {
		t.Fatalf("bind %s with %q: %v", q.Name(), key, err)
	}
}

// expectError compares an error with the text of a 406; none is wanted if that is empty.
func expectError(t testing.TB, what string, err error, want string) {
	t.Helper()
	var e *amqp.Error
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != "" && (!errors.As(err, &e) || e.Code != amqp.CodePreconditionFailed || e.Text != "PRECONDITION_FAILED - "+want):
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
}
