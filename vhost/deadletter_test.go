package vhost_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// posted is a message to be published: to an exchange, with a key, and properties that change is called for.
type posted struct {
	source, key, body string
	expiration        string
	headers           amqp.Table
	blind             []string
	persistent        bool
}

// post publishes it as the server does, and returns how many queues it reached.
func (h *host) post(p posted) int {
	h.t.Helper()
	properties := amqp.Properties{Flags: amqp.FlagDeliveryMode | amqp.FlagContentType | amqp.FlagMessageID, DeliveryMode: 1, ContentType: "text", MessageID: "id"}
	if p.persistent {
		properties.DeliveryMode = amqp.Persistent
	}
	if p.headers != nil {
		properties.Flags, properties.Headers = properties.Flags|amqp.FlagHeaders, p.headers
	}
	if p.expiration != "" {
		properties.Flags, properties.Expiration = properties.Flags|amqp.FlagExpiration, p.expiration
	}
	raw := properties.AppendTo(nil)
	var index amqp.PropertyIndex
	h.must(amqp.ScanProperties(raw, &index))
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, []byte(p.source), []byte(p.key)), raw...))
	m.SetProperties(len(raw), &index, time.Now().UnixMilli())
	if p.expiration != "" {
		ms, err := amqp.ParseExpiration([]byte(p.expiration))
		h.must(err)
		m.SetExpiration(ms)
	}
	if _, own := p.headers.Get("x-dead-letter-exchange"); own {
		m.SetOwnDeadLetter()
	}
	if len(p.blind) > 0 {
		var keys [][]byte
		for _, key := range p.blind {
			keys = append(keys, []byte(key))
		}
		m = amqp.AppendBlindKeys(m, keys...)
	}
	m = append(m, p.body...)
	r := described(h.t, m)
	h.Route(h.Exchange(m.Exchange()), r)
	for _, q := range r.Queues {
		h.push(q, m)
	}
	return len(r.Queues)
}

// push logs a message if its queue does that, and hands it over.
func (h *host) push(q *queue.Queue, m amqp.Message) {
	var logged store.Batch
	batch := queue.NewBatch()
	batch.Add(m, nil)
	var r queue.Receipt
	push := func() { r = q.Push(batch) }
	if q.Logs(m) {
		logged.Publish(m, 0)
		logged.To(q.Options().ID)
		h.disk.Append(&logged, func() {
			push()
			logged.Pairs()[0].Seq = r.Place(0)
		})
	} else {
		push()
	}
	if r.Run {
		q.Run()
	}
}

// Append notes what is appended at once.
func (d *disk) Append(b *store.Batch, number func()) store.LSN {
	d.mu.Lock()
	d.appended = append(d.appended, fmt.Sprintf("%d records, atomic: %v", b.Len(), b.Atomic))
	logging := d.logging
	d.mu.Unlock()
	if logging != nil {
		logging()
	}
	return d.Memory.Append(b, number)
}

// grip is a channel that gets one message after the other.
type grip struct{ seq uint64 }

func (g *grip) Lock()                                                {}
func (g *grip) Unlock()                                              {}
func (g *grip) Touch() bool                                          { return false }
func (g *grip) Flush(bool)                                           {}
func (g *grip) DeliverGot(seq uint64, _ amqp.Message, _ bool, _ int) { g.seq = seq }

// reject gets the first message and does not want it.
func (h *host) reject(q *queue.Queue) {
	h.t.Helper()
	h.settle1(q, queue.Reject)
}

func (h *host) settle1(q *queue.Queue, o queue.Outcome) {
	h.t.Helper()
	g := new(grip)
	if found, err := q.Get(g, g, false); !found || err != nil {
		h.t.Fatalf("%s: got %v, %v", q.Name(), found, err)
	}
	s := queue.NewSettlement(nil, o)
	s.Add(g.seq)
	if q.Settle(s) {
		q.Run()
	}
}

// awaits waits until a queue holds so many messages, and returns them.
func (h *host) awaits(q *queue.Queue, count int) []queue.Peeked {
	h.t.Helper()
	var found []queue.Peeked
	if !eventually(func() bool {
		var err error
		found, _, err = q.Peek(0, 0, 1000)
		h.must(err)
		return len(found) == count
	}) {
		c, err := q.Counts()
		h.t.Fatalf("%s holds %+v, %v; want %d", q.Name(), c, err, count)
	}
	return found
}

