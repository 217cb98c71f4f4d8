package vhost_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// letter is a persistent message to an exchange, with headers.
func letter(source, key, body string, headers ...amqp.Field) amqp.Message {
	p := amqp.Properties{Flags: amqp.FlagDeliveryMode, DeliveryMode: amqp.Persistent}
	if headers != nil {
		p.Flags |= amqp.FlagHeaders
		p.Headers = headers
	}
	raw := p.AppendTo(nil)
	m := amqp.Message(append(append(amqp.AppendMessageAddress(nil, []byte(source), []byte(key)), raw...), body...))
	m.SetProperties(len(raw), &amqp.PropertyIndex{DeliveryMode: amqp.Persistent}, 1)
	return m
}

// described is a routing for a message.
func described(t testing.TB, m amqp.Message) *vhost.Routing {
	t.Helper()
	r := new(vhost.Routing)
	if err := r.Describe(m); err != nil {
		t.Fatal(err)
	}
	return r
}

// send routes a message to an exchange and gives the names of its queues.
func send(t testing.TB, v *vhost.VHost, m amqp.Message) (*vhost.Routing, []string) {
	t.Helper()
	r := described(t, m)
	v.Route(v.Exchange(m.Exchange()), r)
	return r, queueNames(r)
}

func queueNames(r *vhost.Routing) []string {
	names := []string{}
	for _, q := range r.Queues {
		names = append(names, q.Name())
	}
	slices.Sort(names)
	return names
}

func delayHeader(ms int) amqp.Field { return arg("x-delay", int32(ms)) }

func delayedX(kind string) func(*vhost.ExchangeDeclare) { return argsX(arg("x-delayed-type", kind)) }

func TestDelayedExchange(t *testing.T) {
	h := newHost(t)
	h.exchange("x-delayed-message", "x", delayedX("topic"))
	h.queue("q")
	h.bind("q", "x", "a.*")
	equal(t, "queues", h.queues(), []string{"amq.delayed.x", "q"})

	r, found := send(t, h.VHost, letter("x", "a.b", "now"))
	equal(t, "without a delay", found, []string{"q"})
	if r.Due != 0 {
		t.Errorf("due %d", r.Due)
	}
	m := letter("x", "a.b", "later", arg("a", true), delayHeader(1000))
	before := time.Now().UnixMilli()
	r, found = send(t, h.VHost, m)
	equal(t, "with a delay", found, []string{"amq.delayed.x"})
	if r.Due < before+1000 || r.Due > time.Now().UnixMilli()+1000 || r.Stamp.Valid() {
		t.Errorf("due %d ms from now, stamp %v", r.Due-before, r.Stamp.Valid())
	}
	wait := r.Queues[0]
	if !wait.Delayed() || !wait.Durable() {
		t.Errorf("the queue is %+v", wait.Options())
	}

	out, ok := h.RouteDue(wait, m, r)
	equal(t, "when it is due", queueNames(r), []string{"q"})
	p, err := amqp.DecodeProperties(out.Properties())
	if !ok || err != nil || fmt.Sprint(p.Headers) != fmt.Sprint(amqp.Table{arg("a", true), delayHeader(-1000)}) || string(out.Body()) != "later" {
		t.Errorf("delivered: headers %v, body %q, error %v", p.Headers, out.Body(), err)
	}
	if !out.Persistent() {
		t.Error("it is not persistent any more")
	}
	h.unbind("q", "x", "a.*")
	if _, ok := h.RouteDue(wait, m, r); !ok || len(r.Queues) != 0 {
		t.Errorf("with nothing bound: %v, ok %v", queueNames(r), ok)
	}
	h.deleteX("x")
	if _, ok := h.RouteDue(wait, m, r); ok {
		t.Error("routed by an exchange that is gone")
	}
}

