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

// Batches pass a queue with eight consumers that acknowledge all they get, keys in turn. An operation is one message.
func BenchmarkKeyedPass(b *testing.B) {
	for _, k := range kindsOfOrder {
		for _, keys := range []int{10, 1000} {
			b.Run(fmt.Sprintf("%s/keys=%d", k.name, keys), func(b *testing.B) {
				q := queue.New(k.opts)
				sinks := newSinks(b, q, 8, false)
				b.ReportAllocs()
				for n := 0; n < b.N; n += 256 {
					pushKeyed(q, 256, keys, n)
					for held := true; held; {
						held = false
						for _, s := range sinks {
							held = held || len(s.toAck) > 0
							s.settle(q, queue.Ack)
						}
					}
				}
			})
		}
	}
}

// A backlog of 100,000 messages goes to eight consumers with a prefetch of ten, keys in turn. An operation is one message.
func BenchmarkKeyedBacklog(b *testing.B) {
	const messages = 100_000
	for _, k := range kindsOfOrder {
		for _, keys := range []int{10, 1000} {
			b.Run(fmt.Sprintf("%s/keys=%d", k.name, keys), func(b *testing.B) {
				b.ReportAllocs()
				for n := 0; n < b.N; n += messages {
					b.StopTimer()
					q := queue.New(k.opts)
					for i := 0; i < messages; i += 250 {
						pushKeyed(q, 250, keys, i)
					}
					sinks := make([]*sink, 8)
					for i := range sinks {
						sinks[i] = new(sink)
						sinks[i].consumer = queue.Consumer{Prefetch: 10, Outbox: sinks[i], Receiver: sinks[i]}
					}
					b.StartTimer()
					for _, s := range sinks {
						if err := q.Consume(&s.consumer, func() {}); err != nil {
							b.Fatal(err)
						}
					}
					for left := messages; left > 0; {
						for _, s := range sinks {
							left -= len(s.toAck)
							s.settle(q, queue.Ack)
						}
					}
				}
			})
		}
	}
}
