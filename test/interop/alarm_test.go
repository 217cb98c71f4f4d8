package interop

import (
	"os"
	"path/filepath"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// heldPublisher is a publisher that the broker holds back: what it was told, and how its flood ends.
type heldPublisher struct {
	*session
	told chan amqp091.Blocking
	done chan error
	sent int // messages that were confirmed, when done has come
}

// holdPublisher floods a durable queue with persistent messages, each confirmed, until the broker is low on something.
func holdPublisher(t *testing.T, b *broker, queue string, messages, size int, reason string) *heldPublisher {
	t.Helper()
	s := dialBroker(t, b)
	h := &heldPublisher{session: s, told: s.conn.NotifyBlocked(make(chan amqp091.Blocking, 10)), done: make(chan error, 1)}
	s.ok(s.ch.Confirm(false))
	go func() { h.done <- h.send(queue, messages, size) }()
	if state := receive(t, h.told, "connection.blocked"); !state.Active || state.Reason != reason {
		t.Fatalf("the publisher was told %+v", state)
	}
	return h
}

// send publishes and waits for all confirms.
func (h *heldPublisher) send(queue string, messages, size int) error {
	body := make([]byte, size)
	var confirms []*amqp091.DeferredConfirmation
	for range messages {
		c, err := h.ch.PublishWithDeferredConfirm("", queue, false, false, amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: body})
		if err != nil {
			return err
		}
		confirms = append(confirms, c)
	}
	for _, c := range confirms {
		if c.Wait() {
			h.sent++
		}
	}
	return nil
}

// drain consumes a queue until the held publisher has sent all, and checks that every confirmed message came.
func (h *heldPublisher) drain(b *broker, queue string, messages int) {
	h.t.Helper()
	consumer := dialBroker(h.t, b)
	deliveries, err := consumer.ch.Consume(queue, "", false, false, false, false, nil)
	consumer.ok(err)
	for range messages {
		d := receive(h.t, deliveries, "a message")
		consumer.ok(d.Ack(false))
	}
	h.ok(receive(h.t, h.done, "the publisher's end"))
	if h.sent != messages {
		h.t.Errorf("%d of %d messages were confirmed", h.sent, messages)
	}
	for active := true; active || len(h.told) > 0; {
		active = receive(h.t, h.told, "connection.unblocked").Active
	}
}

// A publisher that the memory alarm holds goes on when a consumer has drained; others are served meanwhile, and nothing is lost.
func TestMemoryAlarm(t *testing.T) {
	t.Parallel()
	const messages, size = 4000, 64 << 10
	config := filepath.Join(t.TempDir(), "memory.conf")
	if err := os.WriteFile(config, []byte("vm_memory_high_watermark.absolute = 96MiB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := ownBroker(t, "--config", config, "--data-dir", "none")
	s := dialBroker(t, b)
	q := freshName(t)
	_, err := s.ch.QueueDeclare(q, false, false, false, false, nil)
	s.ok(err)
	publisher := holdPublisher(t, b, q, messages, size, "low on memory")
	if s.ready(q) == 0 {
		t.Error("others are not served while the alarm is on")
	}
	publisher.drain(b, q, messages)
}