// The keys of CC and BCC count when a message is due.
func TestDelayedCopies(t *testing.T) {
	h := newHost(t)
	h.exchange("direct", "x", argsX(arg("x-delayed-exchange", true)))
	for _, name := range []string{"to", "cc", "bcc"} {
		h.queue(name)
		h.bind(name, "x", name)
	}
	m := amqp.AppendBlindKeys(letter("x", "to", "", arg("CC", amqp.Array{"cc"}), delayHeader(10)), []byte("bcc"))
	m = append(m, "body"...)
	r, found := send(t, h.VHost, m)
	equal(t, "sent", found, []string{"amq.delayed.x"})
	out, _ := h.RouteDue(r.Queues[0], m, r)
	equal(t, "due", queueNames(r), []string{"bcc", "cc", "to"})
	if keys := out.BlindKeys(); len(keys) != 1 || string(keys[0]) != "bcc" || string(out.Body()) != "body" {
		t.Errorf("blind keys %q, body %q", keys, out.Body())
	}
}

// A message that was due at one exchange does not wait at the next, and finds it as it is then.
func TestDueOverExchanges(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x", argsX(arg("x-delayed-exchange", true)))
	h.exchange("fanout", "y", argsX(arg("x-delayed-exchange", true)))
	h.queue("q")
	h.bindX("y", "x", "")
	h.bind("q", "y", "")
	m := letter("x", "", "body", delayHeader(10))
	r, found := send(t, h.VHost, m)
	equal(t, "sent", found, []string{"amq.delayed.x"})
	h.RouteDue(r.Queues[0], m, r)
	equal(t, "due", queueNames(r), []string{"q"})
}

// damaged has properties that can't be read.
func TestDueDamaged(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x", argsX(arg("x-delayed-exchange", true)))
	r, _ := send(t, h.VHost, letter("x", "", "body", delayHeader(10)))
	m := letter("x", "", "body", delayHeader(10))
	m[amqp.MessageHeadSize+len(m.Address())+2] = 0xff // the length of the headers
	if _, ok := h.RouteDue(r.Queues[0], m, r); ok {
		t.Error("what can't be read was routed")
	}
}

// Clients see the queue of delayed messages, and can do nothing with it.
func TestDelayQueueIsInternal(t *testing.T) {
	h := newHost(t)
	h.exchange("x-delayed-message", "x", delayedX("direct"))
	h.exchange("fanout", "f")
	const name, internal = "amq.delayed.x", "queue 'amq.delayed.x' in vhost '/' is internal: its messages wait for an exchange"
	equal(t, "publish by name", h.route("", name), []string{})
	_, err := h.DeclareQueue(queueOf(name), me, all())
	refused(t, "declare", err, amqp.CodeAccessRefused, "queue name 'amq.delayed.x' contains reserved prefix 'amq.*'")
	if _, err = h.CheckQueue(name, me, all()); err != nil {
		t.Errorf("passive declare: %v", err)
	}
	_, err = h.Queue(name, me)
	refused(t, "consume, get, purge", err, amqp.CodeAccessRefused, internal)
	_, err = h.DeleteQueue(name, false, false, me, all())
	refused(t, "delete", err, amqp.CodeAccessRefused, internal)
	refused(t, "bind", h.BindQueue(name, "f", "", nil, me, all()), amqp.CodeAccessRefused, internal)
	equal(t, "queues", h.queues(), []string{name})
}

