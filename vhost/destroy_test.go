package vhost_test

import (
	"errors"
	"testing"

	"leveret/amqp"
	"leveret/store"
	"leveret/vhost"
)

// A virtual host that is destroyed has nothing left, makes nothing any more, and gives its names back to the count of all.
func TestDestroy(t *testing.T) {
	d := newDisk()
	census := &vhost.Census{MaxQueues: 3, MaxExchanges: 100}
	v, err := vhost.New(vhost.Options{Name: "v", Store: d, Census: census})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{v, t, d}
	h.exchange("topic", "x")
	h.exchange("fanout", "y", transientX)
	h.queue("a")
	h.queue("b", transient)
	h.queue("c", exclusive)
	h.bind("a", "x", "#")
	h.bindX("y", "x", "k")
	if _, err := v.DeclareQueue(queueOf("d"), me, all()); err == nil {
		t.Error("a fourth queue is made")
	}
	h.must(v.Destroy())
	if got := append(h.queues(), h.exchanges()...); len(got) > 0 {
		t.Errorf("%q are left", got)
	}
	for _, bucket := range []string{"queues of v", "exchanges of v", "bindings of v"} {
		h.must(d.Load(bucket, func(key string, _ []byte) error {
			t.Errorf("%q is left in the %s", key, bucket)
			return nil
		}))
	}
	if len(d.dropped) != 1 {
		t.Errorf("the messages of %d queues are dropped, want those of 1", len(d.dropped))
	}
	_, err = v.DeclareQueue(queueOf("late"), me, all())
	refused(t, "declare of a queue", err, amqp.CodeNotAllowed, "vhost v not found")
	refused(t, "declare of an exchange", v.DeclareExchange(exchangeOf("fanout", "late"), all()), amqp.CodeNotAllowed, "vhost v not found")
	w, err := vhost.New(vhost.Options{Name: "w", Store: d, Census: census})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} { // there is room for three again
		if _, err := w.DeclareQueue(queueOf(name), me, all()); err != nil {
			t.Error(err)
		}
	}
}

// Limits count what there is in all virtual hosts that share a census, or in one.
func TestCensus(t *testing.T) {
	d := newDisk()
	census := &vhost.Census{MaxQueues: 2, MaxExchanges: 15} // 7 are in each from its start
	var hosts []*host
	for _, name := range []string{"v", "w"} {
		v, err := vhost.New(vhost.Options{Name: name, Store: d, Census: census, Limits: vhost.Limits{vhost.MaxQueues: 1}})
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, &host{v, t, d})
	}
	v, w := hosts[0], hosts[1]
	v.queue("a")
	_, err := v.DeclareQueue(queueOf("b"), me, all())
	refused(t, "second queue", err, amqp.CodePreconditionFailed, "cannot declare queue 'b': queue limit in vhost 'v' (1) is reached")
	w.queue("a")
	w.SetLimits(nil)
	_, err = w.DeclareQueue(queueOf("b"), me, all())
	refused(t, "third queue of all", err, amqp.CodePreconditionFailed, "cannot declare queue 'b': queue limit in cluster (2) is reached")
	v.exchange("fanout", "x")
	err = w.DeclareExchange(exchangeOf("fanout", "x"), all())
	refused(t, "exchange", err, amqp.CodePreconditionFailed, "cannot declare exchange 'x' in vhost 'w': exchange limit of 15 is reached")
	v.deleteX("x")
	w.exchange("fanout", "x")
	v.delete("a")
	w.queue("b")
}

// What the store refuses to remove stays an error, and Wipe removes it later.
func TestDestroyOnABrokenDisk(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	broken := errors.New("no disk")
	h.disk.broken = broken
	if err := h.Destroy(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	h.disk.broken = nil
	h.must(vhost.Wipe(h.disk, "/"))
	if got := h.restart().queues(); len(got) > 0 {
		t.Errorf("%q are there after the restart", got)
	}
}

// The default type of queues is the virtual host's own, then the broker's, and for queues that it can't be the plain one.
func TestDefaultQueueTypes(t *testing.T) {
	for _, tt := range []struct{ own, broker, durable, fleeting string }{
		{"", "", "classic", "classic"}, {"", "quorum", "quorum", "classic"}, {"quorum", "", "quorum", "classic"}, {"classic", "quorum", "classic", "classic"},
	} {
		v, err := vhost.New(vhost.Options{Name: "/", Store: store.NewMemory(), DefaultQueueType: tt.broker, Metadata: vhost.Metadata{DefaultQueueType: tt.own}})
		if err != nil {
			t.Fatal(err)
		}
		h := &host{v, t, newDisk()}
		for name, want := range map[string]string{"durable": tt.durable, "fleeting": tt.fleeting} {
			q := h.queue(name, func(d *vhost.QueueDeclare) { d.Durable = name == "durable" })
			if got, _ := q.Options().Arguments.Get("x-queue-type"); got != want {
				t.Errorf("own %q, broker's %q: %s is %v, want %s", tt.own, tt.broker, name, got, want)
			}
		}
	}
}
