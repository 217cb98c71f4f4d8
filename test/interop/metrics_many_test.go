package interop

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// scraped returns how many lines a metrics path has, and how long that took.
func (b *broker) scraped(t *testing.T, path string) (lines int, took time.Duration) {
	t.Helper()
	begun := time.Now()
	answer, err := http.Get("http://" + b.metrics + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(body), "\n"), time.Since(begun)
}

// TestMetricsOfManyQueues: with ten thousand queues the sums are as many lines as with none, single queues are told in time, and publishers don't notice.
func TestMetricsOfManyQueues(t *testing.T) {
	const bound = 10 * time.Second // on a machine that has much else to do; it takes milliseconds
	if brokerBinary == "" {
		return // the metrics of a foreign broker are not known
	}
	b := ownBroker(t)
	conn, err := amqp091.Dial(b.url())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := b.scraped(t, "/metrics")
	for i := range manyQueues {
		if _, err := ch.QueueDeclare(queueNumber(i), false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var slowest atomic.Int64
	published := make(chan error, 1)
	go func() { published <- publishConfirmed(ctx, ch, &slowest) }()
	after, took := b.scraped(t, "/metrics")
	if after != before || took > bound {
		t.Errorf("sums: %d lines in %v, %d lines without queues", after, took, before)
	}
	lines, took := b.scraped(t, "/metrics/per-object")
	t.Logf("%d lines of %d queues in %v", lines, manyQueues, took)
	if lines < 10*manyQueues || took > 2*bound {
		t.Errorf("single queues: %d lines in %v", lines, took)
	}
	if lines, took := b.scraped(t, "/metrics/detailed?family=queue_coarse_metrics&queue="+queueNumber(7)); lines > 40 || took > bound {
		t.Errorf("one queue: %d lines in %v", lines, took)
	}
	stop()
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	t.Logf("the slowest confirm took %v", time.Duration(slowest.Load()))
	if d := time.Duration(slowest.Load()); d > bound {
		t.Errorf("a confirm took %v", d)
	}
}

// publishConfirmed publishes one message after the other until ctx ends, and notes the longest wait for a confirm.
func publishConfirmed(ctx context.Context, ch *amqp091.Channel, slowest *atomic.Int64) error {
	for ctx.Err() == nil {
		begun := time.Now()
		c, err := ch.PublishWithDeferredConfirm("", queueNumber(1), false, false, amqp091.Publishing{Body: []byte("x")})
		if err != nil {
			return err
		}
		if !c.Wait() {
			return fmt.Errorf("a message was refused")
		}
		slowest.Store(max(slowest.Load(), int64(time.Since(begun))))
	}
	return nil
}