func TestExchangeExtensions(t *testing.T) {
	h := newHost(t)
	for _, c := range []struct {
		name      string
		arguments amqp.Table
		want      string // empty: none
	}{
		{"delayed", amqp.Table{arg("x-delayed-exchange", "yes")}, "invalid type 'longstr' for arg 'x-delayed-exchange' in exchange 'x' in vhost '/'"},
		{"deduplication", amqp.Table{arg("x-message-deduplication", int32(1))},
			"invalid type 'signedint' for arg 'x-message-deduplication' in exchange 'x' in vhost '/'"},
		{"size", amqp.Table{arg("x-message-deduplication", true), arg("x-cache-size", int32(0))},
			"invalid arg 'x-cache-size' for exchange 'x' in vhost '/': {value_zero,0}"},
		{"time", amqp.Table{arg("x-message-deduplication", true), arg("x-cache-ttl", int32(-1))},
			"invalid arg 'x-cache-ttl' for exchange 'x' in vhost '/': {value_negative,-1}"},
		{"header", amqp.Table{arg("x-message-deduplication", true), arg("x-deduplication-header", int32(1))},
			"invalid arg 'x-deduplication-header' for exchange 'x' in vhost '/': {unacceptable_type,signedint}"},
		{"size of nothing", amqp.Table{arg("x-cache-size", int32(0))}, ""},
	} {
		err := h.DeclareExchange(exchangeOf("direct", "x", argsX(c.arguments...)), all())
		if c.want != "" {
			refused(t, c.name, err, amqp.CodePreconditionFailed, c.want)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	refused(t, "no type", h.DeclareExchange(exchangeOf("x-delayed-message", "y"), all()), amqp.CodePreconditionFailed,
		"Invalid argument, 'x-delayed-type' must be an existing exchange type")
	equal(t, "nothing was left behind", h.queues(), []string{})
}

func TestDelayQueueGoesWithItsExchange(t *testing.T) {
	h := newHost(t)
	h.exchange("x-delayed-message", "x", delayedX("fanout"), autoDeleteX)
	h.exchange("x-delayed-message", "transient", delayedX("fanout"), transientX)
	h.queue("q")
	h.bind("q", "x", "")
	equal(t, "queues", h.queues(), []string{"amq.delayed.transient", "amq.delayed.x", "q"})
	h = h.restart()
	equal(t, "after a restart", h.queues(), []string{"amq.delayed.x", "q"})
	h.unbind("q", "x", "")
	equal(t, "after its last binding", h.queues(), []string{"q"})
	if len(h.disk.dropped) != 1 {
		t.Errorf("the store dropped the queues %v", h.disk.dropped)
	}
	h.exchange("x-delayed-message", "x", delayedX("fanout"))
	h.exchange("x-delayed-message", "x", delayedX("fanout")) // again, which changes nothing
	h.deleteX("x")
	equal(t, "deleted", h.restart().queues(), []string{"q"})
}

// A crash may leave the queue without the exchange, or the exchange without the queue.
func TestDelayQueueAfterACrash(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "gone", argsX(arg("x-delayed-exchange", true)))
	h.exchange("fanout", "x", argsX(arg("x-delayed-exchange", true)))
	h.must(h.disk.Commit(
		store.Change{Bucket: "exchanges of /", Key: "gone"},
		store.Change{Bucket: "queues of /", Key: "amq.delayed.x"},
	))
	h = h.restart()
	equal(t, "queues", h.queues(), []string{"amq.delayed.x"})
	equal(t, "queues after another start", h.restart().queues(), []string{"amq.delayed.x"})
	_, found := send(t, h.VHost, letter("x", "", "", delayHeader(10)))
	equal(t, "sent", found, []string{"amq.delayed.x"})
}

// What the store refuses is not made, and leaves nothing behind.
func TestDelayedExchangeNotStored(t *testing.T) {
	broken := errors.New("disk full")
	for _, first := range []bool{true, false} {
		h := newHost(t)
		if first {
			h.disk.broken = broken
		} else { // the queue can be stored, the exchange can't
			h.disk.before = func([]store.Change) { h.disk.broken = broken }
		}
		if err := h.DeclareExchange(exchangeOf("x-delayed-message", "x", delayedX("direct")), all()); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		h.disk.before, h.disk.broken = nil, nil
		equal(t, "queues", h.queues(), []string{})
		equal(t, "exchanges", h.exchanges(), []string{})
		h.exchange("x-delayed-message", "x", delayedX("direct"))
		equal(t, "then", h.queues(), []string{"amq.delayed.x"})
	}
}

func TestExchangePolicy(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "other")
	h.exchange("direct", "x")
	h.exchange("direct", "y", argsX(arg("alternate-exchange", "argument")))
	h.queue("q")
	h.bind("q", "other", "")
	h.queue("r")
	h.bind("r", "x", "k")
	x, y := h.Exchange([]byte("x")), h.Exchange([]byte("y"))

	policy := vhost.ExchangePolicy{Alternate: "other", HasAlternate: true, Delayed: true}
	h.must(h.ApplyExchangePolicy(x, policy))
	h.must(h.ApplyExchangePolicy(y, policy))
	equal(t, "to the alternate", h.route("x", "none"), []string{"q"})
	equal(t, "the argument counts", h.route("y", "none"), []string{})
	_, found := send(t, h.VHost, letter("x", "k", "", delayHeader(10)))
	equal(t, "delayed", found, []string{"amq.delayed.x"})

	h.must(h.ApplyExchangePolicy(x, vhost.ExchangePolicy{}))
	equal(t, "no alternate any more", h.route("x", "none"), []string{})
	_, found = send(t, h.VHost, letter("x", "k", "", delayHeader(10)))
	equal(t, "not delayed any more", found, []string{"r"})
	equal(t, "what waits goes on waiting", h.queues(), []string{"amq.delayed.x", "amq.delayed.y", "q", "r"})

	h.must(h.ApplyExchangePolicy(h.Exchange(nil), policy))
	_, found = send(t, h.VHost, letter("", "q", "", delayHeader(10)))
	equal(t, "the default exchange has no policies", found, []string{"q"})
	h.deleteX("x")
	h.must(h.ApplyExchangePolicy(x, policy))
	if _, err := h.CheckQueue("amq.delayed.x", me, all()); err == nil {
		t.Error("a policy on a deleted exchange made a queue")
	}
}

