package queue

import (
	"leveret/amqp"
	"leveret/store"
)

// recoveryRead is how many bytes of messages are read from the log at once.
const recoveryRead = 512 << 10

// Recover makes a durable queue anew with what the log holds for it. Messages that were given back before a clean stop are among the
// returned ones, and are redelivered like those that may have been delivered before a crash. lost is how many messages are
// damaged on disk: they are settled, and the queue lives without them. It blocks while the log is read; nobody else knows the queue yet.
func Recover(opts Options, state store.QueueState, returned []store.Range) (q *Queue, lost uint64, err error) {
	q = New(opts)
	q.mailbox.next = max(q.mailbox.next, state.Next)
	q.next = q.mailbox.next
	for live := state.Live; len(live) > 0; {
		w, err := opts.Log.Read(opts.ID, live, recoveryRead)
		if err != nil {
			return nil, lost, err
		}
		damaged := w.Lost
		for _, m := range w.Messages {
			if !amqp.Message(m.Body).Whole() {
				damaged = append(damaged, store.Range{First: m.Seq, Last: m.Seq})
				continue
			}
			back := m.Seq < state.Delivered || contains(&returned, m.Seq)
			q.restore(m, back)
		}
		if len(damaged) > 0 {
			lost += lengthOf(damaged)
			opts.Log.Settle(opts.ID, damaged)
		}
		live = rangesFrom(live, w.Next)
	}
	q.keeper = keeper{done: q.next, due: q.next}
	q.publishStats()
	return q, lost, nil
}

// restore puts a message in its place. It is copied, since the memory of one read holds many messages.
func (q *Queue) restore(m store.Message, redelivered bool) {
	message := q.keeper.copy(m.Body)
	q.window.Put(m.Seq, entry{message: message, logged: true, redelivered: redelivered}, true)
	q.readyBytes += len(message) + entryOverhead
}

// Returned asks the queue which logged messages came back to it, so that they are known as redelivered after a clean stop. It blocks until
// the queue has answered.
func (q *Queue) Returned() []store.Range {
	r := new(returned)
	q.call(r, &r.done)
	return r.ranges
}

// contains looks for n in ranges and takes those off the front that end before it: the numbers asked for rise.
func contains(ranges *[]store.Range, n uint64) bool {
	for len(*ranges) > 0 && (*ranges)[0].Last < n {
		*ranges = (*ranges)[1:]
	}
	return len(*ranges) > 0 && (*ranges)[0].First <= n
}

// rangesFrom returns what of the ranges is not below n. It may change them.
func rangesFrom(ranges []store.Range, n uint64) []store.Range {
	for len(ranges) > 0 && ranges[0].Last < n {
		ranges = ranges[1:]
	}
	if len(ranges) > 0 {
		ranges[0].First = max(ranges[0].First, n)
	}
	return ranges
}

func lengthOf(ranges []store.Range) (n uint64) {
	for _, r := range ranges {
		n += r.Last - r.First + 1
	}
	return n
}
