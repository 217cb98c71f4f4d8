package exchange_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"leveret/amqp"
)

// numbered are n headers, named by their number and with that value.
func numbered(n int) []amqp.Field {
	fields := make([]amqp.Field, n)
	for i := range fields {
		fields[i] = field(fmt.Sprint("name", i), int32(i))
	}
	return fields
}

// Rules with many criteria look headers up in an index, and must come to the same results as the others do.
func TestHeadersWithManyCriteria(t *testing.T) {
	for _, n := range []int{3, 15, 16, 17, 18, 40, 300} {
		w := newWorld(t)
		x := w.exchange("headers", "x")
		w.bind(x, newQueue("all"), "", numbered(n)...)
		w.bind(x, newQueue("more"), "", append(numbered(n), field("z", nil))...)
		w.bind(x, newQueue("last differs"), "", append(numbered(n-1), field(fmt.Sprint("name", n-1), "other"))...)
		for _, tt := range []struct {
			name string
			sent []amqp.Field
			want []string
		}{
			{"just these", numbered(n), []string{"all"}},
			{"and more", append([]amqp.Field{field("z", true)}, numbered(n)...), []string{"all", "more"}},
			{"one less", numbered(n - 1), nil},
			{"the other value", append(numbered(n-1), field(fmt.Sprint("name", n-1), "other")), []string{"last differs"}},
			{"twice, the first counts", append(numbered(n), field("name0", "other")), []string{"all"}},
			{"twice, the second does not", append([]amqp.Field{field("name1", "other")}, numbered(n)...), nil},
		} {
			r := keys("")
			r.Headers = table(tt.sent...)
			expect(t, fmt.Sprintf("%d criteria, %s", n, tt.name), names(x, r), tt.want)
		}
	}
}

// The next message is not met with the headers of the one before.
func TestHeadersForgetTheMessage(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("headers", "x")
	w.bind(x, newQueue("q"), "", numbered(30)...)
	r := keys("")
	for _, n := range []int{30, 29, 1000, 29, 30} {
		r.Headers = table(numbered(n)...)
		if got := names(x, r); (len(got) == 1) != (n >= 30) {
			t.Errorf("%d headers: %q", n, got)
		}
	}
}

// What a message costs does not go by the product of its headers and a rule's criteria: at thousands of each that would be seconds.
func TestHeadersCostIsNoProduct(t *testing.T) {
	cost := func(n int) time.Duration {
		w := newWorld(t)
		x := w.exchange("headers", "x")
		w.bind(x, newQueue("q"), "", numbered(n)...)
		fields := numbered(n)
		slices.Reverse(fields) // what is looked for first stands last
		r := keys("")
		r.Headers = table(fields...)
		return mean(t, func() { x.Route(r) })
	}
	const few, many = 100, 8000
	if a, b := cost(few), cost(many); b > 8*many/few*a {
		t.Errorf("%d headers and criteria take %s, %d take %s", few, a, many, b)
	}
}
