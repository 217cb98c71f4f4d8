package queue

import (
	"sync"

	"leveret/store"
)

// spillBytes is how many bytes of transient messages are put aside at once.
const spillBytes = 4 << 20

// loose are the transient messages in memory: the store does not have them. When there are too many, those between the head and the tail are
// put aside there, unsynced, and are away then like any other.
type loose struct {
	head, tail int    // bytes
	count      int    // messages
	bodies     int64  // bytes of their bodies
	from       uint64 // no message of the tail lies below
	spilling   bool
}

func (l *loose) bytes() int { return l.head + l.tail }

// weigh adds a message of that size, with that body, or takes it off when both are negative.
func (l *loose) weigh(e *entry, size, body int) {
	l.bodies += int64(body)
	if size < 0 {
		l.count--
	} else {
		l.count++
	}
	if e.tail {
		l.tail += size
	} else {
		l.head += size
	}
}

// place says whether a new message belongs to the tail.
func (l *loose) place(n uint64, e *entry, behindAway bool, most int) {
	e.tail = l.tail > 0 || behindAway || l.head >= most
	if e.tail && l.tail == 0 {
		l.from = max(l.from, n)
	}
}

// spill starts to put transient messages aside, the oldest of the tail first, when they take too much memory.
func (q *Queue) spill() {
	l := &q.loose
	if l.bytes() <= looseWindow>>q.shifted || l.spilling || q.full || q.opts.Log == nil || q.closed {
		return
	}
	s := q.chooseToSpill()
	if len(s.messages) == 0 {
		return
	}
	if q.store == 0 {
		q.store = q.opts.Log.NextQueueID()
	}
	l.spilling, q.spilled = true, true
	s.queue = q.store
	q.reads.Go(func() {
		s.err = q.opts.Log.Spill(s.queue, s.messages)
		copies.Put(s.copies)
		if q.post(s) {
			q.Run()
		}
	})
}

// crowded reports whether publishers should wait until more was put aside.
func (q *Queue) crowded() bool {
	return q.loose.spilling && q.loose.bytes() > looseWindow>>q.shifted/4*5
}

// copies are buffers for what is put aside.
var copies = sync.Pool{New: func() any { b := make([]byte, 0, spillBytes+ChunkSize); return &b }}

// chooseToSpill copies messages of the tail: the memory that they are in may be used for others as soon as they are settled.
func (q *Queue) chooseToSpill() *spill {
	l := &q.loose
	s := &spill{copies: copies.Get().(*[]byte)}
	b := (*s.copies)[:0]
	for len(b) < spillBytes {
		n, e, ok := q.window.NextFrom(l.from)
		if !ok {
			break
		}
		l.from = n + 1
		if e.stored() || q.delays == nil && !q.window.IsMarked(n) {
			continue
		}
		start := len(b)
		b = append(b, e.message...)
		s.messages = append(s.messages, store.Message{Seq: n, Tag: e.tag, Body: b[start:len(b):len(b)]})
	}
	return s
}

// spill is transient messages that were put aside.
type spill struct {
	copies   *[]byte
	queue    uint64 // in the store
	messages []store.Message
	err      error
}

func (s *spill) run(q *Queue) {
	if q.closed {
		q.opts.Log.DropQueue(s.queue) // once more, for what came after the queue was dropped
		return
	}
	q.loose.spilling = false
	if s.err != nil {
		q.full = true
		q.untended.Store(true)
		return
	}
	for _, m := range s.messages {
		e := q.window.At(m.Seq)
		if e != nil && q.delays != nil {
			q.weigh(e, -e.size())
			q.releases.add(e.chunk)
			q.window.Remove(m.Seq)
			continue
		}
		if e == nil || !q.window.IsMarked(m.Seq) { // delivered meanwhile
			q.opts.Log.Discard(q.store, []store.Range{{First: m.Seq, Last: m.Seq}})
			continue
		}
		q.sendAway(m.Seq, e)
	}
	q.spill()
}
