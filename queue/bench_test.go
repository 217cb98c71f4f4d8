package queue_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/queue"
)

// sink is a connection and a consumer that costs next to nothing: what is measured is the queue.
type sink struct {
	sync.Mutex
	consumer queue.Consumer
	taken    int
	settles  int64
	toAck    []uint64
}

func (s *sink) Touch() bool { return true }
func (s *sink) Flush(bool)  {}
func (s *sink) Cancelled()  {}

func (s *sink) Deliver(seq uint64, _ amqp.Message, _ bool) bool {
	if s.taken++; !s.consumer.NoAck {
		s.toAck = append(s.toAck, seq)
	}
	return true
}

func newSinks(b *testing.B, q *queue.Queue, n int, noAck bool) []*sink {
	sinks := make([]*sink, n)
	for i := range sinks {
		s := new(sink)
		s.consumer = queue.Consumer{NoAck: noAck, Outbox: s, Receiver: s}
		if err := q.Consume(&s.consumer, func() {}); err != nil {
			b.Fatal(err)
		}
		sinks[i] = s
	}
	return sinks
}

// settle settles what the consumer holds, if anything.
func (s *sink) settle(q *queue.Queue, o queue.Outcome) {
	if len(s.toAck) == 0 {
		return
	}
	all := queue.NewSettlement(&s.consumer, o)
	s.settles++
	all.Timed(1 + s.settles/1000) // as a channel's clock, in ms
	for _, seq := range s.toAck {
		all.AddTimed(seq, 1)
	}
	s.toAck = s.toAck[:0]
	if q.Settle(all) {
		q.Run()
	}
}

// batchOf returns a batch of small messages without a chunk.
func batchOf(messages int) *queue.Batch {
	batch := queue.NewBatch()
	for range messages {
		batch.AddSized(small, nil, smallBody)
	}
	return batch
}

const smallBody = 64 - messageSize

var small = newMessage(strings.Repeat("x", smallBody))

// One publisher's messages through a queue and out to its consumers, batch by batch. An operation is one message.
func BenchmarkDeliver(b *testing.B) {
	for _, noAck := range []bool{true, false} {
		for _, consumers := range []int{1, 8} {
			for _, batch := range []int{1, 256} {
				b.Run(fmt.Sprintf("noack=%v/consumers=%d/batch=%d", noAck, consumers, batch), func(b *testing.B) {
					q := queue.New(queue.Options{})
					deliver(b, q, newSinks(b, q, consumers, noAck), batch)
				})
			}
		}
	}
}

func deliver(b *testing.B, q *queue.Queue, sinks []*sink, batch int) {
	b.ReportAllocs()
	for n := 0; n < b.N; n += batch {
		if r := q.Push(batchOf(batch)); r.Run {
			q.Run()
		}
		for _, s := range sinks {
			s.settle(q, queue.Ack)
		}
	}
	b.StopTimer()
	taken := 0
	for _, s := range sinks {
		taken += s.taken
	}
	if taken < b.N {
		b.Fatalf("%d of %d delivered", taken, b.N)
	}
}

// A batch of 256 to each of ten queues. An operation is one message in one queue.
func BenchmarkFanout(b *testing.B) {
	var queues []*queue.Queue
	for range 10 {
		q := queue.New(queue.Options{})
		newSinks(b, q, 1, true)
		queues = append(queues, q)
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += 256 * len(queues) {
		for _, q := range queues {
			if r := q.Push(batchOf(256)); r.Run {
				q.Run()
			}
		}
	}
}

// Several publishers push to one queue that has one consumer. An operation is one message.
func BenchmarkParallelPush(b *testing.B) {
	q := queue.New(queue.Options{})
	newSinks(b, q, 1, true)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		batch := queue.NewBatch()
		for pb.Next() {
			if batch.AddSized(small, nil, smallBody); batch.Len() < 256 {
				continue
			}
			if r := q.Push(batch); r.Run {
				q.RunHere()
			}
			q.WaitRoom(nil, queue.FlowWait)
			batch = queue.NewBatch()
		}
	})
}

// A consumer holds 100,000 messages, gives all back and gets all again. An operation is all of them.
func BenchmarkRequeue(b *testing.B) {
	const messages = 100_000
	q := queue.New(queue.Options{})
	s := newSinks(b, q, 1, false)[0]
	for n := 0; n < messages; n += 100 {
		if r := q.Push(batchOf(100)); r.Run {
			q.Run()
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(s.toAck) != messages {
			b.Fatalf("%d held, want %d", len(s.toAck), messages)
		}
		s.settle(q, queue.Requeue)
	}
}
