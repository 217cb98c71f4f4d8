package queue_test

import (
	"fmt"
	"testing"

	"leveret/queue"
)

// kindsOfOrder are the orders whose cost is compared with that of a plain queue.
var kindsOfOrder = []struct {
	name string
	opts queue.Options
}{
	{"plain", queue.Options{}},
	{"fair", queue.Options{FairBy: queue.Keying{Source: queue.ByProperty, Name: "routing-key"}}},
	{"groups", queue.Options{GroupBy: queue.Keying{Source: queue.ByProperty, Name: "routing-key"}}},
}

// pushKeyed pushes a batch whose messages have keys in turn.
func pushKeyed(q *queue.Queue, messages, keys, from int) {
	batch := queue.NewBatch()
	for i := range messages {
		if q.Tagged() {
			batch.AddTagged(small, nil, uint32((from+i)%keys)*2654435761|1)
		} else {
			batch.Add(small, nil)
		}
	}
	if r := q.Push(batch); r.Run {
		q.Run()
	}
}

// benchKeyed runs a benchmark for all orders, with few keys and with many.
func benchKeyed(b *testing.B, run func(b *testing.B, opts queue.Options, keys int)) {
	for _, k := range kindsOfOrder {
		for _, keys := range []int{10, 1000} {
			b.Run(fmt.Sprintf("%s/keys=%d", k.name, keys), func(b *testing.B) {
				b.ReportAllocs()
				run(b, k.opts, keys)
			})
		}
	}
}

// settleAll has consumers acknowledge what they hold, and returns how many messages that were.
func settleAll(q *queue.Queue, sinks []*sink) (count int) {
	for _, s := range sinks {
		count += len(s.toAck)
		s.settle(q, queue.Ack)
	}
	return count
}

// Batches pass a queue with eight consumers that acknowledge all they get, keys in turn. An operation is one message.
func BenchmarkKeyedPass(b *testing.B) {
	benchKeyed(b, func(b *testing.B, opts queue.Options, keys int) {
		q := queue.New(opts)
		sinks := newSinks(b, q, 8, false)
		for n := 0; n < b.N; n += 256 {
			pushKeyed(q, 256, keys, n)
			for settleAll(q, sinks) > 0 {
			}
		}
	})
}

// A backlog of 100,000 messages goes to eight consumers with a prefetch of ten, keys in turn. An operation is one message.
func BenchmarkKeyedBacklog(b *testing.B) {
	const messages = 100_000
	benchKeyed(b, func(b *testing.B, opts queue.Options, keys int) {
		for n := 0; n < b.N; n += messages {
			b.StopTimer()
			q := queue.New(opts)
			for i := 0; i < messages; i += 250 {
				pushKeyed(q, 250, keys, i)
			}
			b.StartTimer()
			drainKeyed(b, q, messages)
		}
	})
}

// drainKeyed has eight consumers with a prefetch of ten take all messages of a queue.
func drainKeyed(b *testing.B, q *queue.Queue, messages int) {
	sinks := make([]*sink, 8)
	for i := range sinks {
		s := new(sink)
		s.consumer = queue.Consumer{Prefetch: 10, Outbox: s, Receiver: s}
		if err := q.Consume(&s.consumer, func() {}); err != nil {
			b.Fatal(err)
		}
		sinks[i] = s
	}
	for messages > 0 {
		messages -= settleAll(q, sinks)
	}
}
