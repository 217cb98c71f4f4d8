package vhost_test

import (
	"fmt"
	"testing"

	"leveret/exchange"
	"leveret/vhost"
)

func TestDefaultExchange(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	h.queue("r", exclusive)
	equal(t, "by name", h.route("", "q"), []string{"q"})
	equal(t, "others may publish to an exclusive queue", h.route("", "r"), []string{"r"})
	equal(t, "no such queue", h.route("", "qx"), []string{})
	equal(t, "CC, each once", h.route("", "q", "r", "q", "none", "r"), []string{"q", "r"})
	equal(t, "any bytes", h.route("", "\xff"), []string{})
}

func routing(keys ...string) *vhost.Routing {
	r := new(vhost.Routing)
	for _, k := range keys {
		r.Keys = append(r.Keys, []byte(k))
	}
	return r
}

func TestRouteStamps(t *testing.T) {
	h := newHost(t)
	q := h.queue("q")
	h.exchange("topic", "x")
	h.bind("q", "x", "k")
	stamp := func(source string, keys ...string) exchange.Stamp {
		r := routing(keys...)
		h.Route(h.Exchange([]byte(source)), r)
		return r.Stamp
	}
	byName, byKey := stamp("", "q"), stamp("x", "k")
	if !byName.Valid() || !byKey.Valid() {
		t.Error("a fresh route is not valid")
	}
	if stamp("", "none").Valid() {
		t.Error("that there is no such queue was said to hold: a declare would not be noticed")
	}
	if stamp("", "q", "q").Valid() {
		t.Error("a route by several keys was said to hold")
	}
	again := routing("q")
	h.Route(h.Exchange(nil), again)
	again.Keys[0] = []byte("none")
	if h.Route(h.Exchange(nil), again); again.Stamp.Valid() || len(again.Queues) != 0 {
		t.Error("a route took over what the one before it found")
	}
	h.queue("other")
	h.bind("other", "amq.topic", "k")
	if !byName.Valid() || !byKey.Valid() {
		t.Error("a route ended though nothing on it changed")
	}
	if _, err := q.Delete(false, false); err != nil {
		t.Fatal(err)
	}
	if byName.Valid() || stamp("", "q").Valid() {
		t.Error("a route by name outlives the queue")
	}
	h.must(h.Retire(q))
	if byKey.Valid() {
		t.Error("a route by key outlives the queue's bindings")
	}
}

func TestRouteDoesNotAllocate(t *testing.T) {
	h := newHost(t)
	h.exchange("topic", "x")
	for i := range 10 {
		h.queue(fmt.Sprint("q", i))
		h.bind(fmt.Sprint("q", i), "x", "#")
	}
	name, missing := []byte("x"), []byte("missing")
	byKey, byName := routing("a.b"), routing("q1", "q2")
	n := testing.AllocsPerRun(100, func() {
		if h.Exchange(missing) != nil {
			t.Fatal("an exchange that is not there")
		}
		h.Route(h.Exchange(name), byKey)
		h.Route(h.Exchange(nil), byName)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(byKey.Queues) != 10 || len(byName.Queues) != 2 {
		t.Errorf("%d and %d queues", len(byKey.Queues), len(byName.Queues))
	}
}

func BenchmarkExchange(b *testing.B) {
	h := newHost(b)
	for i := range 10_000 {
		h.exchange("direct", fmt.Sprint("x", i), transientX)
	}
	name := []byte("x77")
	for b.Loop() {
		h.Exchange(name)
	}
}

func BenchmarkRouteByName(b *testing.B) {
	h := newHost(b)
	for i := range 10_000 {
		h.queue(fmt.Sprint("q", i), transient)
	}
	x, r := h.Exchange(nil), routing("q77")
	for b.Loop() {
		h.Route(x, r)
	}
}

func BenchmarkRouteByKey(b *testing.B) {
	h := newHost(b)
	h.queue("q")
	h.bind("q", "amq.topic", "a.*")
	x, r := h.Exchange([]byte("amq.topic")), routing("a.b")
	for b.Loop() {
		h.Route(x, r)
	}
}

func BenchmarkDeclareAndDelete(b *testing.B) {
	h := newHost(b)
	r := all()
	for b.Loop() {
		r.asked = r.asked[:0]
		if _, err := h.DeclareQueue(queueOf("q", transient), me, r); err != nil {
			b.Fatal(err)
		}
		if _, err := h.DeleteQueue("q", false, false, me, r); err != nil {
			b.Fatal(err)
		}
	}
}