func TestAlternateOfNewTypes(t *testing.T) {
	for _, kind := range []string{"x-consistent-hash", "x-modulus-hash", "x-random", "x-local-random", "x-recent-history"} {
		h := newHost(t)
		h.exchange("fanout", "alternate")
		h.queue("q")
		h.bind("q", "alternate", "")
		h.exchange(kind, "x", argsX(arg("alternate-exchange", "alternate")))
		equal(t, kind+" with nothing bound", h.route("x", "k"), []string{"q"})
		h.queue("r")
		h.bind("r", "x", map[string]string{"x-consistent-hash": "1"}[kind])
		equal(t, kind+" with a queue", h.route("x", "k"), []string{"r"})
		h.exchange(kind, "x", argsX(arg("alternate-exchange", "alternate"), arg("x-other", int32(1)))) // equivalent
		h = h.restart()
		equal(t, kind+" after a restart", h.route("x", "k"), []string{"r"})
	}
}

func TestLocalRandomDestination(t *testing.T) {
	h := newHost(t)
	h.exchange(exchange.LocalRandom, "x")
	h.queue("q", args(arg("x-queue-type", "quorum")))
	h.queue("c", args(arg("x-queue-type", "classic")))
	refused(t, "a quorum queue", h.BindQueue("q", "x", "", nil, me, all()), amqp.CodePreconditionFailed,
		"Queue type rabbit_quorum_queue not valid for this exchange type")
	refused(t, "with a key", h.BindQueue("q", "x", "k", nil, me, all()), amqp.CodePreconditionFailed, "Non empty binding 'k' key not permitted")
	h.bind("c", "x", "")
	equal(t, "routed", h.route("x", "k"), []string{"c"})
}

func TestHistoryIsReplayed(t *testing.T) {
	h := newHost(t)
	h.exchange("x-recent-history", "x", argsX(arg("x-recent-history-length", int32(300))))
	for i := range 310 {
		send(t, h.VHost, letter("x", "k", fmt.Sprint(i)))
	}
	q := h.queue("q")
	h.bind("q", "x", "")
	expectBodies(t, q, 10, 310)
	h.bind("q", "x", "") // is there
	expectBodies(t, q, 0, 0)

	// By way of an exchange, to where that leads now.
	h.exchange("direct", "y")
	r := h.queue("r")
	h.bind("r", "y", "k")
	h.bindX("y", "x", "")
	expectBodies(t, r, 10, 310)
	expectBodies(t, h.restart().queue("q"), 0, 0)
}

// expectBodies takes the messages from first to end out of a queue, which is to hold no others.
func expectBodies(t *testing.T, q *queue.Queue, first, end int) {
	t.Helper()
	for i := first; i < end; i++ {
		if body := take(t, q, 1, false); body != fmt.Sprint(i) {
			t.Fatalf("%s: got %q, want %d", q.Name(), body, i)
		}
	}
	if n, err := q.Counts(); err != nil || n.Ready > 0 {
		t.Fatalf("%s holds %d more, error %v", q.Name(), n.Ready, err)
	}
}

func TestDelayPrefix(t *testing.T) {
	h := newHost(t)
	name := strings.Repeat("x", 255)
	h.exchange("fanout", name, argsX(arg("x-delayed-exchange", true)))
	equal(t, "the longest name", h.queues(), []string{vhost.DelayPrefix + name})
	equal(t, "the longest name after a restart", h.restart().queues(), []string{vhost.DelayPrefix + name})
}