// letterText writes what matters of a dead letter in a line; times are checked and left out.
func letterText(t *testing.T, m amqp.Message) string {
	t.Helper()
	p, err := amqp.DecodeProperties(m.Properties())
	if err != nil || p.ContentType != "text" || p.MessageID != "id" {
		t.Fatalf("properties %+v, %v", p, err)
	}
	words := []string{fmt.Sprintf("%s/%s %s", m.Exchange(), m.RoutingKey(), m.Body())}
	if p.Flags&amqp.FlagExpiration != 0 || m.Expires() {
		words = append(words, "expiration="+p.Expiration)
	}
	for _, f := range p.Headers {
		if f.Name != "x-death" {
			words = append(words, fmt.Sprintf("%s=%v", strings.Replace(f.Name, "-death-", "-", 1), f.Value))
			continue
		}
		for _, entry := range f.Value.(amqp.Array) {
			var fields []string
			for _, e := range entry.(amqp.Table) {
				if at, ok := e.Value.(amqp.Timestamp); ok {
					if d := time.Now().Unix() - int64(at); d < 0 || d > 60 {
						t.Errorf("a death %d s ago", d)
					}
					fields = append(fields, e.Name)
					continue
				}
				fields = append(fields, fmt.Sprintf("%s=%v", e.Name, e.Value))
			}
			words = append(words, "{"+strings.Join(fields, " ")+"}")
		}
	}
	return strings.Join(words, " ")
}

func deadTo(exchange string, more ...amqp.Field) func(*vhost.QueueDeclare) {
	return args(append([]amqp.Field{arg("x-dead-letter-exchange", exchange)}, more...)...)
}

// The headers of a first death, of one elsewhere, and of a second for the same reason in the same queue.
func TestDeathHeaders(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "dlx")
	q, dlq := h.queue("q", deadTo("dlx")), h.queue("dlq", deadTo("", arg("x-dead-letter-routing-key", "q")))
	h.bind("dlq", "dlx", "")
	h.post(posted{key: "q", body: "m", expiration: "60000", headers: amqp.Table{arg("a", true), arg("CC", amqp.Array{"cc"})}, blind: []string{"bcc"}})
	h.reject(q)
	m := h.awaits(dlq, 1)[0].Message
	const first = "x-first-reason=rejected x-first-queue=q x-first-exchange="
	equal(t, "first", []string{letterText(t, m)}, []string{"dlx/q m a=true CC=[cc] " +
		"{original-expiration=60000 count=1 reason=rejected queue=q time exchange= routing-keys=[q cc]} " +
		first + " x-last-reason=rejected x-last-queue=q x-last-exchange="})
	if !m.Died() || m.OneKey() || len(m.BlindKeys()) != 1 {
		t.Errorf("died %v, one key %v, blind keys %q", m.Died(), m.OneKey(), m.BlindKeys())
	}

	h.reject(dlq)
	m = h.awaits(q, 1)[0].Message
	second := "{count=1 reason=rejected queue=dlq time exchange=dlx routing-keys=[q cc]} "
	equal(t, "second", []string{letterText(t, m)}, []string{"/q m a=true CC=[cc] " + second +
		"{original-expiration=60000 count=1 reason=rejected queue=q time exchange= routing-keys=[q cc]} " +
		first + " x-last-reason=rejected x-last-queue=dlq x-last-exchange=dlx"})
	if !m.OneKey() {
		t.Error("it went by the dead letter key, and still goes by the others")
	}

	h.reject(q)
	equal(t, "third", []string{letterText(t, h.awaits(dlq, 1)[0].Message)}, []string{"dlx/q m a=true CC=[cc] " +
		"{original-expiration=60000 count=2 reason=rejected queue=q time exchange= routing-keys=[q cc]} " + second +
		first + " x-last-reason=rejected x-last-queue=q x-last-exchange="})
}

