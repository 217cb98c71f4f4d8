package store

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Memory is a Store without a disk: everything is durable at once and gone at the end of the process. It serves brokers that
// run without a data folder, and tests.
type Memory struct {
	mu      sync.Mutex
	buckets map[string]map[string][]byte
	queues  map[uint64]*memoryQueue
	stats   Stats
	kicks   []func()

	ids     atomic.Uint64
	durable atomic.Uint64
	failed  chan struct{}
}

// memoryQueue holds the live messages of a queue, in order of their sequence.
type memoryQueue struct {
	next     uint64
	messages []Message
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		buckets: map[string]map[string][]byte{},
		queues:  map[uint64]*memoryQueue{},
		failed:  make(chan struct{}),
	}
}

// Commit implements Store.
func (s *Memory) Commit(changes ...Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		bucket := s.buckets[c.Bucket]
		if bucket == nil {
			bucket = map[string][]byte{}
			s.buckets[c.Bucket] = bucket
		}
		if c.Value == nil {
			delete(bucket, c.Key)
		} else {
			bucket[c.Key] = slices.Clone(c.Value)
		}
	}
	s.stats.Commits++
	return nil
}

// Load implements Store.
func (s *Memory) Load(bucket string, each func(key string, value []byte) error) error {
	s.mu.Lock()
	content := maps.Clone(s.buckets[bucket])
	s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(content)) {
		if err := each(key, content[key]); err != nil {
			return err
		}
	}
	return nil
}

// NextQueueID implements Store.
func (s *Memory) NextQueueID() uint64 { return s.ids.Add(1) }

// Append implements Store.
func (s *Memory) Append(b *Batch, number func()) LSN {
	s.mu.Lock()
	p := b.take()
	if number != nil {
		number()
	}
	if p == nil {
		s.mu.Unlock()
		return s.Durable()
	}
	for i := range p.recs {
		s.apply(p, &p.recs[i])
	}
	s.stats.Records += uint64(len(p.recs))
	s.stats.Bytes += uint64(p.length())
	lsn := s.durable.Add(1)
	kicks := s.kicks
	s.mu.Unlock()
	b.forget()
	p.release()
	for _, kick := range kicks {
		kick()
	}
	return LSN(lsn)
}

// Lead implements Store: what is appended is durable.
func (s *Memory) Lead() {}

// apply does what a record says. The lock is held.
func (s *Memory) apply(p *payload, r *rec) {
	switch r.kind {
	case recordPublish:
		body := slices.Clone(p.bodyOf(r))
		for _, pair := range p.pairs[r.pair : r.pair+r.pairs] {
			if pair.Seq != 0 {
				s.queue(pair.Queue).add(Message{Seq: pair.Seq, Tag: r.tag, Body: body})
			}
		}
	case recordSettle:
		var settled record
		if err := p.decode(r, &settled); err == nil {
			s.queue(settled.queue).remove(settled.ranges, false)
		}
	}
}

// queue returns a queue, made if there is none.
func (s *Memory) queue(id uint64) *memoryQueue {
	q := s.queues[id]
	if q == nil {
		q = &memoryQueue{next: 1}
		s.queues[id] = q
	}
	return q
}

// add puts a message into its place: spilled ones may come after logged ones with higher numbers.
func (q *memoryQueue) add(m Message) {
	at := q.find(m.Seq)
	q.messages = slices.Insert(q.messages, at, m)
	q.next = max(q.next, m.Seq+1)
}

// find returns the index of the first message that is not below seq.
func (q *memoryQueue) find(seq uint64) int {
	at, _ := slices.BinarySearchFunc(q.messages, seq, func(m Message, seq uint64) int { return cmp.Compare(m.Seq, seq) })
	return at
}

// remove settles either the spilled messages of the ranges or the others.
func (q *memoryQueue) remove(ranges []Range, transient bool) {
	for _, r := range ranges {
		q.next = max(q.next, r.Last+1)
		from, to := q.find(r.First), q.find(r.Last+1)
		if r.Last == math.MaxUint64 {
			to = len(q.messages)
		}
		kept := slices.DeleteFunc(slices.Clone(q.messages[from:to]), func(m Message) bool { return m.Transient == transient })
		if from == 0 && len(kept) == 0 { // the usual case, and cheap for long queues
			clear(q.messages[:to])
			q.messages = q.messages[to:]
			continue
		}
		q.messages = slices.Replace(q.messages, from, to, kept...)
	}
}

