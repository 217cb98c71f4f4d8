package vhost_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// rights refuse what is listed, as "write exchange x" or "read topic x k", and note what was asked.
type rights struct {
	refused []string
	asked   []string
}

func (r *rights) check(question, refusal string) error {
	r.asked = append(r.asked, question)
	if slices.Contains(r.refused, question) {
		return &amqp.Error{Code: amqp.CodeAccessRefused, Text: refusal}
	}
	return nil
}

func (r *rights) resource(right amqp.Right, kind amqp.ResourceKind, name string) error {
	question := fmt.Sprintf("%s %s %s", right, kind, name)
	return r.check(question, "no "+question)
}

func (r *rights) Configure(kind amqp.ResourceKind, name string) error {
	return r.resource(amqp.Configure, kind, name)
}

func (r *rights) Write(kind amqp.ResourceKind, name string) error {
	return r.resource(amqp.Write, kind, name)
}

func (r *rights) Read(kind amqp.ResourceKind, name string) error {
	return r.resource(amqp.Read, kind, name)
}

func (r *rights) topic(right, exchange, key string) error {
	question := fmt.Sprintf("%s topic %s %s", right, exchange, key)
	return r.check(question, "no "+question)
}

func (r *rights) WriteTopic(exchange, key string) error { return r.topic("write", exchange, key) }
func (r *rights) ReadTopic(exchange, key string) error  { return r.topic("read", exchange, key) }

func all() *rights { return new(rights) }

func without(refused ...string) *rights { return &rights{refused: refused} }

// disk is a store in memory that can be told to fail, and counts commits. It outlives the virtual hosts on it.
type disk struct {
	*store.Memory
	mu       sync.Mutex
	broken   error
	commits  int
	dropped  []uint64
	appended []string                     // what Append was given
	before   func(changes []store.Change) // called before each commit
	logging  func()                       // called before each Append
}

func newDisk() *disk { return &disk{Memory: store.NewMemory()} }

func (d *disk) Commit(changes ...store.Change) error {
	d.mu.Lock()
	broken, before := d.broken, d.before
	d.commits++
	d.mu.Unlock()
	if before != nil {
		before(changes)
	}
	if broken != nil {
		return broken
	}
	return d.Memory.Commit(changes...)
}

func (d *disk) DropQueue(queue uint64) {
	d.mu.Lock()
	d.dropped = append(d.dropped, queue)
	d.mu.Unlock()
	d.Memory.DropQueue(queue)
}

// host is a virtual host with short verbs, which fail the test on errors.
type host struct {
	*vhost.VHost
	t    testing.TB
	disk *disk
}

const (
	me    vhost.Owner = 1
	other vhost.Owner = 2
)

func newHost(t testing.TB) *host { return openHost(t, newDisk()) }

func openHost(t testing.TB, d *disk) *host {
	t.Helper()
	v, err := vhost.New(vhost.Options{Name: "/", Store: d, Streams: true})
	if err != nil {
		t.Fatal(err)
	}
	return &host{VHost: v, t: t, disk: d}
}

// restart gives the virtual host as it is after the broker stopped and started.
func (h *host) restart() *host { return openHost(h.t, h.disk) }

func (h *host) queue(name string, change ...func(*vhost.QueueDeclare)) *queue.Queue {
	h.t.Helper()
	d := queueOf(name, change...)
	q, err := h.DeclareQueue(d, me, all())
	if err != nil {
		h.t.Fatalf("declare queue %q: %v", name, err)
	}
	return q
}

// queueOf is the declare of a durable queue, changed.
func queueOf(name string, change ...func(*vhost.QueueDeclare)) vhost.QueueDeclare {
	d := vhost.QueueDeclare{Name: name, Durable: true}
	for _, c := range change {
		c(&d)
	}
	return d
}

func exclusive(d *vhost.QueueDeclare)  { d.Exclusive = true }
func transient(d *vhost.QueueDeclare)  { d.Durable = false }
func autoDelete(d *vhost.QueueDeclare) { d.AutoDelete = true }

func args(fields ...amqp.Field) func(*vhost.QueueDeclare) {
	return func(d *vhost.QueueDeclare) { d.Arguments = fields }
}

func arg(name string, value any) amqp.Field { return amqp.Field{Name: name, Value: value} }

func (h *host) exchange(kind, name string, change ...func(*vhost.ExchangeDeclare)) {
	h.t.Helper()
	if err := h.DeclareExchange(exchangeOf(kind, name, change...), all()); err != nil {
		h.t.Fatalf("declare exchange %q: %v", name, err)
	}
}

