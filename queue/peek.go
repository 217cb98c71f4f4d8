package queue

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"leveret/amqp"
	"leveret/store"
)

// PeekMost is how many messages one Peek looks at.
const PeekMost = 10_000

// peekSteps is how many messages a Peek goes past in one turn.
const peekSteps = 20 * turnMessages

// peekBytes is about how many bytes of messages one Peek returns.
const peekBytes = 8 << 20

// Peeked is a message that was looked at and left where it is.
type Peeked struct {
	Seq         uint64       // its number in the queue
	Message     amqp.Message // a copy
	Redelivered bool
	Acquired    int // times that it came back
	Failed      int // and times that its delivery had failed
}

// Due is when a message of a queue of delayed ones is due, in Unix milliseconds.
func (p *Peeked) Due() int64 { return dueByHeaders(p.Message) }

// Peek returns ready messages by ascending number, which is the order of their coming: those from a number on, skip of them left out, at most limit and
// PeekMost. next is where to go on, 0 when there are no more. Nothing about the messages changes. It reads from the disk what is there,
// on the caller's goroutine.
func (q *Queue) Peek(from uint64, skip, limit int) (found []Peeked, next uint64, err error) {
	p := &peek{from: from, skip: skip, limit: min(limit, PeekMost)}
	q.call(p, &p.done)
	if p.err != nil {
		return nil, 0, p.err
	}
	return q.readPeeked(p)
}

// PeekPending is Peek for messages that wait for their time: delayed ones, and those that are to be tried again.
func (q *Queue) PeekPending(from uint64, limit int) (found []Peeked, next uint64, err error) {
	p := &peek{from: from, limit: min(limit, PeekMost), pending: true}
	q.call(p, &p.done)
	if p.err != nil {
		return nil, 0, p.err
	}
	return q.readPeeked(p)
}

type peek struct {
	from        uint64
	skip, limit int
	pending     bool

	size   int           // of those found, about
	found  []Peeked      // with messages as far as they are in memory
	ranges []store.Range // of those that are not
	next   uint64
	store  uint64
	err    error
	done   sync.WaitGroup
}

func (p *peek) run(q *Queue) {
	if p.look(q) {
		p.done.Done()
	} else {
		q.post(p) // goes on in the next turn; the runner is right here
	}
}

// look does a turn's share; it reports true when there is no more to do.
func (p *peek) look(q *Queue) (done bool) {
	if q.closed {
		p.err = ErrClosed
		return true
	}
	p.store = q.store
	n, ok := p.after(q, p.from)
	for steps := 0; ok; n, ok = p.after(q, n+1) {
		if p.next = n; len(p.found) == p.limit || p.size > peekBytes {
			return true
		}
		if steps++; steps > peekSteps {
			p.from = n
			return false
		}
		if p.skip > 0 {
			p.skip--
			continue
		}
		p.size += p.note(q, n)
	}
	p.next = 0
	return true
}

// note adds a message to those that were found, and returns its size, about.
func (p *peek) note(q *Queue, n uint64) (size int) {
	found := Peeked{Seq: n, Acquired: int(q.attempts.acquired.of(n)), Failed: int(q.attempts.failed.of(n))}
	if e := q.window.At(n); e != nil {
		found.Message, found.Redelivered = bytes.Clone(e.message), e.redelivered
		p.found = append(p.found, found)
		return len(e.message)
	}
	if e, ok := q.soon(n); ok {
		found.Message = bytes.Clone(e.message)
		p.found = append(p.found, found)
		return len(e.message)
	}
	found.Redelivered = n < q.doubtful || q.returned.Has(n)
	p.found = append(p.found, found)
	if last := len(p.ranges) - 1; last >= 0 && p.ranges[last].Last+1 == n {
		p.ranges[last].Last = n
	} else {
		p.ranges = append(p.ranges, store.Range{First: n, Last: n})
	}
	return q.awayBytes / max(1, q.away.Len())
}

// after is the first message not below n that is looked at.
func (p *peek) after(q *Queue, n uint64) (first uint64, ok bool) {
	if p.pending {
		return q.pendingFrom(n)
	}
	first, ok = q.away.From(n)
	for m, _, more := q.window.NextFrom(n); more && (!ok || m < first); m, _, more = q.window.NextFrom(m + 1) {
		if q.window.IsMarked(m) {
			return m, true
		}
	}
	return first, ok
}

// pendingFrom is the first message not below n that waits for its time.
func (q *Queue) pendingFrom(n uint64) (first uint64, ok bool) {
	first, ok = q.retries.set.From(n)
	if q.delays != nil {
		q.delays.each(func(s *Set) {
			if m, found := s.From(n); found && (!ok || m < first) {
				first, ok = m, true
			}
		})
		for _, s := range q.delays.splits {
			if m, found := s.from(n); found && (!ok || m < first) {
				first, ok = m, true
			}
		}
	}
	return first, ok
}

// readPeeked fills in the messages that are on disk. One that has gone meanwhile is left out.
func (q *Queue) readPeeked(p *peek) ([]Peeked, uint64, error) {
	for len(p.ranges) > 0 {
		w, err := q.opts.Log.Read(p.store, p.ranges, readBytes)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range w.Messages {
			i, ok := slices.BinarySearchFunc(p.found, m.Seq, func(f Peeked, n uint64) int { return cmp.Compare(f.Seq, n) })
			if body := amqp.Message(m.Body); ok && body.Whole() {
				p.found[i].Message = body
			}
		}
		p.ranges = from(p.ranges, w.Next)
	}
	return slices.DeleteFunc(p.found, func(f Peeked) bool { return f.Message == nil }), p.next, nil
}

// from is what of the ranges does not lie below a number.
func from(ranges []store.Range, n uint64) []store.Range {
	for len(ranges) > 0 && ranges[0].Last < n {
		ranges = ranges[1:]
	}
	if len(ranges) > 0 {
		ranges[0].First = max(ranges[0].First, n)
	}
	return ranges
}
