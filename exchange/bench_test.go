package exchange_test

import (
	"fmt"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
)

// sizes are how many bindings an exchange has that do not match; the time must not depend on it.
var sizes = []int{100, 10_000, 100_000}

func BenchmarkTopic(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			x, other := w.exchange("topic", "x"), newQueue("other")
			for i := range n {
				w.bind(x, other, fmt.Sprintf("stock.%d.*.nyse.#", i))
			}
			w.bind(x, newQueue("q"), "stock.*.usd.nyse")
			r := keys("stock.none.usd.nyse")
			for b.Loop() {
				x.Route(r)
			}
			if len(r.Found()) != 1 {
				b.Fatalf("%d queues", len(r.Found()))
			}
		})
	}
}

// Many different keys, each of which one of the bindings matches: the trie does not fit the processor's cache.
func BenchmarkTopicSpread(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			x, q := w.exchange("topic", "x"), newQueue("q")
			routed := make([][]byte, n)
			for i := range n {
				w.bind(x, q, fmt.Sprintf("stock.%d.*", i))
				routed[i] = fmt.Appendf(nil, "stock.%d.usd", i*7919%n)
			}
			r := keys("")
			for i := 0; b.Loop(); i++ {
				r.Keys[0] = routed[i%n]
				x.Route(r)
			}
		})
	}
}

func BenchmarkDirect(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			x := w.exchange("direct", "x")
			for i := range n {
				w.bind(x, newQueue("q"), fmt.Sprint("key.", i))
			}
			r := keys("key.7")
			for b.Loop() {
				x.Route(r)
			}
		})
	}
}

func BenchmarkFanout(b *testing.B) {
	for _, n := range []int{1, 10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			x := w.exchange("fanout", "x")
			for range n {
				w.bind(x, newQueue("q"), "")
			}
			r := keys("")
			for b.Loop() {
				x.Route(r)
			}
		})
	}
}

func BenchmarkHeaders(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			x := w.exchange("headers", "x")
			for i := range n {
				w.bind(x, newQueue("q"), "", field("kind", "order"), field("customer", int32(i)))
			}
			w.bind(x, newQueue("q"), "", field("customer", int32(7)), field("kind", "order"))
			r := keys("")
			r.Headers = table(field("other", true), field("customer", int64(7)), field("kind", "order"))
			for b.Loop() {
				x.Route(r)
			}
		})
	}
}

// Each binding asks for a header of another name, and the message has few.
func BenchmarkHeadersNames(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			x := w.exchange("headers", "x")
			for i := range n {
				w.bind(x, newQueue("q"), "", field(fmt.Sprint("name", i), "v"))
			}
			r := keys("")
			r.Headers = table(field("other", true), field("name7", "v"))
			for b.Loop() {
				x.Route(r)
			}
		})
	}
}

// A message with as many headers as there are names bound: none of them may cost more than a look at it.
func BenchmarkHeadersManyOfAMessage(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			x := w.exchange("headers", "x")
			var fields []amqp.Field
			for i := range n {
				f := field(fmt.Sprint("name", i), true)
				w.bind(x, newQueue("q"), "", f)
				fields = append(fields, f)
			}
			r := keys("")
			r.Headers = table(fields...)
			for b.Loop() {
				x.Route(r)
			}
		})
	}
}

func BenchmarkExchangeToExchange(b *testing.B) {
	w := newWorld(b)
	first := w.exchange("topic", "x0")
	last := first
	for i := range 28 {
		next := w.exchange("topic", fmt.Sprint("x", i+1))
		w.bind(last, next, "#")
		last = next
	}
	w.bind(last, newQueue("q"), "a.#")
	r := keys("a.b")
	for b.Loop() {
		first.Route(r)
	}
}

func BenchmarkBind(b *testing.B) {
	w := newWorld(b)
	x, q := w.exchange("topic", "x"), newQueue("q")
	for i := 0; b.Loop(); i++ {
		w.bind(x, q, fmt.Sprintf("stock.%d.*", i))
	}
}

func BenchmarkConsistentHash(b *testing.B) {
	for _, algorithm := range []string{"jump", "ring"} {
		for _, n := range []int{1, 100, 1000} {
			b.Run(fmt.Sprint(algorithm, "/", n), func(b *testing.B) {
				w := newWorld(b)
				x := w.exchange("x-consistent-hash", "x", field("x-algorithm", algorithm))
				for i := range n {
					w.bind(x, newQueue(fmt.Sprint("q", i)), "10")
				}
				benchmarkKeys(b, x.Route)
			})
		}
	}
}

func BenchmarkConsistentHashHeader(b *testing.B) {
	w := newWorld(b)
	x := w.exchange("x-consistent-hash", "x", field("hash-header", "customer"))
	for i := range 100 {
		w.bind(x, newQueue(fmt.Sprint("q", i)), "1")
	}
	r := keys("")
	r.Headers = table(field("kind", "order"), field("customer", int64(7)))
	b.ReportAllocs()
	for b.Loop() {
		x.Route(r)
	}
}

func BenchmarkModulusHash(b *testing.B) {
	w := newWorld(b)
	x := w.exchange("x-modulus-hash", "x")
	for i := range 100 {
		w.bind(x, newQueue(fmt.Sprint("q", i)), "")
	}
	benchmarkKeys(b, x.Route)
}

func BenchmarkRandom(b *testing.B) {
	w := newWorld(b)
	x := w.exchange("x-random", "x")
	for i := range 100 {
		w.bind(x, newQueue(fmt.Sprint("q", i)), "")
	}
	benchmarkKeys(b, x.Route)
}

// benchmarkKeys routes messages with keys that differ.
func benchmarkKeys(b *testing.B, route func(*exchange.Routing)) {
	r := keys("customer.00000000")
	digits := r.Keys[0][len("customer."):]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for at, n := len(digits)-1, i; at >= 0; at, n = at-1, n/10 {
			digits[at] = '0' + byte(n%10)
		}
		route(r)
	}
	if len(r.Found()) != 1 {
		b.Fatalf("%d queues", len(r.Found()))
	}
}
