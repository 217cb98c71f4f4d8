package queue

import (
	"encoding/binary"

	"leveret/amqp"
	"leveret/store"
)

// attempts counts how often messages came back, in queues that have a use for it. Owned by whoever runs the queue.
//
// [quorum queues, x-acquired-count, x-delivery-count]
type attempts struct {
	acquired tally // times that a message came back
	failed   tally // and times that its delivery had failed: not those when the consumer just gave it back
	notes    []store.Note
	bytes    []byte // that the notes stand in
}

// counts reports whether the queue counts attempts.
func (q *Queue) counts() bool {
	return q.opts.Quorum || q.set.DeliveryLimit >= 0 || q.set.RetryType != RetryDisabled
}

// attempt counts that a message came back. It reports true if that was once too often.
func (q *Queue) attempt(n uint64, failed bool) (spent bool) {
	q.attempts.acquired.raise(n)
	if failed {
		q.attempts.failed.raise(n)
	}
	return q.set.DeliveryLimit >= 0 && int64(q.deliveryCount(n)) > q.set.DeliveryLimit
}

// deliveryCount is what x-delivery-count says of a message, what its limit is compared with and what its wait for a retry grows by: how often its
// delivery failed, or how often it came back in a queue where every return counts.
func (q *Queue) deliveryCount(n uint64) uint32 {
	if q.set.CountReturns == CountEvery {
		return q.attempts.acquired.of(n)
	}
	return q.attempts.failed.of(n)
}

// noteAttempts has the log keep the counts of a message, and when it is to be tried again, in Unix milliseconds; 0 for at once.
func (q *Queue) noteAttempts(n uint64, due int64) { q.note(n, due, alive) }

// noteDeath has the log keep that a consumer was the death of a message, if it stays until another queue has taken it: a start is not to deliver it
// again. What died of its age or of the queue's length does so again.
func (q *Queue) noteDeath(n uint64, r Reason) {
	if q.logging && q.set.AtLeastOnce {
		q.note(n, 0, uint64(r)+1)
	}
}

// alive stands in a note for no death; 1 and above for the reasons, from the first one.
const alive = 0

// note is how both are kept: the two counts, the time, and the death if there is one.
func (q *Queue) note(n uint64, due int64, death uint64) {
	a := &q.attempts
	start := len(a.bytes)
	a.bytes = binary.AppendUvarint(a.bytes, uint64(a.acquired.of(n)))
	a.bytes = binary.AppendUvarint(a.bytes, uint64(a.failed.of(n)))
	a.bytes = binary.AppendUvarint(a.bytes, uint64(due))
	if death != alive {
		a.bytes = binary.AppendUvarint(a.bytes, death)
	}
	a.notes = append(a.notes, store.Note{Seq: n, Data: a.bytes[start:len(a.bytes):len(a.bytes)]})
}

// tellNotes hands over what was noted, once a turn.
func (q *Queue) tellNotes() {
	a := &q.attempts
	if len(a.notes) == 0 {
		return
	}
	q.opts.Log.Annotate(q.store, a.notes)
	clear(a.notes)
	a.notes, a.bytes = a.notes[:0], a.bytes[:0]
}

// forgetAttempts ends what is counted of messages that are gone.
func (q *Queue) forgetAttempts(r store.Range) {
	if a := &q.attempts; !a.acquired.empty() {
		a.forget(r)
	}
}

func (a *attempts) forget(r store.Range) {
	if r.First == r.Last {
		a.acquired.forget(r.First)
		a.failed.forget(r.First)
		return
	}
	a.acquired.forgetRange(r)
	a.failed.forgetRange(r)
}

// recoverAttempts takes over what a start found noted.
func (q *Queue) recoverAttempts(notes []store.Note) {
	for _, note := range notes {
		acquired, n := binary.Uvarint(note.Data)
		failed, m := binary.Uvarint(note.Data[max(n, 0):])
		if n <= 0 || m <= 0 {
			continue
		}
		q.attempts.acquired.set(note.Seq, uint32(acquired))
		q.attempts.failed.set(note.Seq, uint32(failed))
		due, k := binary.Uvarint(note.Data[n+m:])
		if k > 0 && due > 0 {
			q.retryLater(note.Seq, int64(due))
		}
		if death, l := binary.Uvarint(note.Data[n+m+max(k, 0):]); l > 0 && death > 0 && death <= uint64(reasons) {
			q.leaveLater(note.Seq, Reason(death-1))
		}
	}
}

// Names of the headers that say how often a message came back.
const (
	headerAcquired = "x-acquired-count"
	headerFailed   = "x-delivery-count"
)

// withAttempts returns a message as it is delivered: with headers that say how often it came back, if it did.
func (q *Queue) withAttempts(n uint64, m amqp.Message) amqp.Message {
	acquired, failed := q.attempts.acquired.of(n), q.deliveryCount(n)
	if acquired == 0 {
		return m
	}
	var index amqp.PropertyIndex
	if amqp.ScanProperties(m.Properties(), &index) != nil {
		return m // it was checked when it came
	}
	headers, table := amqp.BeginTable(nil)
	if index.Headers != nil {
		headers = amqp.AppendFieldsExcept(headers, index.Headers, func(name []byte) bool {
			return string(name) == headerAcquired || string(name) == headerFailed
		})
	}
	headers = amqp.AppendLongField(headers, headerAcquired, int64(acquired))
	if failed > 0 {
		headers = amqp.AppendLongField(headers, headerFailed, int64(failed))
	}
	amqp.EndTable(headers, table)
	return m.WithHeaders(&index, headers)
}