// Settle implements Store.
func (s *Memory) Settle(queue uint64, ranges []Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(queue).remove(ranges, false)
}

// Annotate implements Store: notes are for the next start, and here that finds nothing.
func (s *Memory) Annotate(_ uint64, notes []Note) { checkNotes(notes) }

// DropQueue implements Store.
func (s *Memory) DropQueue(queue uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queues, queue)
}

// Durable implements Store.
func (s *Memory) Durable() LSN { return LSN(s.durable.Load()) }

// OnDurable implements Store. The function runs in the goroutine that called Append, after the lock is free.
func (s *Memory) OnDurable(kick func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kicks = append(slices.Clip(s.kicks), kick)
}

// Read implements Store.
func (s *Memory) Read(queue uint64, ranges []Range, limit int) (Window, error) {
	var w Window
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[queue]
	for _, r := range ranges {
		w.Next = r.Last + 1
		for _, m := range q.between(r) {
			if limit <= 0 && len(w.Messages) > 0 {
				w.Next = m.Seq
				return w, nil
			}
			w.Messages = append(w.Messages, m)
			limit -= len(m.Body)
		}
	}
	return w, nil
}

// ReadInto implements Store.
func (s *Memory) ReadInto(w *Window, queue uint64, ranges []Range, limit int, buffer func(size, messages int) []byte) error {
	found, err := s.Read(queue, ranges, limit)
	*w = found
	for i := range w.Messages {
		m := &w.Messages[i]
		m.Body = append(buffer(len(m.Body), 1)[:0], m.Body...)
		w.Parts = append(w.Parts, 1)
	}
	return err
}

// Fetch implements Store.
func (s *Memory) Fetch(w *Window, queue uint64, places []Place, buffer func(size, messages int) []byte) error {
	*w = Window{}
	for _, p := range places {
		var one Window
		if err := s.ReadInto(&one, queue, []Range{{p.seq, p.seq}}, p.body, buffer); err != nil {
			return err
		}
		w.Messages, w.Parts = append(w.Messages, one.Messages...), append(w.Parts, one.Parts...)
	}
	return nil
}

// Scan implements Store.
func (s *Memory) Scan(queue uint64, ranges []Range, each func(Info) bool) error {
	s.mu.Lock()
	var found []Message
	for _, r := range ranges {
		found = append(found, s.queues[queue].between(r)...)
	}
	s.mu.Unlock()
	for _, m := range found {
		place := Place{location{entry: entry{seq: m.Seq, body: len(m.Body), tag: m.Tag}}}
		if !each(Info{Seq: m.Seq, Tag: m.Tag, Size: len(m.Body), Transient: m.Transient, Place: place}) {
			return nil
		}
	}
	return nil
}

// between returns the messages of a range; the queue may be nil.
func (q *memoryQueue) between(r Range) []Message {
	if q == nil {
		return nil
	}
	from := q.find(r.First)
	to := from
	for to < len(q.messages) && q.messages[to].Seq <= r.Last {
		to++
	}
	return q.messages[from:to]
}

// Spill implements Store.
func (s *Memory) Spill(queue uint64, messages []Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		m.Transient, m.Body = true, slices.Clone(m.Body)
		s.queue(queue).add(m)
	}
	return nil
}

// Discard implements Store.
func (s *Memory) Discard(queue uint64, ranges []Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(queue).remove(ranges, true)
}

// Queues implements Store: nothing was there when it was opened.
func (s *Memory) Queues(func(QueueState)) {}

// Pressure implements Store: nothing ever waits.
func (s *Memory) Pressure() bool { return false }

// Alarm implements Store: there is no disk that could be full.
func (s *Memory) Alarm() bool { return false }

// OnAlarm implements Store.
func (s *Memory) OnAlarm(func(on bool)) {}

// Failed implements Store: it never is.
func (s *Memory) Failed() <-chan struct{} { return s.failed }

// Err implements Store.
func (s *Memory) Err() error { return nil }

// Stats implements Store.
func (s *Memory) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close implements Store.
func (s *Memory) Close(context.Context) error { return nil }
