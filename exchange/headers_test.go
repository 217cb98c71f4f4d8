package exchange_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/exchange"

	"pgregory.net/rapid"
)

func TestHeaders(t *testing.T) {
	type fields = []amqp.Field
	match := func(v string) amqp.Field { return field("x-match", v) }
	cases := []struct {
		name    string
		binding fields
		sent    []fields // nil: the message has no header table
		want    []int    // which of them arrive
	}{
		{"all is the default", fields{field("a", "1"), field("b", int32(2))}, []fields{
			{field("a", "1"), field("b", int32(2))}, {field("a", "1")}, {field("a", "1"), field("b", int32(2)), field("c", int32(3))},
			{field("a", "1"), field("b", int32(3))}, nil}, []int{0, 2}},
		{"any", fields{match("any"), field("a", "1"), field("b", int32(2))}, []fields{
			{field("a", "1")}, {field("b", int32(2)), field("z", int32(0))}, {field("a", "2"), field("b", int32(3))}, {}, nil}, []int{0, 1}},
		{"all of nothing", nil, []fields{{field("a", int32(1))}, {}, nil}, []int{0, 1, 2}},
		{"any of nothing", fields{match("any")}, []fields{{field("a", int32(1))}, {}, nil}, nil},
		{"all leaves out x-", fields{match("all"), field("x-a", int32(1)), field("b", int32(1))},
			[]fields{{field("b", int32(1))}, {field("x-a", int32(1))}}, []int{0}},
		{"any leaves out x-", fields{match("any"), field("x-a", int32(1)), field("b", int32(1))},
			[]fields{{field("b", int32(1))}, {field("x-a", int32(1))}}, []int{0}},
		{"all-with-x", fields{match("all-with-x"), field("x-a", int32(1)), field("b", int32(1))},
			[]fields{{field("b", int32(1))}, {field("x-a", int32(1)), field("b", int32(1))}}, []int{1}},
		{"any-with-x", fields{match("any-with-x"), field("x-a", int32(1)), field("b", int32(1))},
			[]fields{{field("x-a", int32(1))}, {field("b", int32(1))}, {field("x-a", int32(2))}}, []int{0, 1}},
		{"only x- left out is all of nothing", fields{field("x-a", int32(1))}, []fields{nil}, []int{0}},
		{"void asks for presence", fields{field("a", nil)},
			[]fields{{field("a", "s")}, {field("a", int32(5))}, {field("a", nil)}, {field("b", int32(1))}}, []int{0, 1, 2}},
		{"void second", fields{field("a", int32(1)), field("b", nil)},
			[]fields{{field("a", int32(1))}, {field("a", int32(1)), field("b", "any")}}, []int{1}},
		{"integers by value", fields{field("a", int64(1))}, []fields{
			{field("a", int8(1))}, {field("a", uint8(1))}, {field("a", int16(1))}, {field("a", uint16(1))}, {field("a", int32(1))},
			{field("a", uint32(1))}, {field("a", int64(1))}, {field("a", int64(2))}}, []int{0, 1, 2, 3, 4, 5, 6}},
		{"negative integers", fields{field("a", int64(-1))}, []fields{
			{field("a", int8(-1))}, {field("a", uint8(255))}, {field("a", int16(-1))}, {field("a", uint16(65535))}, {field("a", int32(-1))},
			{field("a", uint32(1<<32-1))}}, []int{0, 2, 4}},
		{"an integer is nothing else", fields{field("a", int32(1))},
			[]fields{{field("a", 1.0)}, {field("a", "1")}, {field("a", true)}, {field("a", amqp.Timestamp(1))}, {field("a", int32(1))}}, []int{4}},
		{"floats by value", fields{field("a", 1.5)},
			[]fields{{field("a", 1.5)}, {field("a", float32(1.5))}, {field("a", int32(1))}}, []int{0, 1}},
		{"booleans", fields{field("a", true)},
			[]fields{{field("a", true)}, {field("a", false)}, {field("a", int32(1))}, {field("a", "true")}}, []int{0}},
		{"string and bytes", fields{field("a", "ab")},
			[]fields{{field("a", []byte("ab"))}, {field("a", "ab")}, {field("a", "AB")}}, []int{0, 1}},
		{"array", fields{field("a", amqp.Array{int32(1), "x"})}, []fields{{field("a", amqp.Array{int64(1), []byte("x")})},
			{field("a", amqp.Array{int32(1)})}, {field("a", amqp.Array{"x", int32(1)})}, {field("a", amqp.Array{int32(1), "x", nil})}}, []int{0}},
		{"table", fields{field("a", amqp.Table{field("k", int32(1)), field("l", "v")})}, []fields{
			{field("a", amqp.Table{field("l", "v"), field("k", int64(1))})}, {field("a", amqp.Table{field("k", int32(2)), field("l", "v")})},
			{field("a", amqp.Table{})}}, []int{0}},
		{"timestamp", fields{field("a", amqp.Timestamp(1000))},
			[]fields{{field("a", amqp.Timestamp(1000))}, {field("a", amqp.Timestamp(1001))}, {field("a", int64(1000))}}, []int{0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.exchange("headers", "x")
			w.bind(x, newQueue("q"), "", c.binding...)
			var got []int
			for i, h := range c.sent {
				r := keys("any")
				if h != nil {
					r.Headers = table(h...)
				}
				if len(names(x, r)) == 1 {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("arrived: %v, want %v", got, c.want)
			}
		})
	}
}

func TestHeadersRefuses(t *testing.T) {
	x := newWorld(t).exchange("headers", "x")
	for value, want := range map[any]string{
		"foo":    `Invalid x-match field value <<"foo">>; expected all, any, all-with-x, or any-with-x`,
		int32(1): "Invalid x-match field type signedint (value 1); expected longstr",
	} {
		err := x.Bind(exchange.Binding{Destination: newQueue("q"), Arguments: amqp.Table{field("x-match", value)}})
		if err == nil || err.Error() != "PRECONDITION_FAILED - "+want {
			t.Errorf("x-match %v: got %v, want %s", value, err, want)
		}
	}
	if n := x.Len(); n != 0 {
		t.Errorf("%d refused bindings are there", n)
	}
}

// Of several headers with one name the first counts, whether a message has more names than the bindings or the other way round.
func TestHeadersWithNamesTwice(t *testing.T) {
	for _, others := range []int{0, 100} {
		w := newWorld(t)
		x := w.exchange("headers", "x")
		for i := range others {
			w.bind(x, newQueue("other"), "", field(fmt.Sprint("name", i), true))
		}
		w.bind(x, newQueue("first"), "", field("a", int32(1)))
		w.bind(x, newQueue("second"), "", field("a", int32(2)))
		w.bind(x, newQueue("any"), "", field("x-match", "any"), field("a", int32(1)), field("b", int32(1)))
		w.bind(x, newQueue("present"), "", field("a", nil))
		r := keys("")
		r.Headers = table(field("a", int32(1)), field("b", int32(1)), field("a", int32(2)), field("a", int32(1)))
		expect(t, fmt.Sprintf("with %d other names bound", others), names(x, r), []string{"any", "first", "present"})
	}
}

// computed is how long the process has computed so far. What others do on the machine meanwhile does not count.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mean is how long a function computes, over as many calls as it takes to tell: clocks may tick each ten milliseconds.
func mean(t *testing.T, call func()) time.Duration {
	t.Helper()
	begun := computed(t)
	for times := time.Duration(1); ; times++ {
		call()
		if took := computed(t) - begun; took > 50*time.Millisecond {
			return took / times
		}
	}
}

// routeHeaders is how long it takes to route a message with these headers where so many names are bound; found queues it must find.
func routeHeaders(t *testing.T, names, found int, headers []byte) time.Duration {
	t.Helper()
	w := newWorld(t)
	x, q := w.exchange("headers", "x"), newQueue("q")
	for i := range names {
		w.bind(x, q, "", field(fmt.Sprint("name", i), true))
	}
	w.bind(x, newQueue("other"), "", field("name7", true))
	r := keys("")
	r.Headers = headers
	took := mean(t, func() {
		for range 50 {
			x.Route(r)
		}
	})
	if len(r.Found()) != found {
		t.Fatalf("%d queues found, want %d", len(r.Found()), found)
	}
	return took
}

// What a message costs goes by its own headers, not by how many names anybody has bound, and not by the square of its headers.
func TestHeadersCostGoesByTheMessage(t *testing.T) {
	few, many := 100, 10_000
	headers := table(field("other", true), field("name7", true))
	if a, b := routeHeaders(t, few, 2, headers), routeHeaders(t, many, 2, headers); b > 20*a {
		t.Errorf("50 messages take %s with %d names bound, %s with %d", a, few, b, many)
	}
	few, many = 100, 3000
	long := func(n int) []byte {
		var fields []amqp.Field
		for i := range n {
			fields = append(fields, field(fmt.Sprint("name", i), true))
		}
		return table(fields...)
	}
	if a, b := routeHeaders(t, few, 2, long(few)), routeHeaders(t, many, 2, long(many)); b > 16*time.Duration(many/few)*a {
		t.Errorf("50 messages of %d headers take %s, those of %d take %s", few, a, many, b)
	}
}

// The filed rules do the same as trying each rule on all headers.
func TestHeadersAgainstModel(t *testing.T) {
	value := rapid.SampledFrom([]any{int32(1), int32(2), "1", "2", true, nil, amqp.Array{int32(1)}, 1.0})
	name := rapid.SampledFrom([]string{"a", "b", "c", "x-d", "e", "f", "g", "h"})
	named := func(names *rapid.Generator[[]string]) *rapid.Generator[amqp.Table] {
		return rapid.Custom(func(t *rapid.T) amqp.Table {
			var fields amqp.Table
			for _, n := range names.Draw(t, "names") {
				fields = append(fields, field(n, value.Draw(t, "value")))
			}
			return fields
		})
	}
	fields := named(rapid.SliceOfNDistinct(name, 0, 4, rapid.ID))
	sent := named(rapid.SliceOfN(name, 0, 6)) // some names twice: the first counts
	mode := rapid.SampledFrom([]string{"all", "any", "all-with-x", "any-with-x"})
	rapid.Check(t, func(rt *rapid.T) {
		x := newWorld(t).exchange("headers", "x")
		var bound []exchange.Binding
		rt.Repeat(map[string]func(*rapid.T){
			"bind": func(rt *rapid.T) {
				b := exchange.Binding{Destination: newQueue("q"), Arguments: append(fields.Draw(rt, "arguments"), field("x-match", mode.Draw(rt, "mode")))}
				if err := x.Bind(b); err != nil {
					rt.Fatal(err)
				}
				bound = append(bound, b)
			},
			"unbind": func(rt *rapid.T) {
				if len(bound) == 0 {
					return
				}
				i := rapid.IntRange(0, len(bound)-1).Draw(rt, "binding")
				if !x.Unbind(bound[i]) {
					rt.Fatal("the binding was not there")
				}
				bound = slices.Delete(bound, i, i+1)
			},
			"": func(rt *rapid.T) {
				headers := sent.Draw(rt, "headers")
				r := keys("")
				r.Headers = table(headers...)
				x.Route(r)
				for _, b := range bound {
					if got, want := holds(r, b.Destination), meets(headers, b.Arguments); got != want {
						rt.Fatalf("headers %v, arguments %v: got %v", headers, b.Arguments, got)
					}
				}
			},
		})
	})
}

// meets is the rule of the headers exchange in its simplest form; the last argument is x-match.
func meets(headers, arguments amqp.Table) bool {
	last := len(arguments) - 1
	mode := arguments[last].Value.(string)
	withX, met, asked := len(mode) > 3, 0, 0
	for _, f := range arguments[:last] {
		if !withX && f.Name == "x-d" {
			continue
		}
		asked++
		if v, ok := headers.Get(f.Name); ok && (f.Value == nil || string(table(field("", v))) == string(table(field("", f.Value)))) {
			met++
		}
	}
	if mode[:3] == "any" {
		return met > 0
	}
	return met == asked
}
