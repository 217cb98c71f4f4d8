package vhost_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/store"
	"leveret/vhost"
)

func TestPredeclaredExchanges(t *testing.T) {
	h := newHost(t)
	got := []string{}
	h.Exchanges(func(x *exchange.Exchange) bool {
		o := x.Options()
		got = append(got, fmt.Sprint(o.Name, " ", o.Type, " ", o.Durable, o.AutoDelete, o.Internal))
		return true
	})
	slices.Sort(got)
	equal(t, "exchanges", got, []string{
		" direct true false false", "amq.direct direct true false false", "amq.fanout fanout true false false",
		"amq.headers headers true false false", "amq.match headers true false false",
		"amq.rabbitmq.trace topic true false true", "amq.topic topic true false false",
	})
	h.exchange("topic", "amq.topic") // again with the same properties
	h.exchange("topic", "amq.rabbitmq.trace", internalX)
	if h.disk.commits != 0 {
		t.Errorf("%d commits for what is there by itself", h.disk.commits)
	}
	if c := h.Counts(); c.Exchanges != 7 || c.Queues != 0 || c.Bindings != 0 {
		t.Errorf("counts %+v", c)
	}
}

func TestDeclareExchangeRefusals(t *testing.T) {
	h := newHost(t)
	h.exchange("direct", "x")
	cases := []struct {
		name   string
		d      vhost.ExchangeDeclare
		rights *rights
		code   uint16
		text   string
	}{
		{"unknown type before the name", exchangeOf("bogus", ""), all(), 406, "unknown exchange type 'bogus'"},
		{"invalid type", exchangeOf("queue", "y"), all(), 406, "invalid exchange type 'queue'"},
		{"type before rights", exchangeOf("bogus", "y"), without("configure exchange y"), 406, "unknown exchange type 'bogus'"},
		{"default exchange", exchangeOf("direct", ""), all(), 403, "operation not permitted on the default exchange"},
		{"default before rights", exchangeOf("direct", ""), without("configure exchange "), 403, "operation not permitted on the default exchange"},
		{"reserved", exchangeOf("direct", "amq.mine"), all(), 403, "exchange name 'amq.mine' contains reserved prefix 'amq.*'"},
		{"rights before reserved", exchangeOf("direct", "amq.mine"), without("configure exchange amq.mine"), 403, ""},
		{"rights before equivalence", exchangeOf("fanout", "x"), without("configure exchange x"), 403, ""},
		{"alternate of a wrong type", exchangeOf("direct", "y", argsX(arg("alternate-exchange", int32(1)))), all(), 406,
			"invalid type 'signedint' for arg 'alternate-exchange' in exchange 'y' in vhost '/'"},
		{"alternate needs read", exchangeOf("direct", "y", argsX(arg("alternate-exchange", "a"))), without("read exchange y"), 403, ""},
		{"alternate needs write", exchangeOf("direct", "y", argsX(arg("alternate-exchange", "a"))), without("write exchange a"), 403, ""},
	}
	for _, c := range cases {
		err := h.DeclareExchange(c.d, c.rights)
		if c.text == "" { // refused by the rights, in their words
			var e *amqp.Error
			if !errors.As(err, &e) || e.Text != "no "+c.rights.refused[0] {
				t.Errorf("%s: got %v", c.name, err)
			}
			continue
		}
		refused(t, c.name, err, c.code, c.text)
	}
	equal(t, "exchanges", h.exchanges(), []string{"x"})
	h.exchange("direct", "amqx")
	h.exchange("direct", "Amq.x")
}

