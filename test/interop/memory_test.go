package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"leveret/amqp"
)

// A consumer that reads nothing, and acknowledges nothing as it need not, gets what fits the buffers between it and the queue. The rest
// stays in the queue, for others.
func TestStalledConsumerIsSkipped(t *testing.T) {
	t.Parallel()
	const messages, size = 8000, 16 << 10 // 125 MiB, many times what sockets hold
	stalled, s := dialWire(t), dial(t)
	q := stalled.queue(1)
	call[*amqp.BasicConsumeOk](stalled, 1, &amqp.BasicConsume{Queue: q, NoAck: true})
	s.ok(s.ch.Confirm(false))
	body := strings.Repeat("x", size)
	var last *amqp091.DeferredConfirmation
	for range messages {
		var err error
		last, err = s.ch.PublishWithDeferredConfirm("", q, false, false, amqp091.Publishing{Body: []byte(body)})
		s.ok(err)
	}
	<-last.Done()
	left := s.ready(q)
	if left < messages/2 {
		t.Errorf("%d of %d messages are ready beside a consumer that reads nothing", left, messages)
	}
	reader := s.consume(q, 0)
	for range messages / 2 { // the sockets to the stalled one may still take a few of the rest
		receive(t, reader.deliveries, "a message behind the stalled consumer")
	}
}

// A flood that nobody consumes goes to disk. Without one it is held at the watermark, and its publisher told so; when a consumer has drained
// the queue the publisher goes on. Nothing of the flood is missing, and it takes little memory either way.
func TestFloodTakesLittleMemory(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]bool{"on disk": false, "in memory": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := []string{"--config", watermarkConfig(t)}
			if held {
				flags = append(flags, "--data-dir", "none")
			}
			drainFlood(t, ownBroker(t, flags...), held)
		})
	}
}

// The flood is several times the watermark.
const floodMessages, floodSize, watermark = 6000, 64 << 10, 128 << 20

func watermarkConfig(t *testing.T) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "memory.conf")
	if err := os.WriteFile(config, []byte("vm_memory_high_watermark.absolute = 128MiB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

func drainFlood(t *testing.T, b *broker, held bool) {
	publisher, consumer := dialBroker(t, b), dialBroker(t, b)
	blocked := publisher.conn.NotifyBlocked(make(chan amqp091.Blocking, 100))
	q := freshName(t)
	_, err := consumer.ch.QueueDeclare(q, false, false, true, false, nil)
	consumer.ok(err)
	published := make(chan error, 1)
	go func() { published <- flood(publisher.ch, q, floodMessages, floodSize) }()
	switch {
	case b.cmd == nil: // a foreign broker has a watermark of its own
	case held:
		if state := receive(t, blocked, "connection.blocked"); !state.Active || state.Reason != "low on memory" {
			t.Errorf("the publisher was told %+v", state)
		}
	default:
		publisher.ok(receive(t, published, "the publisher's end"))
		published <- nil
		consumer.awaitReady(q, floodMessages)
	}
	if rss := b.status(t, "RssAnon") << 10; rss > 2*watermark {
		t.Errorf("the broker takes %d MiB with a watermark of %d", rss>>20, watermark>>20)
	}
	deliveries, err := consumer.ch.Consume(q, "", true, false, false, false, nil)
	consumer.ok(err)
	for range floodMessages {
		receive(t, deliveries, "a message of the flood")
	}
	publisher.ok(receive(t, published, "the publisher's end"))
	if peak := b.status(t, "VmHWM") << 10; peak > 3*watermark {
		t.Errorf("the broker took up to %d MiB with a watermark of %d", peak>>20, watermark>>20)
	}
}

// flood publishes many messages from a goroutine that must not end the test.
func flood(ch *amqp091.Channel, queue string, messages, size int) error {
	body := make([]byte, size)
	for range messages {
		if err := ch.Publish("", queue, false, false, amqp091.Publishing{Body: body}); err != nil {
			return err
		}
	}
	return nil
}
