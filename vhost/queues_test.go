package vhost_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

func TestDeclareQueueRefusals(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	h.queue("e", exclusive)
	deadLetter := args(arg("x-dead-letter-exchange", "d"))
	cases := []struct {
		name   string
		d      vhost.QueueDeclare
		rights *rights
		code   uint16
		text   string // empty: refused by the rights, in their words
	}{
		{"reserved", queueOf("amq.mine"), all(), 403, "queue name 'amq.mine' contains reserved prefix 'amq.*'"},
		{"reserved before rights", queueOf("amq.mine"), without("configure queue amq.mine"), 403, "queue name 'amq.mine' contains reserved prefix 'amq.*'"},
		{"rights before equivalence", queueOf("q", transient), without("configure queue q"), 403, ""},
		{"rights before arguments", queueOf("n", args(arg("x-message-ttl", int32(-1)))), without("configure queue n"), 403, ""},
		{"dead letter exchange needs read", queueOf("n", deadLetter), without("read queue n"), 403, ""},
		{"dead letter exchange needs write", queueOf("n", deadLetter), without("write exchange d"), 403, ""},
		{"its type before rights", queueOf("n", args(arg("x-dead-letter-exchange", int32(1)))), without("read queue n"), 406,
			"invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'n' in vhost '/'"},
		{"its rights before arguments", queueOf("n", args(arg("x-dead-letter-exchange", "d"), arg("x-message-ttl", "1"))),
			without("write exchange d"), 403, ""},
		{"exclusive asked of a shared one, before all", queueOf("q", exclusive, autoDelete, args(arg("x-expires", int32(1)))), all(), 405, fmt.Sprintf(locked, "q")},
		{"shared asked of an exclusive one", queueOf("e"), all(), 405, fmt.Sprintf(locked, "e")},
	}
	for _, c := range cases {
		q, err := h.DeclareQueue(c.d, me, c.rights)
		if q != nil {
			t.Errorf("%s: made", c.name)
		}
		if c.text == "" {
			if err == nil || err.Error() != "no "+c.rights.refused[0] {
				t.Errorf("%s: got %v", c.name, err)
			}
			continue
		}
		refused(t, c.name, err, c.code, c.text)
	}
	equal(t, "queues", h.queues(), []string{"e", "q"})
}

func TestServerNamedQueue(t *testing.T) {
	h := newHost(t)
	q, r := h.queue("", exclusive), h.queue("", exclusive)
	form := regexp.MustCompile(`^amq\.gen-[A-Za-z0-9_-]{22}$`)
	if !form.MatchString(q.Name()) || q.Name() == r.Name() {
		t.Errorf("names %q and %q", q.Name(), r.Name())
	}
	if _, err := h.CheckQueue(q.Name(), me, all()); err != nil {
		t.Errorf("passive declare by name: %v", err)
	}
	_, err := h.DeclareQueue(queueOf(q.Name(), exclusive), me, all())
	refused(t, "declare by name", err, 403, "queue name '"+q.Name()+"' contains reserved prefix 'amq.*'")

	asked := all()
	named, err := h.DeclareQueue(queueOf("", args(arg("x-name-prefix", "jobs"), arg("x-other", "kept"))), me, asked)
	if err != nil || !regexp.MustCompile(`^jobs-[A-Za-z0-9_-]{22}$`).MatchString(named.Name()) {
		t.Fatalf("with a prefix: %v, %v", named, err)
	}
	equal(t, "rights are asked about the new name", asked.asked, []string{"configure queue " + named.Name()})
	if _, ok := named.Options().Arguments.Get("x-name-prefix"); ok {
		t.Error("the prefix is kept as an argument")
	}
	long := fmt.Sprintf("%065d", 1)
	_, err = h.DeclareQueue(queueOf("", args(arg("x-name-prefix", long))), me, all())
	refused(t, "long prefix", err, 406, "Queue name prefix '"+long+"' exceeds the 64-byte limit")
	for _, kind := range []string{"quorum", "stream"} {
		_, err := h.DeclareQueue(queueOf("", args(arg("x-queue-type", kind))), me, all())
		refused(t, kind, err, 406, "Cannot declare a server-named queue for type rabbit_"+kind+"_queue")
	}
}

