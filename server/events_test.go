package server_test

import (
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/events"
	"leveret/server"
	"leveret/store"
	"leveret/vhost"
)

// startEvents starts a server with buses for events and lines of the log.
func startEvents(t *testing.T) (r *rig, bus, lines *events.Bus) {
	bus, lines = events.New(), events.New()
	users, err := auth.New(auth.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions()
	o.LogExchange = true
	srv, err := server.New(o, server.Dependencies{
		Store: store.NewMemory(), Users: users, Events: bus, LogLines: lines,
		Log: slog.New(events.LogHandler(slog.NewTextHandler(io.Discard, nil), lines, false)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r = &rig{srv, t, users}
	if err := r.Listen(); err != nil {
		t.Fatal(err)
	}
	r.Serve()
	t.Cleanup(func() {
		r.stop()
		bus.Close()
		lines.Close()
	})
	return r, bus, lines
}

// until reads what is announced until one with that key comes, and returns the keys before it, and it.
func (c *client) until(key string) (before []string, m *told) {
	c.t.Helper()
	for {
		if m = c.told(); m.key == key {
			return before, m
		}
		before = append(before, m.key)
	}
}

func TestEvents(t *testing.T) {
	r, _, _ := startEvents(t)
	tap := r.listen(vhost.EventExchange, "#")
	c := r.open()
	before, m := tap.until("channel.created")
	if want := []string{"consumer.created", "user.authentication.success", "connection.created"}; !slices.Equal(before[len(before)-3:], want) {
		t.Errorf("events %q before the channel", before)
	}
	if m.header("number") != int64(1) || m.header("user") != "guest" || !strings.HasSuffix(m.header("name").(string), " (1)") {
		t.Errorf("channel %v", m.properties.Headers)
	}
	c.call(1, &amqp.QueueDeclare{Queue: "q", Arguments: amqp.Table{{Name: "x-max-length", Value: int32(5)}}}, amqp.MethodQueueDeclareOk)
	_, m = tap.until("queue.created")
	if m.exchange != vhost.EventExchange || m.body != "" || m.properties.DeliveryMode != 2 || m.properties.Timestamp == 0 {
		t.Errorf("event %+v", m)
	}
	at := m.header("timestamp_in_ms").(int64)
	if now := time.Now().UnixMilli(); at > now || at < now-60_000 || at/1000 != int64(m.properties.Timestamp) {
		t.Errorf("it was at %d, and at %d seconds", at, m.properties.Timestamp)
	}
	for name, want := range map[string]any{"name": "q", "vhost": "/", "durable": false, "auto_delete": false, "exclusive": false, "type": "classic",
		"user_who_performed_action": "guest", "arguments": amqp.Table{{Name: "x-max-length", Value: int32(5)}, {Name: "x-queue-type", Value: "classic"}}} {
		if got := m.header(name); !amqp.EqualValue(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	c.call(1, &amqp.ExchangeDeclare{Exchange: "x", Type: "direct"}, amqp.MethodExchangeDeclareOk)
	if _, m = tap.until("exchange.created"); m.header("name") != "x" || m.header("type") != "direct" {
		t.Errorf("exchange %v", m.properties.Headers)
	}
	c.call(1, &amqp.QueueBind{Queue: "q", Exchange: "x", RoutingKey: "k"}, amqp.MethodQueueBindOk)
	if _, m = tap.until("binding.created"); m.header("source_name") != "x" || m.header("destination_name") != "q" ||
		m.header("destination_kind") != "queue" || m.header("routing_key") != "k" {
		t.Errorf("binding %v", m.properties.Headers)
	}
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "tag"}, amqp.MethodBasicConsumeOk)
	if _, m = tap.until("consumer.created"); m.header("consumer_tag") != "tag" || m.header("queue") != "q" || m.header("ack_required") != true {
		t.Errorf("consumer %v", m.properties.Headers)
	}
	c.call(1, &amqp.BasicCancel{ConsumerTag: "tag"}, amqp.MethodBasicCancelOk)
	tap.until("consumer.deleted")
	c.call(1, &amqp.QueueDelete{Queue: "q"}, amqp.MethodQueueDeleteOk)
	if before, _ = tap.until("queue.deleted"); !slices.Equal(before, []string{"binding.deleted"}) {
		t.Errorf("events %q before the queue went", before)
	}
	c.call(1, &amqp.ExchangeDelete{Exchange: "x"}, amqp.MethodExchangeDeleteOk)
	tap.until("exchange.deleted")
	if _, m = tap.until("audit.exchange.deleted"); m.header("user") != "guest" || m.header("name") != "x" || m.header("vhost") != "/" || m.header("peer") == "" {
		t.Errorf("act %v", m.properties.Headers)
	}
	c.goodbye()
	if before, _ = tap.until("connection.closed"); !slices.Equal(before, []string{"channel.closed"}) {
		t.Errorf("events %q before the connection went", before)
	}
}

func TestEventsOfVHostsAndAlarms(t *testing.T) {
	r, _, _ := startEvents(t)
	tap := r.listen(vhost.EventExchange, "#")
	if _, err := r.CreateVHost("v", vhost.Metadata{Description: "d"}); err != nil {
		t.Fatal(err)
	}
	if _, m := tap.until("vhost.created"); m.header("name") != "v" || m.header("description") != "d" {
		t.Errorf("%v", m.properties.Headers)
	}
	if err := r.SetVHostLimit("v", vhost.MaxQueues, 5); err != nil {
		t.Fatal(err)
	}
	if _, m := tap.until("vhost.limits.set"); !amqp.EqualValue(m.header("limits"), amqp.Table{{Name: "max-queues", Value: int64(5)}}) {
		t.Errorf("%v", m.properties.Headers)
	}
	if err := r.ClearVHostLimit("v", vhost.MaxQueues); err != nil {
		t.Fatal(err)
	}
	tap.until("vhost.limits.cleared")
	if _, err := r.VHost("v").SetPolicy(vhost.Policy{Name: "p", Pattern: "a", Definition: map[string]any{"max-length": 1}}); err != nil {
		t.Fatal(err)
	}
	if _, m := tap.until("policy.set"); m.header("name") != "p" || m.header("vhost") != "v" {
		t.Errorf("%v", m.properties.Headers)
	}
	if err := r.DeleteVHost("v"); err != nil {
		t.Fatal(err)
	}
	tap.until("vhost.deleted")
	r.HoldAlarm(true)
	if _, m := tap.until("alarm.set"); m.header("resource") != "memory" {
		t.Errorf("%v", m.properties.Headers)
	}
	r.HoldAlarm(false)
	tap.until("alarm.cleared")
	if err := r.dial().opening(opening{password: "wrong"}); err == nil {
		t.Fatal("logged in with a wrong password")
	}
	if _, m := tap.until("user.authentication.failure"); m.header("name") != "guest" || m.header("error") == nil {
		t.Errorf("%v", m.properties.Headers)
	}
}

func TestEventExchangeIsThereOnceAndClosed(t *testing.T) {
	r, bus, _ := startEvents(t)
	if _, err := r.CreateVHost("v", vhost.Metadata{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"/": true, "v": false} {
		for _, exchange := range []string{vhost.EventExchange, vhost.LogExchange} {
			if got := r.VHost(name).Exchange([]byte(exchange)) != nil; got != want {
				t.Errorf("%s in %s: %t", exchange, name, got)
			}
		}
	}
	if bus.Wanted("queue.created") {
		t.Error("nobody is bound, and events are wanted")
	}
	c := r.open()
	c.addPublish(1, &amqp.BasicPublish{Exchange: []byte(vhost.EventExchange)}, nil, nil)
	c.mustFlush()
	m := c.expect(amqp.MethodChannelClose).(*amqp.ChannelClose)
	if want := "ACCESS_REFUSED - cannot publish to internal exchange 'amq.rabbitmq.event' in vhost '/'"; m.ReplyText != want {
		t.Errorf("got %s", m.ReplyText)
	}
}

func TestLogExchange(t *testing.T) {
	r, _, _ := startEvents(t)
	tap := r.listen(vhost.LogExchange, "info")
	r.open()
	_, m := tap.until("info")
	for !strings.Contains(m.body, "connection opened") {
		_, m = tap.until("info")
	}
	if m.exchange != vhost.LogExchange || m.properties.ContentType != "text/plain" || m.properties.Timestamp == 0 {
		t.Errorf("line %+v", m)
	}
}
