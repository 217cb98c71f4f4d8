package vhost_test

import (
	"fmt"
	"testing"

	"leveret/amqp"
	"leveret/vhost"
)

const (
	noX       = "no exchange 'none' in vhost '/'"
	noQ       = "no queue 'none' in vhost '/'"
	onDefault = "operation not permitted on the default exchange"
)

func TestBindMissing(t *testing.T) {
	h := newHost(t)
	h.exchange("direct", "x")
	h.queue("q")
	bind := func(q, x string) error { return h.BindQueue(q, x, "k", nil, me, all()) }
	unbind := func(q, x string) error { return h.UnbindQueue(q, x, "k", nil, me, all()) }
	bindX := func(d, s string) error { return h.BindExchange(d, s, "k", nil, all()) }
	unbindX := func(d, s string) error { return h.UnbindExchange(d, s, "k", nil, all()) }

	refused(t, "queue", bind("none", "x"), 404, noQ)
	refused(t, "exchange", bind("q", "none"), 404, noX)
	refused(t, "both", bind("none", "none"), 404, noX)
	refused(t, "source", bindX("x", "none"), 404, noX)
	refused(t, "destination", bindX("none", "x"), 404, noX)
	refused(t, "default", bind("q", ""), 403, onDefault)
	refused(t, "default as source", bindX("x", ""), 403, onDefault)
	refused(t, "default as destination", bindX("", "x"), 403, onDefault)
	refused(t, "unbind from default", unbind("q", ""), 403, onDefault)
	refused(t, "unbind from default as source", unbindX("x", ""), 403, onDefault)
	refused(t, "unbind default as destination", unbindX("", "x"), 403, onDefault)
	for _, pair := range [][2]string{{"q", "x"}, {"none", "x"}, {"q", "none"}, {"none", "none"}} {
		h.must(unbind(pair[0], pair[1]))
	}
	for _, pair := range [][2]string{{"x", "x"}, {"none", "x"}, {"x", "none"}} {
		h.must(unbindX(pair[0], pair[1]))
	}
}

func TestBindRights(t *testing.T) {
	h := newHost(t)
	h.exchange("topic", "x")
	h.exchange("direct", "y")
	h.queue("q")
	for _, c := range []struct {
		source, destination string
		want                []string
	}{
		{"x", "queue q", []string{"write queue q", "read exchange x", "read topic x k"}},
		{"y", "queue q", []string{"write queue q", "read exchange y"}},
		{"x", "exchange y", []string{"write exchange y", "read exchange x", "read topic x k"}},
		{"y", "exchange x", []string{"write exchange x", "read exchange y"}},
	} {
		do := func(r vhost.Rights) (bind, unbind error) {
			if name, ok := cut(c.destination, "queue "); ok {
				return h.BindQueue(name, c.source, "k", nil, me, r), h.UnbindQueue(name, c.source, "k", nil, me, r)
			}
			name, _ := cut(c.destination, "exchange ")
			return h.BindExchange(name, c.source, "k", nil, r), h.UnbindExchange(name, c.source, "k", nil, r)
		}
		r := all()
		if bind, unbind := do(r); bind != nil || unbind != nil {
			t.Errorf("%s to %s: %v, %v", c.source, c.destination, bind, unbind)
		}
		equal(t, "asked", r.asked, append(c.want, c.want...))
		for _, right := range c.want {
			bind, unbind := do(without(right))
			for _, err := range []error{bind, unbind} {
				if err == nil || err.Error() != "no "+right {
					t.Errorf("%s to %s without %q: %v", c.source, c.destination, right, err)
				}
			}
		}
	}
	if n := h.Counts().Bindings; n != 0 {
		t.Errorf("%d bindings are there", n)
	}
}

func cut(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return s, false
	}
	return s[len(prefix):], true
}

