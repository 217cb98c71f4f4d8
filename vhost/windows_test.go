package vhost_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"leveret/amqp"
	"leveret/store"
	"leveret/vhost"
)

func keyHeader(key string) amqp.Field { return arg("x-deduplication-header", key) }

var dedupX = argsX(arg("x-message-deduplication", true), arg("x-cache-size", int32(100)))

var dedupQ = args(arg("x-message-deduplication", true), arg("x-cache-size", int32(100)))

func TestDuplicatesOfAnExchange(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	for _, declare := range []vhost.ExchangeDeclare{
		exchangeOf("direct", "x", dedupX), exchangeOf("x-message-deduplication", "y", argsX(arg("x-cache-size", int32(5)))),
	} {
		h.must(h.DeclareExchange(declare, all()))
		x := declare.Name
		r, found := send(t, h.VHost, letter(x, "k", "", keyHeader("a")))
		equal(t, x+": nobody there", found, []string{})
		if r.Duplicate {
			t.Errorf("%s: the first is a duplicate", x)
		}
		h.bind("q", x, "k")
		_, found = send(t, h.VHost, letter(x, "k", "", keyHeader("a")))
		equal(t, x+": the first that a queue gets", found, []string{"q"})
		r, found = send(t, h.VHost, letter(x, "k", "", keyHeader("a")))
		equal(t, x+": the second", found, []string{})
		if !r.Duplicate || len(r.Claims) != 0 {
			t.Errorf("%s: duplicate %v, %d claims", x, r.Duplicate, len(r.Claims))
		}
		_, found = send(t, h.VHost, letter(x, "k", "", keyHeader("b")))
		equal(t, x+": another", found, []string{"q"})
	}
}

func TestDuplicatesOfAQueue(t *testing.T) {
	h := newHost(t)
	h.queue("q", dedupQ)
	h.queue("r")
	for _, name := range []string{"q", "r"} {
		h.bind(name, "amq.fanout", "")
	}
	r, found := send(t, h.VHost, letter("amq.fanout", "", "", keyHeader("a")))
	equal(t, "the first", found, []string{"q", "r"})
	if r.Stamp.Valid() {
		t.Error("the route has a stamp, and the next message is not asked for its key")
	}
	_, found = send(t, h.VHost, letter("amq.fanout", "", "", keyHeader("a")))
	equal(t, "the second, for the other queue", found, []string{"r"})
	r, found = send(t, h.VHost, letter("", "q", "", keyHeader("a")))
	equal(t, "by the queue's name", found, []string{})
	if !r.Duplicate || r.Stamp.Valid() {
		t.Errorf("duplicate %v, stamp %v", r.Duplicate, r.Stamp.Valid())
	}
	r, found = send(t, h.VHost, letter("", "q", "", keyHeader("b")))
	equal(t, "another", found, []string{"q"})
	if r.Stamp.Valid() {
		t.Error("the route has a stamp")
	}
	r = described(t, letter("", "q", "", keyHeader("b")))
	r.Forwarded = true
	h.Route(h.Exchange(nil), r)
	equal(t, "a dead letter that comes back", queueNames(r), []string{"q"})
}

// What is sent later, in a transaction, takes its keys then.
func TestClaimsOfLater(t *testing.T) {
	h := newHost(t)
	h.queue("q", dedupQ)
	m := letter("", "q", "", keyHeader("a"))
	first, second := described(t, m), described(t, m)
	first.Later, second.Later = true, true
	h.Route(h.Exchange(nil), first)
	h.Route(h.Exchange(nil), second)
	equal(t, "the second", queueNames(second), []string{"q"})
	if !first.Claims.Take() || second.Claims.Take() {
		t.Error("one of them has to be taken, and one not")
	}
}

// Of many who publish the same at once, one gets through, and the other exchanges on the way are not disturbed.
func TestConcurrentDuplicates(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x", dedupX)
	h.queue("q", dedupQ)
	h.bind("q", "x", "")
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				for _, key := range []string{"a", "b", "c"} {
					if _, found := send(t, h.VHost, letter("x", "", "", keyHeader(key))); len(found) > 0 {
						passed.Add(1)
					}
				}
			}
		})
	}
	all.Wait()
	if n := passed.Load(); n != 3 {
		t.Errorf("%d messages of 3 keys got through", n)
	}
}

// logClaims does what a publisher does with the claims of a message that it logs.
func logClaims(f *folder, r *vhost.Routing) {
	var b store.Batch
	r.Claims.Log(&b)
	if b.Len() > 0 {
		f.disk.Append(&b, func() { r.Claims.Number(b.Pairs()) })
	}
}

func TestWindowsAfterARestart(t *testing.T) {
	f := newFolder(t)
	h := &host{VHost: f.open(), t: t}
	h.exchange("fanout", "x", dedupX)
	h.exchange("fanout", "transient", dedupX, transientX)
	h.queue("q", dedupQ)
	h.queue("r")
	h.bind("r", "x", "")
	for _, m := range []amqp.Message{letter("x", "", "", keyHeader("a")), letter("", "q", "", keyHeader("b"))} {
		r, found := send(t, h.VHost, m)
		if len(found) != 1 {
			t.Fatalf("found %v", found)
		}
		logClaims(f, r)
	}
	for range 3 {
		f.close()
		h = &host{VHost: f.open(), t: t}
		_, found := send(t, h.VHost, letter("x", "", "", keyHeader("a")))
		equal(t, "the exchange's", found, []string{})
		_, found = send(t, h.VHost, letter("", "q", "", keyHeader("b")))
		equal(t, "the queue's", found, []string{})
	}
	h.deleteX("x")
	h.delete("q")
	h.exchange("fanout", "x", dedupX)
	h.queue("q", dedupQ)
	h.bind("r", "x", "")
	for range 2 {
		r, found := send(t, h.VHost, letter("x", "", "", keyHeader("a")))
		equal(t, "another exchange of the name", found, []string{"r"})
		r.Claims.Release()
		r, found = send(t, h.VHost, letter("", "q", "", keyHeader("b")))
		equal(t, "another queue of the name", found, []string{"q"})
		r.Claims.Release()
		f.close()
		h = &host{VHost: f.open(), t: t}
	}
	f.close()
}
