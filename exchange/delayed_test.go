package exchange_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/dedup"
	"leveret/exchange"
)

func TestDelayedType(t *testing.T) {
	const refused = "Invalid argument, 'x-delayed-type' must be an existing exchange type"
	for _, c := range []struct {
		name      string
		arguments amqp.Table
		want      string
	}{
		{"topic", amqp.Table{field("x-delayed-type", "topic")}, ""},
		{"history", amqp.Table{field("x-delayed-type", "x-recent-history")}, ""},
		{"none", nil, refused},
		{"unknown", amqp.Table{field("x-delayed-type", "nothing")}, refused},
		{"no string", amqp.Table{field("x-delayed-type", int32(1))}, refused},
		{"itself", amqp.Table{field("x-delayed-type", "x-delayed-message")}, refused},
		{"arguments of the inner type", amqp.Table{field("x-delayed-type", "x-consistent-hash"), field("hash-property", "app_id")},
			"Unsupported property: app_id"},
	} {
		_, err := exchange.New(exchange.Options{Name: "x", Type: exchange.DelayedType, Arguments: c.arguments})
		expectError(t, c.name, err, c.want)
	}
}

func TestDelays(t *testing.T) {
	for _, c := range []struct {
		opts exchange.Options
		want bool
	}{
		{exchange.Options{Type: "x-delayed-message"}, true},
		{exchange.Options{Type: "direct"}, false},
		{exchange.Options{Type: "direct", Arguments: amqp.Table{field("x-delayed-exchange", true)}}, true},
		{exchange.Options{Type: "direct", Arguments: amqp.Table{field("x-delayed-exchange", false)}}, false},
		{exchange.Options{Type: "direct", Arguments: amqp.Table{field("x-delayed-exchange", "true")}}, false},
	} {
		if got := c.opts.Delays(); got != c.want {
			t.Errorf("%+v: %v", c.opts, got)
		}
	}
}

// Which headers make a message wait, and till when.
func TestDueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now().UnixMilli()
		in := func(ms int64) int64 { return now + ms }
		w := newWorld(t)
		x, q := w.exchange("fanout", "x"), newQueue("q")
		w.bind(x, q, "")
		wait := newQueue("wait")
		x.Apply(exchange.Settings{Delay: wait})
		for _, c := range []struct {
			name    string
			headers []amqp.Field // nil: no header table
			want    int64        // 0: routed at once
		}{
			{"no headers", nil, 0},
			{"none of them", []amqp.Field{field("other", int32(5))}, 0},
			{"zero", []amqp.Field{field("x-delay", int32(0))}, 0},
			{"negative", []amqp.Field{field("x-delay", int32(-5))}, 0},
			{"int8", []amqp.Field{field("x-delay", int8(100))}, in(100)},
			{"uint8", []amqp.Field{field("x-delay", uint8(200))}, in(200)},
			{"int16", []amqp.Field{field("x-delay", int16(300))}, in(300)},
			{"uint16", []amqp.Field{field("x-delay", uint16(60000))}, in(60000)},
			{"int32", []amqp.Field{field("x-delay", int32(5000))}, in(5000)},
			{"uint32", []amqp.Field{field("x-delay", uint32(math.MaxUint32))}, in(math.MaxUint32)},
			{"int64", []amqp.Field{field("x-delay", int64(5000))}, in(5000)},
			{"over the limit", []amqp.Field{field("x-delay", int64(math.MaxInt64))}, in(math.MaxUint32)},
			{"string", []amqp.Field{field("x-delay", "100")}, 0},
			{"float", []amqp.Field{field("x-delay", 100.0)}, 0},
			{"at a time", []amqp.Field{field("x-deliver-at", in(7000))}, in(7000)},
			{"at a time long from now", []amqp.Field{field("x-deliver-at", int64(math.MaxInt64))}, math.MaxInt64},
			{"at a timestamp", []amqp.Field{field("x-deliver-at", amqp.Timestamp(now/1000+60))}, now/1000*1000 + 60_000},
			{"at no real timestamp", []amqp.Field{field("x-deliver-at", amqp.Timestamp(math.MaxUint64))}, math.MaxInt64 / 1000 * 1000},
			{"at a time that was", []amqp.Field{field("x-deliver-at", in(-1))}, 0},
			{"at this moment", []amqp.Field{field("x-deliver-at", now)}, 0},
			{"at no time", []amqp.Field{field("x-deliver-at", "noon")}, 0},
			{"both", []amqp.Field{field("x-deliver-at", in(9000)), field("x-delay", int32(100))}, in(100)},
			{"after the delay", []amqp.Field{field("x-deliver-at", in(9000)), field("x-delay", int32(-100))}, 0},
		} {
			r := keys("k")
			if c.headers != nil {
				r.Headers = table(c.headers...)
			}
			want := []string{"q"}
			if c.want != 0 {
				want = []string{"wait"}
			}
			expect(t, c.name, names(x, r), want)
			if r.Due != c.want || r.Stamp.Valid() {
				t.Errorf("%s: due %d, want %d; stamp %v", c.name, r.Due, c.want, r.Stamp.Valid())
			}
			x.RouteDue(r)
			if r.Due != 0 || len(r.Found()) != 1 || r.Found()[0] != q {
				t.Errorf("%s: when it is due it comes to %v", c.name, r.Found())
			}
		}
	})
}