func TestCheckQueue(t *testing.T) {
	h := newHost(t)
	h.queue("q")
	h.queue("e", exclusive)
	for _, right := range []string{"configure queue q", "write queue q", "read queue q"} {
		rest := slices.DeleteFunc([]string{"configure queue q", "write queue q", "read queue q"}, func(s string) bool { return s == right })
		if q, err := h.CheckQueue("q", other, without(rest...)); err != nil || q.Name() != "q" {
			t.Errorf("with the right to %s: %v", right, err)
		}
	}
	_, err := h.CheckQueue("q", me, without("configure queue q", "write queue q", "read queue q"))
	if err == nil || err.Error() != "no configure queue q" {
		t.Errorf("without rights: %v", err)
	}
	_, err = h.CheckQueue("none", me, all())
	refused(t, "missing", err, 404, noQ)
	_, err = h.CheckQueue("", me, all())
	refused(t, "empty name", err, 404, "no queue '' in vhost '/'")
	_, err = h.CheckQueue("e", other, all())
	refused(t, "exclusive", err, 405, fmt.Sprintf(locked, "e"))
	_, err = h.Queue("e", other)
	refused(t, "use of an exclusive one", err, 405, fmt.Sprintf(locked, "e"))
	_, err = h.Queue("none", me)
	refused(t, "use of a missing one", err, 404, noQ)
	if q, err := h.Queue("e", me); err != nil || !q.Options().Exclusive || q.Options().Durable {
		t.Errorf("use by the owner: %v", err)
	}
}

func TestExclusiveQueuesEndWithTheirOwner(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x", autoDeleteX)
	for i := range 20 {
		h.queue(fmt.Sprint("mine", i), exclusive)
	}
	h.bind("mine1", "x", "")
	h.queue("shared")
	_, err := h.DeclareQueue(queueOf("theirs", exclusive), other, all())
	h.must(err)
	h.delete("mine0")
	if n := h.OwnedQueues(me); n != 19 {
		t.Errorf("%d owned queues listed, want 19", n)
	}
	h.must(h.DeleteOwned(me))
	h.must(h.DeleteOwned(me))
	equal(t, "queues", h.queues(), []string{"shared", "theirs"})
	equal(t, "exchanges", h.exchanges(), []string{})
	if n := h.OwnedQueues(me); n != 0 {
		t.Errorf("%d owned queues still listed", n)
	}
}

// Whoever declares an exclusive queue whose owner is about to end gets it when that has happened.
func TestDeclareWaitsForTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.queue("q", exclusive)
		start := time.Now()
		go func() {
			time.Sleep(700 * time.Millisecond)
			h.must(h.DeleteOwned(me))
		}()
		q, err := h.DeclareQueue(queueOf("q", exclusive), other, all())
		if err != nil || q.Options().Owner != uint64(other) || time.Since(start) != 700*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		synctest.Wait()
	})
}

func TestDeclareDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.queue("q", exclusive)
		start := time.Now()
		_, err := h.DeclareQueue(queueOf("q", exclusive), other, all())
		refused(t, "the owner stays", err, 405, fmt.Sprintf(locked, "q"))
		if time.Since(start) != time.Second {
			t.Errorf("waited %v, want 1 s", time.Since(start))
		}
		start = time.Now()
		_, err = h.DeclareQueue(queueOf("q"), other, all())
		refused(t, "not exclusive", err, 405, fmt.Sprintf(locked, "q"))
		_, err = h.DeclareQueue(queueOf("q"), me, all())
		refused(t, "not exclusive, by the owner", err, 405, fmt.Sprintf(locked, "q"))
		_, err = h.DeclareQueue(queueOf("q", exclusive, autoDelete), me, all())
		refused(t, "not equivalent", err, 406,
			"inequivalent arg 'auto_delete' for queue 'q' in vhost '/': received 'true' but current is 'false'")
		h.queue("shared")
		_, err = h.DeclareQueue(queueOf("shared", exclusive), me, all())
		refused(t, "shared", err, 405, fmt.Sprintf(locked, "shared"))
		if time.Since(start) != 0 {
			t.Errorf("waited %v though no end of the owner would help", time.Since(start))
		}
	})
}

