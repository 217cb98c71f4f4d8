package shovel_test

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rabbitmq/amqp091-go"
	"go.uber.org/goleak"

	"leveret/auth"
	"leveret/events"
	"leveret/server"
	"leveret/server/servertest"
	"leveret/shovel"
	"leveret/store"
)

const (
	patience = time.Minute // for what must come
	step     = 5 * time.Millisecond
)

// rig is a broker in memory with its shovels, and a client of it.
type rig struct {
	*server.Server
	t       *testing.T
	shovels *shovel.Manager
	told    *told
	bus     *events.Bus
	ch      *amqp091.Channel
}

// start makes a rig that listens; at the end of the test everything stops and no goroutine is left.
func start(t *testing.T) *rig {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { servertest.NoneLeft(t, before) })
	r := newRig(t)
	r.must(r.Listen())
	r.begin()
	r.ch = r.client()
	return r
}

// timed runs a test on a clock of its own: in it nothing is on the network, and the client is one within the broker.
func timed(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.begin()
		conn, err := amqp091.DialConfig("amqp://guest:guest@broker/%2F", amqp091.Config{
			Dial: func(string, string) (net.Conn, error) { return r.Connect(false) },
		})
		r.must(err)
		t.Cleanup(func() { conn.Close() })
		r.ch, err = conn.Channel()
		r.must(err)
		test(r)
	})
}

// begin makes the broker and its shovels work until the end of the test.
func (r *rig) begin() {
	r.Serve()
	r.shovels.Start()
	r.t.Cleanup(func() {
		r.shovels.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			r.t.Errorf("server did not close: %v", err)
		}
		r.bus.Close()
	})
}

func newRig(t *testing.T) *rig {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	users, err := auth.New(auth.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	options := server.DefaultOptions()
	options.Addresses = []string{"127.0.0.1:0"}
	r := &rig{t: t, told: new(told), bus: events.New()}
	r.bus.Listen(r.told)
	if r.Server, err = server.New(options, server.Dependencies{Store: store.NewMemory(), Users: users, Log: log, Events: r.bus}); err != nil {
		t.Fatal(err)
	}
	r.shovels = shovel.New(r.Server, "rabbit@test", log)
	return r
}

// told is the events of shovels.
type told struct {
	mu    sync.Mutex
	words []string
}

func (l *told) Wants(key string) bool { return strings.HasPrefix(key, "shovel.") }

func (l *told) Take(e events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var word strings.Builder
	word.WriteString(strings.TrimPrefix(e.Key, "shovel.worker."))
	for _, name := range []string{"vhost", "name", "status", "reason"} {
		if value, ok := e.Properties.Get(name); ok {
			word.WriteString(" " + value.(string))
		}
	}
	l.words = append(l.words, word.String())
}

func (l *told) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.words, ", ")
}

// client opens a connection and a channel.
func (r *rig) client() *amqp091.Channel {
	r.t.Helper()
	conn, err := amqp091.Dial(r.uri())
	r.must(err)
	ch, err := conn.Channel()
	r.must(err)
	r.t.Cleanup(func() { conn.Close() })
	return ch
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// uri is the broker's address with a user that may come there.
func (r *rig) uri() string { return "amqp://guest:guest@" + r.address() + "/%2F" }

func (r *rig) address() string {
	plain, _ := r.Addresses()
	return plain[0]
}

// queue declares a durable queue.
func (r *rig) queue(name string, args amqp091.Table) {
	r.t.Helper()
	_, err := r.ch.QueueDeclare(name, true, false, false, false, args)
	r.must(err)
}

// send publishes bodies to a queue, and returns when they are there.
func (r *rig) send(queue string, bodies ...string) {
	r.t.Helper()
	for _, b := range bodies {
		r.must(r.ch.PublishWithContext(context.Background(), "", queue, false, false, amqp091.Publishing{Body: []byte(b)}))
	}
	r.count(queue)
}

// put sets a shovel within this broker, with further fields or other values of them.
func (r *rig) put(name string, fields map[string]any) {
	r.t.Helper()
	value := map[string]any{"src-uri": "amqp://", "dest-uri": "amqp:///%2F", "reconnect-delay": 0.01}
	maps.Copy(value, fields)
	_, err := r.VHost("/").SetParameter(shovel.Component, name, value)
	r.must(err)
}

// eventually waits for something to become so.
func (r *rig) eventually(what string, is func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !is(); {
		if time.Now().After(end) {
			r.t.Fatalf("%s did not come; shovels: %+v", what, r.shovels.List())
		}
		time.Sleep(step)
	}
}

// get takes the next message of a queue.
func (r *rig) get(queue string) (d amqp091.Delivery) {
	r.t.Helper()
	r.eventually("a message in "+queue, func() bool {
		var ok bool
		var err error
		d, ok, err = r.ch.Get(queue, true)
		r.must(err)
		return ok
	})
	return d
}

// acked waits until everything that was delivered is acked: a shovel that ends before brings what it has moved once more.
func (r *rig) acked() {
	r.t.Helper()
	r.eventually("the ack", func() bool { return r.Stats().Contents.Unacked == 0 })
}

// count is how many messages are ready in a queue.
func (r *rig) count(queue string) int {
	r.t.Helper()
	q, err := r.ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	r.must(err)
	return q.Messages
}

// state is what a shovel is about, nothing if there is none.
func (r *rig) state(name string) shovel.State { return r.status(name).State }

func (r *rig) status(name string) shovel.Status {
	for _, s := range r.shovels.List() {
		if s.Name == name {
			return s
		}
	}
	return shovel.Status{}
}

// gone waits for a shovel's parameter and the shovel to vanish.
func (r *rig) gone(name string) {
	r.t.Helper()
	r.eventually("the end of "+name, func() bool {
		_, ok := r.VHost("/").Parameter(shovel.Component, name)
		return !ok && r.state(name) == ""
	})
}
