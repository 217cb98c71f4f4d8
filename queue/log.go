package queue

import (
	"leveret/amqp"
	"leveret/store"
)

// Log is what a queue needs of the store. Durable queues are known to it by Options.ID; others only once they have put messages aside.
type Log interface {
	// NextQueueID returns a number that no queue had before.
	NextQueueID() uint64
	// Settle records that logged messages are done with. It is called by whoever runs the queue and must not wait, like all but Read,
	// ReadInto, Fetch, Scan and Spill.
	Settle(queue uint64, ranges []store.Range)
	// Annotate keeps a few bytes about messages for the next start; the last ones of a message count.
	Annotate(queue uint64, notes []store.Note)
	// Discard settles messages that were put aside.
	Discard(queue uint64, ranges []store.Range)
	// DropQueue forgets a queue and all its messages.
	DropQueue(queue uint64)
	// Read returns live messages of the ranges, up to about limit bytes of them. It waits for the disk.
	Read(queue uint64, ranges []store.Range, limit int) (store.Window, error)
	// ReadInto is Read with memory of the caller's, which buffer returns for so many messages at a time.
	ReadInto(w *store.Window, queue uint64, ranges []store.Range, limit int, buffer func(size, messages int) []byte) error
	// Fetch is ReadInto for messages whose places Scan has told.
	Fetch(w *store.Window, queue uint64, places []store.Place, buffer func(size, messages int) []byte) error
	// Scan tells what the index knows of live messages of the ranges. It waits for the disk.
	Scan(queue uint64, ranges []store.Range, each func(store.Info) bool) error
	// Spill puts messages aside that are not logged; their numbers rise from call to call. It waits for the disk.
	Spill(queue uint64, messages []store.Message) error
}

// settledRanges is how many ranges are told to the log at once: a record of it stays small however scattered a queue's messages are.
const settledRanges = 4096

// Logs reports whether the log holds a message of this queue. Any goroutine may ask.
func (q *Queue) Logs(m amqp.Message) bool { return q.logs(m.Traits()) }

func (q *Queue) logs(t amqp.Traits) bool { return q.logging && (q.keepsAll || t.Persistent()) }

// KeepsAll reports whether the log holds the queue's transient messages too. Any goroutine may ask.
//
// [quorum queues]: they make no difference between transient and persistent messages.
func (q *Queue) KeepsAll() bool { return q.keepsAll }

// tell notes that a message which the store has is done with. What it never saw it need not forget.
func (q *Queue) tell(n uint64) {
	q.tellRange(store.Range{First: n, Last: n})
}

func (q *Queue) tellRange(r store.Range) {
	q.forgetAttempts(r)
	s := q.borrow()
	if last := len(s.settled) - 1; last >= 0 && s.settled[last].Last+1 == r.First {
		s.settled[last].Last = r.Last
		return
	}
	if len(s.settled) == settledRanges {
		q.tellLog()
	}
	s.settled = append(s.settled, r)
}

// tellLog hands over what was noted, once a turn as a rule. Only a queue that has put transient messages aside can't tell which of the two the
// store has.
func (q *Queue) tellLog() {
	q.tellNotes()
	s := q.scratch
	if s == nil || len(s.settled) == 0 {
		return
	}
	if q.logging {
		q.opts.Log.Settle(q.store, s.settled)
	}
	if q.spilled {
		q.opts.Log.Discard(q.store, s.settled)
	}
	s.settled = s.settled[:0]
}