// What a publisher writes into x-death counts for nothing and is replaced.
func TestForgedDeaths(t *testing.T) {
	h := newHost(t)
	q, dlq := h.queue("q", deadTo("", arg("x-dead-letter-routing-key", "dlq"))), h.queue("dlq")
	forged := amqp.Array{amqp.Table{arg("count", int64(7)), arg("reason", "rejected"), arg("queue", "q")}}
	h.post(posted{key: "q", headers: amqp.Table{arg("x-death", forged), arg("x-first-death-queue", "z")}})
	h.reject(q)
	text := letterText(t, h.awaits(dlq, 1)[0].Message)
	if !strings.Contains(text, "count=1 ") || strings.Contains(text, "count=7") || !strings.Contains(text, "x-first-queue=q ") {
		t.Error(text)
	}
}

// A dead letter goes wherever the keys of CC and BCC lead, unless there is a dead letter key.
func TestDeadLetterKeys(t *testing.T) {
	for key, want := range map[string][]string{"": {"bcc", "cc", "k"}, "one": {"one"}} {
		h := newHost(t)
		h.exchange("direct", "dlx")
		var more []amqp.Field
		if key != "" {
			more = append(more, arg("x-dead-letter-routing-key", key))
		}
		q := h.queue("q", deadTo("dlx", more...))
		h.exchange("fanout", "in")
		h.bind("q", "in", "")
		for _, name := range []string{"k", "cc", "bcc", "one"} {
			h.queue(name)
			h.bind(name, "dlx", name)
		}
		h.post(posted{source: "in", key: "k", headers: amqp.Table{arg("CC", amqp.Array{"cc"})}, blind: []string{"bcc"}})
		h.reject(q)
		var got []string
		for _, name := range []string{"bcc", "cc", "k", "one"} {
			if c, err := h.find(name).Counts(); err == nil && c.Ready > 0 {
				got = append(got, name)
			}
		}
		equal(t, "key "+key, got, want)
	}
}

// Headers of the message say where it goes when it dies, also from a queue that has no dead letter exchange.
func TestOwnDeadLetterHeaders(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "other")
	h.exchange("direct", "own")
	plain, dead := h.queue("plain"), h.queue("dead", deadTo("other", arg("x-dead-letter-routing-key", "x")))
	h.queue("a")
	h.bind("a", "own", "k")
	h.exchange("fanout", "wide")
	h.queue("b")
	h.bind("b", "wide", "")
	for i, q := range []*queue.Queue{plain, dead} {
		h.post(posted{key: q.Name(), headers: amqp.Table{arg("x-dead-letter-exchange", "own"), arg("x-dead-letter-routing-key", "k")}})
		h.reject(q)
		h.awaits(h.find("a"), i+1)
	}
	// What is longer than any key is none.
	h.post(posted{key: "plain", headers: amqp.Table{arg("x-dead-letter-exchange", "wide"), arg("x-dead-letter-routing-key", strings.Repeat("z", 300))}})
	h.reject(plain)
	if m := h.awaits(h.find("b"), 1)[0].Message; !m.Whole() || string(m.RoutingKey()) != "plain" {
		t.Errorf("whole: %v, key %q", m.Whole(), m.RoutingKey())
	}
}

// An expired message that would come to a queue where it died before is dropped, unless it was rejected since.
func TestDeadLetterCycles(t *testing.T) {
	h := newHost(t)
	q := h.queue("q", deadTo("", arg("x-dead-letter-routing-key", "q"), arg("x-message-ttl", int32(0))))
	h.post(posted{key: "q"})
	h.awaits(q, 0)
	if h.Cycles() != 1 {
		t.Errorf("%d circles", h.Cycles())
	}
	r := h.queue("r", deadTo("", arg("x-dead-letter-routing-key", "r")))
	h.post(posted{key: "r"})
	h.reject(r)
	h.awaits(r, 1)
	h.reject(r)
	if text := letterText(t, h.awaits(r, 1)[0].Message); !strings.Contains(text, "count=2 ") {
		t.Error(text)
	}
	if h.Cycles() != 1 {
		t.Errorf("%d circles", h.Cycles())
	}
}