func TestDeleteQueue(t *testing.T) {
	h := newHost(t)
	n, err := h.DeleteQueue("none", true, true, me, all())
	if n != 0 || err != nil {
		t.Errorf("missing: %d, %v", n, err)
	}
	if _, err := h.DeleteQueue("none", false, false, me, without("configure queue none")); err == nil {
		t.Error("deleted without the right to")
	}
	h.queue("e", exclusive)
	_, err = h.DeleteQueue("e", false, false, other, all())
	refused(t, "exclusive", err, 405, fmt.Sprintf(locked, "e"))

	q := h.queue("q")
	publish(q, 3)
	_, err = h.DeleteQueue("q", false, true, me, all())
	refused(t, "if-empty", err, 406, "queue 'q' in vhost '/' not empty")
	n, err = h.DeleteQueue("q", true, false, me, all())
	if n != 3 || err != nil {
		t.Errorf("deleted %d, %v", n, err)
	}
	if !q.Closed() {
		t.Error("the queue lives on")
	}
	equal(t, "queues", h.queues(), []string{"e"})
	id := q.Options().ID
	h.queue("t", transient)
	h.delete("t")
	if len(h.disk.dropped) != 1 || h.disk.dropped[0] != id {
		t.Errorf("dropped from the log: %v, want %d alone", h.disk.dropped, id)
	}
}

func publish(q *queue.Queue, n int) {
	b := queue.NewBatch()
	for range n {
		b.Add(amqp.AppendMessageAddress(nil, nil, []byte(q.Name())), nil)
	}
	if r := q.Push(b); r.Run {
		q.RunHere()
	}
}

// A queue that closes itself still has its name until it is retired; whoever needs the name meanwhile does that.
func TestNameOfClosedQueue(t *testing.T) {
	closed := func(change ...func(*vhost.QueueDeclare)) (*host, *queue.Queue) {
		h := newHost(t)
		h.exchange("fanout", "x")
		q := h.queue("q", change...)
		h.bind("q", "x", "")
		if _, err := q.Delete(false, false); err != nil {
			t.Fatal(err)
		}
		return h, q
	}

	h, old := closed()
	_, err := h.Queue("q", me)
	refused(t, "use", err, 404, "no queue 'q' in vhost '/'")
	equal(t, "default exchange", h.route("", "q"), []string{})
	fresh := h.queue("q", autoDelete) // not equivalent to the one that closed
	if fresh == old {
		t.Error("a declare was answered with a closed queue")
	}
	h.must(h.Retire(old)) // late, and to no effect
	equal(t, "queues", h.queues(), []string{"q"})
	equal(t, "bindings of the one before", h.route("x", ""), []string{})
	equal(t, "default exchange", h.route("", "q"), []string{"q"})

	h, _ = closed(exclusive)
	refused(t, "bind", h.BindQueue("q", "x", "", nil, other, all()), 404, "no queue 'q' in vhost '/'")
	equal(t, "retired by the bind", h.queues(), []string{})

	h, _ = closed()
	if n, err := h.DeleteQueue("q", true, true, me, all()); n != 0 || err != nil {
		t.Errorf("delete: %d, %v", n, err)
	}
	h, _ = closed()
	h.unbind("q", "x", "")
	equal(t, "retired by the unbind", h.queues(), []string{})
}

