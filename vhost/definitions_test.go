package vhost_test

import (
	"fmt"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/store"
	"leveret/vhost"
)

// nested is a table as deep as a client may send it.
func nested(depth int) amqp.Table {
	t := amqp.Table{}
	for range depth - 1 {
		t = amqp.Table{arg("t", t)}
	}
	return t
}

func TestRestart(t *testing.T) {
	h := newHost(t)
	deep := nested(amqp.MaxTableDepth)
	h.exchange("topic", "x", internalX, argsX(arg("n", int32(5)), deep[0]))
	h.exchange("headers", "y", autoDeleteX, argsX(arg("alternate-exchange", "x")))
	h.queue("q", autoDelete, args(arg("x-single-active-consumer", true), deep[0]))
	h.queue("r", args(arg("x-message-ttl", int64(5))))
	h.queue("unbound")
	h.queue("")
	h.bind("q", "x", "a.*")
	h.bind("q", "x", "b", deep[0])
	h.bind("r", "y", "", arg("x-match", "any"), arg("a", int32(1)))
	h.bind("q", "x", "b", arg("n", int32(1))) // differs in its arguments alone,
	h.queue("y")
	h.bind("y", "x", "#") // and this in the kind of its destination
	h.bind("r", "amq.direct", "\u00e4\x00")
	h.bindX("y", "x", "#")
	h.bindX("x", "y", "")
	h.bindX("x", "x", "x")
	want := h.topology()

	h.exchange("fanout", "gone", transientX)
	h.queue("transient", transient)
	h.queue("exclusive", exclusive)
	h.bindX("gone", "x", "#") // what has a transient end does not stay
	h.bindX("x", "gone", "")
	h.bind("q", "gone", "")
	h.bind("transient", "x", "#")
	h.bind("exclusive", "amq.topic", "#")
	h.bind("r", "x", "removed")
	h.unbind("r", "x", "removed")
	h.exchange("direct", "deleted")
	h.bind("q", "deleted", "k")
	h.deleteX("deleted")
	h.delete("transient")
	h.delete("exclusive")
	h.deleteX("gone")

	again := h.restart()
	same(t, "after a restart", again.topology(), want)
	equal(t, "routing", again.route("x", "a.b"), []string{"q", "y"})
	equal(t, "alternate", again.route("y", "a.b"), []string{"q", "y"})
	again.queue("q", autoDelete, args(arg("x-single-active-consumer", true), deep[0]))
	again.delete("q") // the bindings are known by their destinations again
	again.deleteX("x")
	same(t, "and again", again.restart().topology(), again.topology())
}

func TestTransientThingsDoNotSurvive(t *testing.T) {
	h := newHost(t)
	commits := h.disk.commits
	h.exchange("fanout", "x", transientX)
	h.queue("q", transient)
	h.queue("e", exclusive)
	h.bind("q", "x", "")
	h.bind("e", "amq.fanout", "")
	h.bindX("x", "amq.fanout", "")
	h.unbind("q", "x", "")
	h.delete("q")
	h.must(h.DeleteOwned(me))
	h.deleteX("x")
	if h.disk.commits != commits {
		t.Errorf("%d commits for what does not last", h.disk.commits-commits)
	}
	h.queue("q", transient)
	h.exchange("fanout", "x", transientX)
	again := h.restart()
	equal(t, "queues", again.queues(), []string{})
	equal(t, "exchanges", again.exchanges(), []string{})
}

func TestVHostsAreApart(t *testing.T) {
	d := newDisk()
	a := openHost(t, d)
	a.queue("q")
	b, err := vhost.New(vhost.Options{Name: "b", Store: d})
	if err != nil {
		t.Fatal(err)
	}
	if c := b.Counts(); c.Queues != 0 || b.Name() != "b" {
		t.Errorf("%s has %d queues, want none", b.Name(), c.Queues)
	}
}

func TestQueueNumbersAreNotGivenAgain(t *testing.T) {
	h := newHost(t)
	seen := map[uint64]bool{}
	for range 3 {
		q := h.queue("q")
		id := q.Options().ID
		if id == 0 || seen[id] {
			t.Errorf("number %d", id)
		}
		seen[id] = true
		if kept, err := h.restart().Queue("q", me); err != nil || kept.Options().ID != id {
			t.Errorf("number after a restart: %v, %v, want %d", kept, err, id)
		}
		h.delete("q")
	}
	if id := h.queue("t", transient).Options().ID; id != 0 {
		t.Errorf("a transient queue has number %d in the store", id)
	}
}

// What a crash left of a binding goes away at the start.
func TestOrphanedBindings(t *testing.T) {
	h := newHost(t)
	h.exchange("direct", "x")
	h.queue("q")
	h.bind("q", "x", "k")
	h.bindX("x", "amq.direct", "k")
	h.must(h.disk.Memory.Commit(store.Change{Bucket: "exchanges of /", Key: "x"}))
	again := h.restart()
	if n := again.Counts().Bindings; n != 0 {
		t.Errorf("%d bindings without one of their ends", n)
	}
	again.exchange("direct", "x")
	if n := again.restart().Counts().Bindings; n != 0 {
		t.Errorf("%d bindings are back with the exchange", n)
	}
}

func TestDamagedDefinitions(t *testing.T) {
	for bucket, value := range map[string][]byte{
		"exchanges of /": {0, 0, 0, 9},
		"queues of /":    {},
		"bindings of /":  {0, 0, 0, 0, 1},
	} {
		d := newDisk()
		if err := d.Memory.Commit(store.Change{Bucket: bucket, Key: "k", Value: value}); err != nil {
			t.Fatal(err)
		}
		if _, err := vhost.New(vhost.Options{Name: "/", Store: d}); err == nil {
			t.Errorf("damage in %q went unnoticed", bucket)
		}
	}
}

// The source of a binding may be deleted while the binding's record is on its way to the disk.
func TestSourceDeletedDuringBind(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x")
	h.queue("q")
	h.disk.before = func(changes []store.Change) {
		if changes[0].Bucket == "bindings of /" && changes[0].Value != nil {
			h.disk.before = nil
			h.deleteX("x")
		}
	}
	refused(t, "bind", h.BindQueue("q", "x", "", nil, me, all()), 404, "no exchange 'x' in vhost '/'")
	h.exchange("fanout", "x")
	if n := h.restart().Counts().Bindings; n != 0 {
		t.Errorf("%d bindings come back with the new exchange", n)
	}
}

func TestExchangesStops(t *testing.T) {
	h := newHost(t)
	n := 0
	h.Exchanges(func(*exchange.Exchange) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("went on to %d", n)
	}
}

func TestCounts(t *testing.T) {
	h := newHost(t)
	for i := range 5 {
		h.queue(fmt.Sprint("q", i))
		h.bind(fmt.Sprint("q", i), "amq.topic", "a")
		h.bind(fmt.Sprint("q", i), "amq.topic", "b")
	}
	if c := h.Counts(); c != (vhost.Counts{Exchanges: 7, Queues: 5, Bindings: 10}) {
		t.Errorf("counts %+v", c)
	}
}
