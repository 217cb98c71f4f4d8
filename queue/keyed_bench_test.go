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
			batch.AddTagged(small, nil, keyedTag(from+i, keys))
		} else {
			batch.Add(small, nil)
		}
	}
	if r := q.Push(batch); r.Run {
		q.Run()
	}
}

// keyedTag is the tag of a message, keys in turn.
func keyedTag(i, keys int) uint32 { return uint32(i%keys)*2654435761 | 1 }

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

// consumeWith adds a consumer with a prefetch.
func consumeWith(b *testing.B, q *queue.Queue, prefetch int) *sink {
	s := new(sink)
	s.consumer = queue.Consumer{Prefetch: prefetch, Outbox: s, Receiver: s}
	if err := q.Consume(&s.consumer, func() {}); err != nil {
		b.Fatal(err)
	}
	return s
}

// drainKeyed has eight consumers with a prefetch of ten take all messages of a queue.
func drainKeyed(b *testing.B, q *queue.Queue, messages int) {
	sinks := make([]*sink, 8)
	for i := range sinks {
		sinks[i] = consumeWith(b, q, 10)
	}
	for messages > 0 {
		messages -= settleAll(q, sinks)
	}
}

// keyedChunks has messages of a publisher stand in chunks, one behind the other.
type keyedChunks struct{ chunk *queue.Chunk }

// push pushes a batch whose messages have keys in turn.
func (k *keyedChunks) push(q *queue.Queue, messages, keys, from int) {
	batch := queue.NewBatch()
	for i := range messages {
		if k.chunk == nil || cap(k.chunk.Bytes)-len(k.chunk.Bytes) < len(small) {
			if k.chunk != nil {
				k.chunk.Retire()
			}
			k.chunk = queue.NewChunk()
		}
		start := len(k.chunk.Bytes)
		k.chunk.Bytes = append(k.chunk.Bytes, small...)
		k.chunk.Hold(1)
		if q.Tagged() {
			batch.Tag(keyedTag(from+i, keys))
		}
		batch.Add(k.chunk.Bytes[start:len(k.chunk.Bytes):len(k.chunk.Bytes)], k.chunk)
	}
	if r := q.Push(batch); r.Run {
		q.Run()
	}
}

// Batches pass a queue in which 20,000 messages wait, with eight consumers that have a prefetch of two hundred and acknowledge their fifty oldest ones
// at once. An operation is one message.
func BenchmarkKeyedBehind(b *testing.B) {
	benchKeyed(b, func(b *testing.B, opts queue.Options, keys int) {
		const waiting, acked = 20_000, 50
		q := queue.New(opts)
		var publisher keyedChunks
		count := 0
		push := func(messages int) {
			publisher.push(q, messages, keys, count)
			count += messages
		}
		for count < waiting {
			push(200)
		}
		sinks := make([]*sink, 8)
		for i := range sinks {
			sinks[i] = consumeWith(b, q, 200)
		}
		b.ResetTimer()
		for count < waiting+b.N {
			for _, s := range sinks {
				if s.settleFirst(q, acked) {
					push(acked)
				}
			}
		}
	})
}

// settleFirst acknowledges the messages that the consumer has held for longest, if it holds so many.
func (s *sink) settleFirst(q *queue.Queue, messages int) bool {
	if len(s.toAck) < messages {
		return false
	}
	rest := s.toAck[messages:]
	s.toAck = s.toAck[:messages:messages] // what it gets in return is kept elsewhere
	s.settle(q, queue.Ack)
	s.toAck = append(rest, s.toAck...)
	return true
}

// A persistent backlog of 200,000 messages, read back from disk, goes to eight consumers, keys in turn. An operation is one message.
func BenchmarkKeyedDrain(b *testing.B) {
	const messages = 200_000
	benchKeyed(b, func(b *testing.B, opts queue.Options, keys int) {
		log := newBacklog(b, opts)
		log.keys = keys
		for n := 0; n < b.N; n += messages {
			b.StopTimer()
			log.fill(messages, 16)
			b.StartTimer()
			log.drain(messages, 8)
		}
	})
}