// exchangeOf is the declare of a durable exchange, changed.
func exchangeOf(kind, name string, change ...func(*vhost.ExchangeDeclare)) vhost.ExchangeDeclare {
	d := vhost.ExchangeDeclare{Name: name, Type: kind, Durable: true}
	for _, c := range change {
		c(&d)
	}
	return d
}

func transientX(d *vhost.ExchangeDeclare)  { d.Durable = false }
func autoDeleteX(d *vhost.ExchangeDeclare) { d.AutoDelete = true }
func internalX(d *vhost.ExchangeDeclare)   { d.Internal = true }

func argsX(fields ...amqp.Field) func(*vhost.ExchangeDeclare) {
	return func(d *vhost.ExchangeDeclare) { d.Arguments = fields }
}

func (h *host) bind(queue, source, key string, fields ...amqp.Field) {
	h.t.Helper()
	h.must(h.BindQueue(queue, source, key, fields, me, all()))
}

func (h *host) unbind(queue, source, key string, fields ...amqp.Field) {
	h.t.Helper()
	h.must(h.UnbindQueue(queue, source, key, fields, me, all()))
}

func (h *host) bindX(destination, source, key string, fields ...amqp.Field) {
	h.t.Helper()
	h.must(h.BindExchange(destination, source, key, fields, all()))
}

func (h *host) unbindX(destination, source, key string, fields ...amqp.Field) {
	h.t.Helper()
	h.must(h.UnbindExchange(destination, source, key, fields, all()))
}

func (h *host) delete(queue string) {
	h.t.Helper()
	_, err := h.DeleteQueue(queue, false, false, me, all())
	h.must(err)
}

func (h *host) deleteX(name string) {
	h.t.Helper()
	h.must(h.DeleteExchange(name, false, all()))
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// exchanges are the names of those that are no standard ones, sorted.
func (h *host) exchanges() []string {
	names := []string{}
	h.Exchanges(func(x *exchange.Exchange) bool {
		if n := x.Name(); n != "" && (len(n) < 4 || n[:4] != "amq.") {
			names = append(names, n)
		}
		return true
	})
	slices.Sort(names)
	return names
}

func (h *host) queues() []string {
	names := []string{}
	h.Queues(func(q *queue.Queue) bool {
		names = append(names, q.Name())
		return true
	})
	slices.Sort(names)
	return names
}

// topology describes all that is there, a line each, sorted: equal for virtual hosts that hold the same.
func (h *host) topology() []string {
	lines := []string{}
	h.Queues(func(q *queue.Queue) bool {
		o := q.Options()
		lines = append(lines, fmt.Sprintf("queue %s id=%d auto-delete=%v sac=%v %v", o.Name, o.ID, o.AutoDelete, o.SingleActiveConsumer, o.Arguments))
		return true
	})
	h.Exchanges(func(x *exchange.Exchange) bool {
		o := x.Options()
		lines = append(lines, fmt.Sprintf("exchange %s %s auto-delete=%v internal=%v %v", o.Name, o.Type, o.AutoDelete, o.Internal, o.Arguments))
		for _, b := range x.Bindings() {
			lines = append(lines, fmt.Sprintf("binding %s -%s-> %s exchange=%v %v", x.Name(), b.Key, b.Destination.Name(), b.ToExchange(), b.Arguments))
		}
		return true
	})
	slices.Sort(lines)
	return lines
}

// route gives the names of the queues that a message reaches, sorted.
func (h *host) route(source string, keys ...string) []string {
	h.t.Helper()
	r := new(vhost.Routing)
	for _, k := range keys {
		r.Keys = append(r.Keys, []byte(k))
	}
	x := h.Exchange([]byte(source))
	if x == nil {
		h.t.Fatalf("no exchange %q", source)
	}
	h.Route(x, r)
	names := []string{}
	for _, q := range r.Queues {
		names = append(names, q.Name())
	}
	slices.Sort(names)
	return names
}

// eventually waits until something holds, for as long as the slowest machine may need; it reports whether it does.
func eventually(holds func() bool) bool {
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// refused checks that the error is an *amqp.Error with this code and explanation.
func refused(t testing.TB, what string, err error, code uint16, explanation string) {
	t.Helper()
	var e *amqp.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: got %v, want %d %s", what, err, code, explanation)
		return
	}
	if e.Code != code || e.Explanation() != explanation {
		t.Errorf("%s:\n got %d %s\nwant %d %s", what, e.Code, e.Explanation(), code, explanation)
	}
}

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

const locked = "cannot obtain exclusive access to locked queue '%s' in vhost '/'. It could be originally declared on another connection " +
	"or the exclusive property value does not match that of the original declaration."

// same compares two topologies and shows only what differs.
func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("%s: too much: %.200s", what, line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s: lacks: %.200s", what, line)
		}
	}
}