func TestEquivalentExchange(t *testing.T) {
	const where = " for exchange 'x' in vhost '/': received "
	alternate := func(name string) func(*vhost.ExchangeDeclare) { return argsX(arg("alternate-exchange", name)) }
	for _, c := range []struct {
		first, again vhost.ExchangeDeclare
		want         string
	}{
		{exchangeOf("direct", "x"), exchangeOf("fanout", "x", transientX, autoDeleteX), "inequivalent arg 'type'" + where + "'fanout' but current is 'direct'"},
		{exchangeOf("direct", "x"), exchangeOf("direct", "x", transientX, autoDeleteX, internalX), "inequivalent arg 'durable'" + where + "'false' but current is 'true'"},
		{exchangeOf("direct", "x"), exchangeOf("direct", "x", autoDeleteX, internalX), "inequivalent arg 'auto_delete'" + where + "'true' but current is 'false'"},
		{exchangeOf("direct", "x"), exchangeOf("direct", "x", internalX, alternate("a")), "inequivalent arg 'internal'" + where + "'true' but current is 'false'"},
		{exchangeOf("direct", "x"), exchangeOf("direct", "x", alternate("a")),
			"inequivalent arg 'alternate-exchange'" + where + "the value 'a' of type 'longstr' but current is none"},
		{exchangeOf("direct", "x", alternate("a")), exchangeOf("direct", "x"),
			"inequivalent arg 'alternate-exchange'" + where + "none but current is the value 'a' of type 'longstr'"},
		{exchangeOf("direct", "x", alternate("a")), exchangeOf("direct", "x", alternate("b")),
			"inequivalent arg 'alternate-exchange'" + where + "'b' but current is 'a'"},
		{exchangeOf("direct", "x", alternate("a")), exchangeOf("direct", "x", alternate("a")), ""},
		{exchangeOf("direct", "x", argsX(arg("x-any", 1.5))), exchangeOf("direct", "x", argsX(arg("x-any", "other"))), ""},
	} {
		h := newHost(t)
		h.must(h.DeclareExchange(c.first, all()))
		err := h.DeclareExchange(c.again, all())
		if c.want == "" {
			h.must(err)
			continue
		}
		refused(t, fmt.Sprintf("%+v", c.again), err, 406, c.want)
	}
}

// The rights that an alternate exchange needs are asked for at the first declare alone.
func TestAlternateRightsOnce(t *testing.T) {
	h := newHost(t)
	d := exchangeOf("direct", "x", argsX(arg("alternate-exchange", "a")))
	first, again := all(), all()
	h.must(h.DeclareExchange(d, first))
	h.must(h.DeclareExchange(d, again))
	equal(t, "first", first.asked, []string{"configure exchange x", "read exchange x", "write exchange a"})
	equal(t, "again", again.asked, []string{"configure exchange x"})
}

func TestCheckExchange(t *testing.T) {
	h := newHost(t)
	h.exchange("topic", "x")
	h.must(h.CheckExchange("x", all()))
	h.must(h.CheckExchange("x", without("configure exchange x", "write exchange x")))
	h.must(h.CheckExchange("x", without("configure exchange x", "read exchange x")))
	err := h.CheckExchange("x", without("configure exchange x", "read exchange x", "write exchange x"))
	if err == nil || err.Error() != "no configure exchange x" {
		t.Errorf("without any right: %v", err)
	}
	refused(t, "missing", h.CheckExchange("y", all()), 404, "no exchange 'y' in vhost '/'")
	refused(t, "missing and reserved", h.CheckExchange("amq.y", all()), 404, "no exchange 'amq.y' in vhost '/'")
	refused(t, "default", h.CheckExchange("", all()), 403, "operation not permitted on the default exchange")
}

func TestDeleteExchange(t *testing.T) {
	h := newHost(t)
	h.must(h.DeleteExchange("missing", false, all()))
	h.must(h.DeleteExchange("missing", true, all()))
	refused(t, "default", h.DeleteExchange("", false, all()), 403, "operation not permitted on the default exchange")
	refused(t, "standard", h.DeleteExchange("amq.direct", false, all()), 403,
		"deletion of system exchange 'amq.direct' in vhost '/' not allowed")
	refused(t, "missing but reserved", h.DeleteExchange("amq.none", false, all()), 403,
		"deletion of system exchange 'amq.none' in vhost '/' not allowed")
	if err := h.DeleteExchange("missing", false, without("configure exchange missing")); err == nil {
		t.Error("deleted without the right to")
	}

	h.exchange("fanout", "x")
	h.exchange("fanout", "y")
	h.queue("q")
	h.bind("q", "x", "")
	h.bindX("y", "x", "")
	refused(t, "in use", h.DeleteExchange("x", true, all()), 406, "exchange 'x' in vhost '/' in use")
	h.must(h.DeleteExchange("y", true, all())) // a destination is not in use
	if n := h.Exchange([]byte("x")).Len(); n != 1 {
		t.Errorf("x has %d bindings after its destination went, want 1", n)
	}
	h.deleteX("x")
	h.exchange("fanout", "x")
	equal(t, "bindings of the exchange before", h.route("x", ""), []string{})
	h.must(h.DeleteExchange("x", true, all()))
	equal(t, "exchanges", h.exchanges(), []string{})
}