func TestEquivalentQueue(t *testing.T) {
	const where = " for queue 'q' in vhost '/': received "
	ttl := func(v any) func(*vhost.QueueDeclare) { return args(arg("x-message-ttl", v)) }
	kind := func(v string) amqp.Field { return arg("x-queue-type", v) }
	for _, c := range []struct {
		name         string
		first, again vhost.QueueDeclare
		want         string // empty: equivalent
	}{
		{"durable first", queueOf("q"), queueOf("q", transient, autoDelete, ttl(int32(1))), "inequivalent arg 'durable'" + where + "'false' but current is 'true'"},
		{"then auto-delete", queueOf("q"), queueOf("q", autoDelete, ttl(int32(1))), "inequivalent arg 'auto_delete'" + where + "'true' but current is 'false'"},
		{"changed", queueOf("q", ttl(int32(1000))), queueOf("q", ttl(int32(2000))), "inequivalent arg 'x-message-ttl'" + where + "'2000' but current is '1000'"},
		{"added", queueOf("q"), queueOf("q", ttl(int32(1000))),
			"inequivalent arg 'x-message-ttl'" + where + "the value '1000' of type 'signedint' but current is none"},
		{"removed", queueOf("q", ttl(int64(1000))), queueOf("q"),
			"inequivalent arg 'x-message-ttl'" + where + "none but current is the value '1000' of type 'long'"},
		{"string", queueOf("q"), queueOf("q", args(arg("x-dead-letter-exchange", "dlx"))),
			"inequivalent arg 'x-dead-letter-exchange'" + where + "the value 'dlx' of type 'longstr' but current is none"},
		{"boolean", queueOf("q", args(arg("x-single-active-consumer", true))), queueOf("q", args(arg("x-single-active-consumer", false))),
			"inequivalent arg 'x-single-active-consumer'" + where + "'false' but current is 'true'"},
		{"integer widths", queueOf("q", ttl(int32(100))), queueOf("q", ttl(uint8(100))), ""},
		{"a float is no integer", queueOf("q", ttl(int32(100))), queueOf("q", ttl(100.0)), "inequivalent arg 'x-message-ttl'" + where + "'100' but current is '100'"},
		{"unknown arguments", queueOf("q", args(arg("x-mine", int32(1)))), queueOf("q", args(arg("x-mine", int32(2)), arg("y", nil))), ""},
		{"arguments of other types", queueOf("q"), queueOf("q", args(arg("x-max-age", "1h"), arg("x-delivery-limit", int32(5)))), ""},
		{"the default type is there", queueOf("q"), queueOf("q", args(kind("classic"))), ""},
		{"an empty type is another", queueOf("q", args(kind(""))), queueOf("q"), "inequivalent arg 'x-queue-type'" + where + "'classic' but current is ''"},
		{"another type", queueOf("q"), queueOf("q", args(kind("quorum"))), "inequivalent arg 'x-queue-type'" + where + "'quorum' but current is 'classic'"},
		{"no type", queueOf("q", args(kind("quorum"))), queueOf("q"), "inequivalent arg 'x-queue-type'" + where + "'classic' but current is 'quorum'"},
		{"mode has no effect but counts", queueOf("q", args(arg("x-queue-mode", "lazy"))), queueOf("q"),
			"inequivalent arg 'x-queue-mode'" + where + "none but current is the value 'lazy' of type 'longstr'"},
		{"equal ages", queueOf("q", args(kind("stream"), arg("x-max-age", "1h"))), queueOf("q", args(kind("stream"), arg("x-max-age", "60m"))), ""},
		{"other ages", queueOf("q", args(kind("stream"), arg("x-max-age", "1h"))), queueOf("q", args(kind("stream"), arg("x-max-age", "2h"))),
			"inequivalent arg 'x-max-age'" + where + "'7200000' but current is '3600000'"},
		{"quorum knows its own", queueOf("q", args(kind("quorum"), arg("x-delivery-limit", int32(5)))), queueOf("q", args(kind("quorum"))),
			"inequivalent arg 'x-delivery-limit'" + where + "none but current is the value '5' of type 'signedint'"},
		{"durable does not count for an exclusive one", queueOf("q", exclusive), queueOf("q", exclusive, transient), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			first, err := h.DeclareQueue(c.first, me, all())
			h.must(err)
			again, err := h.DeclareQueue(c.again, me, all())
			if c.want != "" {
				refused(t, "again", err, 406, c.want)
			} else if err != nil || again != first {
				t.Errorf("again: %v", err)
			}
		})
	}
}