// A delaying exchange behind another delays what comes there; the rest goes its way at once.
func TestDelayBehindAnExchange(t *testing.T) {
	w := newWorld(t)
	x, y := w.exchange("fanout", "x"), w.exchange("fanout", "y")
	w.bind(x, newQueue("q"), "")
	w.bind(x, y, "")
	w.bind(y, newQueue("r"), "")
	y.Apply(exchange.Settings{Delay: newQueue("wait")})
	r := keys("k")
	r.Headers = table(field("x-delay", int32(100)))
	expect(t, "with a delay", names(x, r), []string{"q", "wait"})
	if r.Due == 0 || r.Stamp.Valid() {
		t.Errorf("due %d, stamp %v", r.Due, r.Stamp.Valid())
	}
	expect(t, "without one", names(x, keys("k")), []string{"q", "r"})
}

// What waits is not for the alternate exchange.
func TestDelayAndAlternate(t *testing.T) {
	w := newWorld(t)
	x, y := w.exchange("direct", "x"), w.exchange("fanout", "y")
	w.bind(y, newQueue("q"), "")
	x.Apply(exchange.Settings{Delay: newQueue("wait"), Alternate: "y", HasAlternate: true})
	r := keys("k")
	r.Headers = table(field("x-delay", int32(100)))
	expect(t, "delayed", names(x, r), []string{"wait"})
	x.RouteDue(r)
	if len(r.Found()) != 1 || r.Found()[0].Name() != "q" {
		t.Errorf("when due: %v", r.Found())
	}
}

// Other settings make remembered routes invalid.
func TestApply(t *testing.T) {
	w := newWorld(t)
	x := w.exchange("direct", "x")
	w.bind(x, newQueue("q"), "k")
	r := keys("k")
	if x.Route(r); !r.Stamp.Valid() {
		t.Fatal("no stamp")
	}
	stamp := r.Stamp
	s := x.Settings()
	s.Delay = newQueue("wait")
	if x.Apply(s); stamp.Valid() {
		t.Error("the route is valid still")
	}
	if x.Settings() != s {
		t.Errorf("settings are %+v", x.Settings())
	}
}

func TestUndelayed(t *testing.T) {
	for _, c := range []struct {
		given, want any
	}{
		{int8(100), int8(-100)}, {uint8(200), int16(-200)}, {int16(300), int16(-300)}, {uint16(60000), int32(-60000)},
		{int32(5000), int32(-5000)}, {uint32(4_000_000_000), int64(-4_000_000_000)}, {int64(5000), int64(-5000)},
		{int32(-5), int32(-5)}, {int32(0), int32(0)}, {"100", "100"}, {int64(math.MinInt64), int64(math.MinInt64)},
	} {
		m, index := message("body", field("a", "b"), field("x-delay", c.given), field("c", true))
		before := string(m)
		got := exchange.Undelayed(m, index)
		p, err := amqp.DecodeProperties(got.Properties())
		want := amqp.Table{field("a", "b"), field("x-delay", c.want), field("c", true)}
		if err != nil || fmt.Sprintf("%T %v", p.Headers, p.Headers) != fmt.Sprintf("%T %v", want, want) || fmt.Sprintf("%T", p.Headers[1].Value) != fmt.Sprintf("%T", c.want) {
			t.Errorf("%T %v: headers %v, error %v", c.given, c.given, p.Headers, err)
		}
		if string(got.Body()) != "body" || string(got.Address()) != string(m.Address()) || string(m) != before {
			t.Errorf("%v: the rest of the message is %q, the original %q", c.given, got, m)
		}
	}
	for _, headers := range [][]amqp.Field{nil, {}, {field("x", int32(1))}} {
		m, index := message("body", headers...)
		if got := exchange.Undelayed(m, index); &got[0] != &m[0] {
			t.Errorf("with headers %v it was copied", headers)
		}
	}
}

// Whatever is in the headers, a message is routed or waits, and can be read when it is due.
func FuzzDelay(f *testing.F) {
	f.Add(table(field("x-delay", int32(5))))
	f.Add(table(field("x-deliver-at", amqp.Timestamp(5)), field("x-delay", uint8(5))))
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, headers []byte) {
		raw := binary.BigEndian.AppendUint16(nil, amqp.FlagHeaders)
		raw = append(raw, headers...)
		var index amqp.PropertyIndex
		if amqp.ScanProperties(raw, &index) != nil {
			return
		}
		w := newWorld(t)
		x := w.exchange("fanout", "x")
		w.bind(x, newQueue("q"), "")
		x.Apply(exchange.Settings{Delay: newQueue("wait"), Window: dedup.New(dedup.Options{})})
		r := keys("k")
		r.Headers, r.Properties = index.Headers, &index
		if x.Route(r); len(r.Found()) != 1 || (r.Due != 0) != (r.Found()[0].Name() == "wait") {
			t.Fatalf("due %d, found %v", r.Due, r.Found())
		}
		m := amqp.Message(append(amqp.AppendMessageAddress(nil, []byte("x"), []byte("k")), raw...))
		m.SetProperties(len(raw), &index, 1)
		out := exchange.Undelayed(m, &index)
		if err := amqp.ScanProperties(out.Properties(), &index); err != nil {
			t.Fatalf("what is due can't be read: %v", err)
		}
		r.Headers = index.Headers
		if x.Route(r); r.Found()[0].Name() == "wait" {
			if _, _, ok := amqp.FindField(r.Headers, "x-delay"); ok {
				t.Fatal("it waits a second time")
			}
		}
	})
}