// What has nowhere to go is gone; with at-least-once it stays until somebody takes it.
func TestDeadLettersAtLeastOnce(t *testing.T) {
	h := newHost(t)
	q := h.queue("q", deadTo("dlx"))
	h.post(posted{key: "q"})
	h.reject(q)
	if s := q.Stats(); s.Leaving+s.Ready+s.Unacked != 0 {
		t.Errorf("%+v", s)
	}
	q = h.queue("safe", args(arg("x-dead-letter-exchange", "dlx"), arg("x-dead-letter-strategy", "at-least-once"), arg("x-overflow", "reject-publish"),
		arg("x-queue-type", "quorum")))
	h.post(posted{key: "safe", body: "m", persistent: true})
	h.reject(q)
	h.untilLeaving(q, 1)
	h.exchange("fanout", "dlx")
	h.queue("full", args(arg("x-max-length", int32(0)), arg("x-overflow", "reject-publish")))
	h.bind("full", "dlx", "")
	q.Tend()
	h.untilLeaving(q, 1)
	h.queue("dlq")
	h.unbind("full", "dlx", "")
	h.bind("dlq", "dlx", "")
	eventually(func() bool {
		q.Tend()
		return q.Stats().Leaving == 0
	})
	h.awaits(h.find("dlq"), 1)
	h.untilLeaving(q, 0)
}

func (h *host) untilLeaving(q *queue.Queue, count int) {
	h.t.Helper()
	if !eventually(func() bool {
		_, err := q.Counts()
		h.must(err)
		return q.Stats().Leaving == count
	}) {
		h.t.Fatalf("%d are leaving, want %d", q.Stats().Leaving, count)
	}
}

// What a full queue refuses is dead-lettered, if it says so.
func TestRefusedIsDeadLettered(t *testing.T) {
	h := newHost(t)
	q, dlq := h.queue("q", deadTo("", arg("x-dead-letter-routing-key", "dlq"), arg("x-max-length", int32(1)), arg("x-overflow", "reject-publish-dlx"))), h.queue("dlq")
	h.post(posted{key: "q", body: "1"})
	h.post(posted{key: "q", body: "2"})
	if text := letterText(t, h.awaits(dlq, 1)[0].Message); !strings.HasPrefix(text, "/dlq 2 {count=1 reason=maxlen queue=q ") {
		t.Error(text)
	}
	h.awaits(q, 1)
}

// A dead letter that nobody takes is counted as dropped; one that anybody takes is not.
func TestLostDeadLettersAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		exchange, key string
		dropped       uint64
	}{
		"taken":             {"", "open", 0},
		"taken by one":      {"amq.fanout", "", 0},
		"refused":           {"", "full", 1},
		"no queue":          {"", "none", 1},
		"no exchange":       {"none", "", 1},
		"cut off as circle": {"", "q", 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.queue("open")
			h.queue("full", args(arg("x-max-length", int32(0)), arg("x-overflow", "reject-publish")))
			for _, bound := range []string{"open", "full"} {
				if err := h.BindQueue(bound, "amq.fanout", "", nil, 0, vhost.Unrestricted{}); err != nil {
					t.Fatal(err)
				}
			}
			q := h.queue("q", deadTo(c.exchange, arg("x-dead-letter-routing-key", c.key), arg("x-message-ttl", int32(0))))
			h.post(posted{key: "q"})
			h.awaits(q, 0)
			s := q.Stats()
			if dropped, dead := s.Dropped[queue.Expired], s.DeadLettered[queue.Expired]; dropped != c.dropped || dead != 1-c.dropped {
				t.Errorf("%d dropped, %d dead-lettered", dropped, dead)
			}
		})
	}
}

// A persistent message moves from one queue to the other in one record of the log.
func TestDeadLetterIsOneRecord(t *testing.T) {
	h := newHost(t)
	q, dlq := h.queue("q", deadTo("", arg("x-dead-letter-routing-key", "dlq"))), h.queue("dlq")
	h.post(posted{key: "q", persistent: true})
	h.disk.appended = nil
	h.reject(q)
	m := h.awaits(dlq, 1)[0]
	if !m.Message.Persistent() {
		t.Error("not persistent any more")
	}
	equal(t, "appended", h.disk.appended, []string{"2 records, atomic: true"})
	for name, want := range map[*queue.Queue]int{q: 0, dlq: 1} {
		w, err := h.disk.Read(name.Options().ID, []store.Range{{First: 1, Last: 100}}, 1<<20)
		if err != nil || len(w.Messages) != want {
			t.Errorf("the log has %d messages of %s, %v; want %d", len(w.Messages), name.Name(), err, want)
		}
	}
}