func TestBindExclusiveQueueOfAnother(t *testing.T) {
	h := newHost(t)
	h.exchange("topic", "x")
	h.queue("q", exclusive)
	h.bind("q", "x", "k")
	text := fmt.Sprintf(locked, "q")
	refused(t, "bind", h.BindQueue("q", "x", "other", nil, other, all()), 405, text)
	refused(t, "locked before invalid", h.BindQueue("q", "x", "#.#.#", nil, other, all()), 405, text)
	refused(t, "unbind", h.UnbindQueue("q", "x", "k", nil, other, all()), 405, text)
	h.must(h.UnbindQueue("q", "x", "other", nil, other, all())) // there is no such binding
	equal(t, "routed", h.route("x", "k"), []string{"q"})
}

func TestBindInvalid(t *testing.T) {
	h := newHost(t)
	h.exchange("topic", "x")
	h.exchange("headers", "h")
	h.queue("q")
	commits := h.disk.commits
	refused(t, "topic", h.BindQueue("q", "x", "#.#.#", nil, me, all()), 406,
		"Topic binding key '#.#.#' uses 3 '#' wildcards, at most 2 are allowed")
	refused(t, "topic to exchange", h.BindExchange("h", "x", "#.#.#", nil, all()), 406,
		"Topic binding key '#.#.#' uses 3 '#' wildcards, at most 2 are allowed")
	refused(t, "headers", h.BindQueue("q", "h", "", []amqp.Field{arg("x-match", "foo")}, me, all()), 406,
		`Invalid x-match field value <<"foo">>; expected all, any, all-with-x, or any-with-x`)
	if h.Counts().Bindings != 0 || h.disk.commits != commits {
		t.Error("a refused binding was made or stored")
	}
}

func TestBindIdempotent(t *testing.T) {
	h := newHost(t)
	h.exchange("headers", "x")
	h.queue("q")
	a, b := arg("a", int32(1)), arg("b", "2")
	h.bind("q", "x", "k", a, b)
	commits := h.disk.commits
	h.bind("q", "x", "k", b, a)
	if h.disk.commits != commits || h.Counts().Bindings != 1 {
		t.Errorf("binding again: %d commits, %d bindings", h.disk.commits-commits, h.Counts().Bindings)
	}
	h.unbind("q", "x", "k", a)
	h.unbind("q", "x", "j", a, b)
	h.unbind("q", "x", "k", arg("a", int32(2)), b)
	if h.Counts().Bindings != 1 {
		t.Error("unbinding something similar removed the binding")
	}
	h.unbind("q", "x", "k", b, a)
	if h.Counts().Bindings != 0 {
		t.Error("the binding is still there")
	}
}

func TestBindingsGoWithTheQueue(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x")
	h.queue("q")
	h.bind("q", "x", "")
	h.bind("q", "amq.topic", "#")
	h.bind("q", "x", "second")
	h.unbind("q", "x", "second")
	h.delete("q")
	h.queue("q")
	equal(t, "x", h.route("x", ""), []string{})
	equal(t, "amq.topic", h.route("amq.topic", "k"), []string{})
	if n := h.restart().Counts().Bindings; n != 0 {
		t.Errorf("%d bindings after a restart", n)
	}
}

// A queue that is bound to many short-lived exchanges must not remember them.
func TestSourcesAreForgotten(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	h.exchange("fanout", "to")
	for i := range 100 {
		x := fmt.Sprint("x", i)
		h.exchange("fanout", x, transientX)
		h.bind("q", x, "a")
		h.bind("q", x, "b")
		h.bindX("to", x, "")
		if i%2 == 0 {
			h.unbind("q", x, "a")
			h.unbind("q", x, "b")
			h.unbindX("to", x, "")
		} else {
			h.deleteX(x)
		}
	}
	if q, to := h.SourcesOfQueue("q"), h.SourcesOfExchange("to"); q != 0 || to != 0 {
		t.Errorf("still remembered: %d by the queue, %d by the exchange", q, to)
	}
}
