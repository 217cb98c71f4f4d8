package interop

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// A latency is a well-behaved client: it publishes small messages, one each few milliseconds, consumes them, and measures how long each was on
// its way there and back.
type latency struct {
	t  *testing.T
	mu sync.Mutex
	// taken since the last look
	samples []time.Duration
	pending time.Time // when the message that is on its way was sent; zero: none
}

// watchInterval is how often the client publishes.
const watchInterval = 2 * time.Millisecond

// watchLatency runs a client until the test ends.
func watchLatency(t *testing.T, b *broker) *latency {
	t.Helper()
	s := dialBroker(t, b)
	q, err := s.ch.QueueDeclare("", false, true, true, false, nil)
	s.ok(err)
	deliveries, err := s.ch.Consume(q.Name, "", true, true, false, false, nil)
	s.ok(err)
	l := &latency{t: t}
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { l.run(s.ch, q.Name, deliveries, stop) })
	t.Cleanup(func() {
		close(stop)
		running.Wait()
	})
	return l
}

func (l *latency) run(ch *amqp091.Channel, queue string, deliveries <-chan amqp091.Delivery, stop <-chan struct{}) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		began := time.Now()
		l.begin(began)
		if ch.Publish("", queue, false, false, amqp091.Publishing{Body: []byte("are you well?")}) != nil {
			return
		}
		select {
		case <-stop:
			return
		case _, ok := <-deliveries:
			if !ok {
				return
			}
		}
		l.end(time.Since(began))
	}
}

func (l *latency) begin(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = at
}

func (l *latency) end(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = time.Time{}
	l.samples = append(l.samples, took)
}

// p99 measures for a while. A message that does not come at all counts with the time that it has waited.
func (l *latency) p99(during time.Duration) time.Duration {
	l.t.Helper()
	l.take()
	select {
	case <-time.After(during):
	case <-l.t.Context().Done():
	}
	samples := l.take()
	if len(samples) == 0 {
		return during
	}
	slices.Sort(samples)
	return samples[len(samples)*99/100]
}

func (l *latency) take() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	samples := l.samples
	l.samples = nil
	if !l.pending.IsZero() && time.Since(l.pending) > 10*watchInterval {
		samples = append(samples, time.Since(l.pending))
	}
	return samples
}

// floodUntilHeld publishes to a queue until the broker says that it is low on something.
func floodUntilHeld(s *session, queue string) error {
	blocked := s.conn.NotifyBlocked(make(chan amqp091.Blocking, 1))
	failed := make(chan error, 1)
	go func() { failed <- flood(s.ch, queue, 100_000, 64<<10) }()
	select {
	case state := <-blocked:
		if !state.Active {
			return fmt.Errorf("told %+v", state)
		}
		return nil
	case err := <-failed:
		return fmt.Errorf("the flood ended: %w", err)
	case <-time.After(patience):
		return fmt.Errorf("never held")
	}
}