func TestDefaultQueueType(t *testing.T) {
	v, err := vhost.New(vhost.Options{Name: "v", Store: newDisk(), DefaultQueueType: "quorum"})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		d    vhost.QueueDeclare
		want string
	}{
		{queueOf(""), "Cannot declare a server-named queue for type rabbit_quorum_queue"},
		{queueOf("plain"), "quorum"},
		{queueOf("auto", autoDelete), "classic"},
		{queueOf("transient", transient), "classic"},
		{queueOf("exclusive", exclusive), "classic"},
		{queueOf("asked", args(arg("x-queue-type", "classic"))), "classic"},
	} {
		q, err := v.DeclareQueue(c.d, me, all())
		if i == 0 {
			refused(t, "server-named", err, 406, c.want)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.d.Name, err)
		}
		if got, _ := q.Options().Arguments.Get("x-queue-type"); got != c.want {
			t.Errorf("%s is %v, want %s", c.d.Name, got, c.want)
		}
		if again, err := v.DeclareQueue(c.d, me, all()); again != q || err != nil {
			t.Errorf("%s again: %v", c.d.Name, err)
		}
	}
	spare := make(amqp.Table, 1, 2)
	spare[0] = arg("x-other", "kept")
	_, err = v.DeclareQueue(queueOf("spare", args(spare...)), me, all())
	if err != nil || spare[:2][1].Name != "" {
		t.Errorf("the declare wrote into the caller's table: %v, %v", spare[:2], err)
	}
}

func TestSingleActiveConsumer(t *testing.T) {
	h := newHost(t)
	if !h.queue("sac", args(arg("x-single-active-consumer", true))).Options().SingleActiveConsumer {
		t.Error("the argument has no effect")
	}
	if h.queue("no", args(arg("x-single-active-consumer", false))).Options().SingleActiveConsumer || h.queue("none").Options().SingleActiveConsumer {
		t.Error("single active consumer without the argument")
	}
}

func TestStoreFails(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x", autoDeleteX)
	h.queue("q")
	h.bind("q", "x", "")
	broken := errors.New("disk is on fire")
	h.disk.broken = broken

	_, err := h.DeclareQueue(queueOf("new"), me, all())
	wants(t, "declare queue", err, broken)
	wants(t, "declare exchange", h.DeclareExchange(exchangeOf("direct", "new"), all()), broken)
	wants(t, "bind", h.BindQueue("q", "amq.topic", "k", nil, me, all()), broken)
	wants(t, "unbind", h.UnbindQueue("q", "x", "", nil, me, all()), broken)
	equal(t, "queues", h.queues(), []string{"q"})
	equal(t, "exchanges", h.exchanges(), []string{"x"})
	equal(t, "what was not bound", h.route("amq.topic", "k"), []string{})
	equal(t, "what was not unbound", h.route("x", ""), []string{"q"})
	h.queue("transient", transient) // does not need the disk
	h.bind("transient", "x", "")

	_, err = h.DeleteQueue("q", false, false, me, all())
	wants(t, "delete queue", err, broken)
	wants(t, "delete exchange", h.DeleteExchange("x", false, all()), broken)
	equal(t, "gone from memory all the same", append(h.queues(), h.exchanges()...), []string{"transient"})

	h.disk.broken = nil
	h.queue("new") // the names are not stuck
	h.exchange("direct", "new")
}

func wants(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}
