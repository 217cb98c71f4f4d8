package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/events"
	"leveret/server"
	"leveret/store"
)

// auditLines are the lines of the audit log, without who and from where, and how many acts had none.
type auditLines struct {
	mu       sync.Mutex
	lines    []string
	unlogged int64
}

func (a *auditLines) Enabled(context.Context, slog.Level) bool { return true }
func (a *auditLines) WithAttrs([]slog.Attr) slog.Handler       { return a }
func (a *auditLines) WithGroup(string) slog.Handler            { return a }

func (a *auditLines) Handle(_ context.Context, r slog.Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var parts []string
	r.Attrs(func(at slog.Attr) bool {
		switch at.Key {
		case "user", "peer", "vhost":
			if at.Value.String() == "" {
				parts = append(parts, "no "+at.Key)
			}
		case "acts":
			a.unlogged += at.Value.Int64()
		default:
			parts = append(parts, at.Value.String())
		}
		return true
	})
	if r.Message == "audit" {
		a.lines = append(a.lines, strings.Join(parts, " "))
	}
	return nil
}

// counts are how many acts have a line, and how many have none.
func (a *auditLines) counts() (lines int, unlogged int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lines), a.unlogged
}

// auditEvents counts the events of acts by what they are.
type auditEvents struct {
	mu    sync.Mutex
	names map[string]int
}

func (*auditEvents) Wants(key string) bool { return strings.HasPrefix(key, events.AuditPrefix) }

func (a *auditEvents) Take(e events.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names[e.Key]++
}

// startAudited starts a server whose audit log and events are kept. finish stops it, after which both are whole.
func startAudited(t *testing.T) (r *rig, log *auditLines, told *auditEvents, finish func()) {
	log, told = new(auditLines), &auditEvents{names: map[string]int{}}
	bus := events.New()
	bus.Listen(told)
	users, err := auth.New(auth.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(testOptions(), server.Dependencies{Store: store.NewMemory(), Users: users, Events: bus, Log: slog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	r = &rig{srv, t, users}
	r.Serve()
	return r, log, told, func() {
		r.stop()
		bus.Close()
	}
}

// What a client does to things that are meant to last is logged and told with who did it; what was going to go anyway is not, nor what failed.
func TestAuditOfClients(t *testing.T) {
	r, log, told, finish := startAudited(t)
	c := r.pipe()
	c.mustOpen()
	queue := func(name string, m amqp.QueueDeclare) {
		m.Queue = name
		c.call(1, &m, amqp.MethodQueueDeclareOk)
	}
	queue("kept", amqp.QueueDeclare{Durable: true})
	queue("mine", amqp.QueueDeclare{Exclusive: true})
	queue("passing", amqp.QueueDeclare{AutoDelete: true})
	for _, name := range []string{"kept", "mine", "passing"} {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(name)}, &amqp.Properties{}, []byte("x"))
		c.call(1, &amqp.QueuePurge{Queue: name}, amqp.MethodQueuePurgeOk)
		c.call(1, &amqp.QueuePurge{Queue: name}, amqp.MethodQueuePurgeOk) // of nothing
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(name)}, &amqp.Properties{}, []byte("x"))
		c.call(1, &amqp.QueueDelete{Queue: name}, amqp.MethodQueueDeleteOk)
		c.call(1, &amqp.QueueDelete{Queue: name}, amqp.MethodQueueDeleteOk) // once more
	}
	c.call(1, &amqp.ExchangeDeclare{Exchange: "x", Type: "topic", Durable: true}, amqp.MethodExchangeDeclareOk)
	c.call(1, &amqp.ExchangeDeclare{Exchange: "short", Type: "topic", AutoDelete: true}, amqp.MethodExchangeDeclareOk)
	c.call(1, &amqp.ExchangeDelete{Exchange: "x"}, amqp.MethodExchangeDeleteOk)
	c.call(1, &amqp.ExchangeDelete{Exchange: "short"}, amqp.MethodExchangeDeleteOk)
	queue("full", amqp.QueueDeclare{})
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("full")}, &amqp.Properties{}, []byte("x"))
	c.call(1, &amqp.QueueDelete{Queue: "full", IfEmpty: true}, amqp.MethodChannelClose)
	c.send(1, &amqp.ChannelCloseOk{})
	c.goodbye()
	finish()
	if want := []string{"queue.purged kept 1", "queue.deleted kept 1", "exchange.deleted x"}; !slices.Equal(log.lines, want) {
		t.Errorf("lines %q, want %q", log.lines, want)
	}
	if got, want := fmt.Sprint(told.names), "map[audit.exchange.deleted:1 audit.queue.deleted:1 audit.queue.purged:1]"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

// However much one client deletes, the log stays readable: it has some lines a second, and says how many acts it does not tell of one by one.
func TestAuditIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log, told, finish := startAudited(t)
		c := r.pipe()
		c.mustOpen()
		const queues = 200
		for i := range queues {
			name := fmt.Sprint("q", i)
			c.add(1, &amqp.QueueDeclare{Queue: name, NoWait: true}, &amqp.QueueDelete{Queue: name, NoWait: true})
		}
		c.mustFlush()
		time.Sleep(2 * time.Second) // of the test's own clock
		if _, unlogged := log.counts(); unlogged == 0 {
			t.Error("the second has passed, and nobody is told of acts without a line")
		}
		c.goodbye()
		finish()
		if len(log.lines) >= queues || len(log.lines) == 0 || len(log.lines)+int(log.unlogged) != queues {
			t.Errorf("%d acts: %d lines, and %d acts that have none", queues, len(log.lines), log.unlogged)
		}
		if got := told.names["audit.queue.deleted"]; got != queues {
			t.Errorf("%d events", got)
		}
	})
}