func TestReplay(t *testing.T) {
	h := newHost(t)
	q, dlq, other := h.queue("q", deadTo("", arg("x-dead-letter-routing-key", "dlq"))), h.queue("dlq"), h.queue("other")
	for i := range 5 {
		h.post(posted{key: "q", body: fmt.Sprint(i), persistent: i%2 == 0})
		h.reject(q)
		h.awaits(dlq, i+1)
	}
	h.post(posted{key: "dlq", body: "never died"})
	ctx := t.Context()
	check := func(what string, r vhost.Replay, want vhost.Replayed, bodies map[*queue.Queue]string) {
		t.Helper()
		got, err := h.Replay(ctx, dlq, r)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
		}
		for q, want := range bodies {
			var texts []string
			for _, m := range h.awaits(q, len(strings.Fields(strings.ReplaceAll(want, "never died", "x")))) {
				texts = append(texts, string(m.Message.Body()))
			}
			slices.Sort(texts)
			equal(t, what+" "+q.Name(), []string{strings.Join(texts, " ")}, []string{want})
		}
	}
	check("dry", vhost.Replay{DryRun: true}, vhost.Replayed{Examined: 6, Matched: 6, Sent: 5, Homeless: 1}, map[*queue.Queue]string{q: "", dlq: "0 1 2 3 4 never died"})
	check("limited", vhost.Replay{Limit: 2}, vhost.Replayed{Examined: 6, Matched: 6, Sent: 2}, map[*queue.Queue]string{q: "0 1", dlq: "2 3 4 never died"})
	wanted := func(m queue.Peeked) bool { return string(m.Message.Body()) == "3" }
	check("chosen", vhost.Replay{Wanted: wanted, To: &queue.Destination{Key: "other"}}, vhost.Replayed{Examined: 4, Matched: 1, Sent: 1},
		map[*queue.Queue]string{other: "3", dlq: "2 4 never died"})
	// What can't be sent stays where it is.
	for _, x := range []string{"none", "amq.fanout"} {
		check("to "+x, vhost.Replay{To: &queue.Destination{Exchange: x}}, vhost.Replayed{Examined: 3, Matched: 3, Unroutable: 3},
			map[*queue.Queue]string{dlq: "2 4 never died"})
	}
	check("to a queue that is not there", vhost.Replay{To: &queue.Destination{Key: "none"}}, vhost.Replayed{Examined: 3, Matched: 3, Homeless: 3},
		map[*queue.Queue]string{dlq: "2 4 never died"})
	check("all", vhost.Replay{}, vhost.Replayed{Examined: 3, Matched: 3, Sent: 2, Homeless: 1}, map[*queue.Queue]string{q: "0 1 2 4", dlq: "never died"})
	h.reject(q) // what was sent back looks as if it had never died, to cycles and deaths
	for _, m := range h.awaits(dlq, 2) {
		if text := letterText(t, m.Message); strings.Contains(text, "count=") && !strings.Contains(text, "count=1 ") {
			t.Error(text)
		}
	}
}

func TestReplayRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		q := h.queue("q")
		h.queue("to")
		for range 25 {
			h.post(posted{key: "q"})
		}
		begun := time.Now()
		got, err := h.Replay(t.Context(), q, vhost.Replay{To: &queue.Destination{Key: "to"}, Rate: 10})
		if took := time.Since(begun); err != nil || got.Sent != 25 || took != 2*time.Second {
			t.Errorf("%+v, %v, took %v", got, err, took)
		}
		h.post(posted{key: "q"})
		h.post(posted{key: "q"})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		got, err = h.Replay(ctx, q, vhost.Replay{To: &queue.Destination{Key: "to"}, Rate: 1})
		if !errors.Is(err, context.DeadlineExceeded) || got.Sent != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
