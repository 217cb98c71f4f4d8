package queue

import (
	"math"

	"leveret/store"
)

const (
	// readBytes is how much is read for the head at once.
	readBytes = 1 << 20
	// readRanges bounds the runs of numbers, and readNumbers the numbers, that one read is asked for.
	readRanges  = 256
	readNumbers = 1 << 16
)

// readAhead starts to read what is away for the head of the queue, when the head has become short and somebody waits for messages.
func (q *Queue) readAhead() {
	if q.reading || q.broken || q.away.Len() == 0 || q.closed {
		return
	}
	if q.consumers.ready == 0 && len(q.gets) == 0 {
		return
	}
	if q.head >= headWindow>>q.shifted/2 && q.firstIsHere() {
		return
	}
	q.reading = true
	wanted := q.wanted()
	q.reads.Go(func() {
		r := &refill{wanted: wanted}
		r.window, r.err = q.opts.Log.Read(q.store, wanted, min(readBytes, headWindow>>q.shift()))
		if q.post(r) {
			q.Run()
		}
	})
}

// firstIsHere reports whether the first ready message is in memory.
func (q *Queue) firstIsHere() bool {
	_, _, ok := q.first()
	return ok
}

// shift is the budget's at this moment.
func (q *Queue) shift() int { return q.opts.Budget.shift() }

// wanted are the first messages of those away.
func (q *Queue) wanted() (wanted []store.Range) {
	numbers := uint64(0)
	q.away.Each(0, func(r store.Range) bool {
		r.Last = min(r.Last, r.First+readNumbers-1-numbers)
		numbers += r.Last - r.First + 1
		wanted = append(wanted, r)
		return len(wanted) < readRanges && numbers < readNumbers
	})
	return wanted
}

// refill is what was read for the head.
type refill struct {
	wanted []store.Range
	window store.Window
	err    error
}

func (r *refill) run(q *Queue) {
	q.reading = false
	if q.closed {
		return
	}
	if r.err != nil {
		q.broken = true
		q.untended.Store(true)
		q.refuseGets(r.err)
		return
	}
	for _, m := range r.window.Messages {
		if q.away.Remove(m.Seq) {
			q.arrive(m)
		}
	}
	q.miss(r.wanted, r.window.Next)
	if q.away.Len() == 0 {
		q.awayBytes = 0
	}
}

// arrive puts a message that was read into the head.
func (q *Queue) arrive(m store.Message) {
	e := entry{message: m.Body, logged: !m.Transient, spilled: m.Transient, redelivered: q.wasReturned(m.Seq)}
	if !e.message.Whole() {
		q.tell(m.Seq)
		q.counted.Damaged++
		return
	}
	size := e.size()
	q.awayBytes = max(0, q.awayBytes-size)
	q.window.Put(m.Seq, e, true)
	q.head += size
}

// miss gives up what was asked for, looked for and not found: it is damaged on disk, and the store has said so.
func (q *Queue) miss(wanted []store.Range, next uint64) {
	for _, r := range wanted {
		for n, ok := q.away.From(r.First); ok && n <= r.Last && n < next; n, ok = q.away.From(n + 1) {
			q.away.Remove(n)
			q.wasReturned(n)
			q.tell(n)
			q.counted.Damaged++
		}
	}
}

// serveGets answers who waits for the head of the queue, as far as that is there now.
func (q *Queue) serveGets() {
	for len(q.gets) > 0 && (q.firstIsHere() || q.ready() == 0) {
		g := q.gets[0]
		q.gets[0] = nil
		q.gets = q.gets[1:]
		g.answer(q)
	}
	if len(q.gets) == 0 {
		q.gets = nil
	}
}

// refuseGets answers all who wait for what can't be read.
func (q *Queue) refuseGets(err error) {
	for _, g := range q.gets {
		g.err = err
		g.done.Done()
	}
	q.gets = nil
}

// Recover makes a durable queue anew with what the log holds for it. Messages that were given back before a clean stop are among the
// returned ones, and are redelivered like those that may have been delivered before a crash. Nothing is read: the queue does so when somebody
// wants its messages.
func Recover(opts Options, state store.QueueState, returned []store.Range) *Queue {
	q := New(opts)
	q.mailbox.next = max(q.mailbox.next, state.Next)
	q.next = q.mailbox.next
	q.doubtful = state.Delivered
	for _, r := range state.Live {
		q.away.AddRange(r)
	}
	for _, r := range returned {
		r.First = max(r.First, q.doubtful)
		for n, ok := q.away.From(r.First); ok && n <= r.Last; n, ok = q.away.From(n + 1) {
			q.returned.Add(n)
		}
	}
	q.awayBytes = int(min(state.Bytes, math.MaxInt32*1024)) + q.away.Len()*entryOverhead
	q.keeper = keeper{done: q.next, due: q.next}
	q.publishStats()
	return q
}