// While the record is on its way off the disk, the name stands for nothing, and who wants it waits.
func TestExchangeDuringDeletion(t *testing.T) {
	h := newHost(t)
	h.exchange("direct", "x")
	h.exchange("direct", "y")
	begun, goOn := make(chan struct{}), make(chan struct{})
	h.disk.before = func([]store.Change) {
		h.disk.before = nil
		close(begun)
		<-goOn
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.deleteX("x") })
	<-begun
	if h.Exchange([]byte("x")) != nil {
		t.Error("the exchange is still found")
	}
	wg.Go(func() { h.exchange("fanout", "x") }) // not equivalent to what goes
	wg.Go(func() { h.must(h.UnbindExchange("x", "y", "k", nil, all())) })
	close(goOn)
	wg.Wait()
	if x := h.Exchange([]byte("x")); x == nil || x.Options().Type != "fanout" {
		t.Error("the new exchange is not there")
	}
}

func TestAlternateExchange(t *testing.T) {
	h := newHost(t)
	h.exchange("direct", "x", argsX(arg("alternate-exchange", "later")))
	h.queue("q")
	r := &vhost.Routing{Routing: exchange.Routing{Keys: [][]byte{[]byte("q")}}}
	x := h.Exchange([]byte("x"))
	h.Route(x, r)
	if len(r.Queues) != 0 || !r.Stamp.Valid() {
		t.Errorf("without the alternate: %d queues, stamp valid %v", len(r.Queues), r.Stamp.Valid())
	}
	h.exchange("fanout", "later")
	if r.Stamp.Valid() {
		t.Error("the route is still valid after its alternate was declared")
	}
	h.bind("q", "later", "")
	equal(t, "by the alternate", h.route("x", "none"), []string{"q"})
	h.deleteX("later")
	equal(t, "the alternate is gone", h.route("x", "none"), []string{})

	h.exchange("direct", "to-default", argsX(arg("alternate-exchange", "")))
	equal(t, "the default exchange as alternate", h.route("to-default", "q"), []string{})
}

func TestAutoDeleteExchange(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	h.queue("r")
	h.exchange("fanout", "x", autoDeleteX)
	h.exchange("fanout", "y", autoDeleteX)
	h.unbind("q", "x", "") // there is no such binding
	h.exchange("fanout", "source")
	h.bindX("x", "source", "")
	h.unbindX("x", "source", "")
	equal(t, "never bound as source", h.exchanges(), []string{"source", "x", "y"})

	h.bind("q", "x", "")
	h.bind("r", "x", "")
	h.unbind("q", "x", "")
	equal(t, "one binding left", h.exchanges(), []string{"source", "x", "y"})
	h.unbind("r", "x", "")
	equal(t, "last binding unbound", h.exchanges(), []string{"source", "y"})

	h.bind("q", "y", "a")
	h.bind("q", "y", "b")
	h.delete("q")
	equal(t, "its queue deleted", h.exchanges(), []string{"source"})
}

func TestAutoDeleteChain(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	h.queue("r")
	for _, x := range []string{"a", "b", "c", "d"} {
		h.exchange("fanout", x, autoDeleteX)
	}
	h.bindX("b", "a", "")
	h.bindX("c", "b", "")
	h.bindX("d", "c", "")
	h.bind("r", "b", "")
	h.bind("q", "d", "")
	h.delete("q")
	equal(t, "the chain ends at the exchange with another binding", h.exchanges(), []string{"a", "b"})
	h.unbind("r", "b", "")
	equal(t, "the rest of it", h.exchanges(), []string{})
}

func TestAutoDeleteLoop(t *testing.T) {
	h := newHost(t)
	for _, x := range []string{"a", "b", "c"} {
		h.exchange("fanout", x, autoDeleteX)
	}
	h.bindX("b", "a", "")
	h.bindX("c", "b", "")
	h.bindX("a", "c", "")
	h.bindX("a", "a", "")
	h.deleteX("a")
	equal(t, "exchanges", h.exchanges(), []string{})
}
