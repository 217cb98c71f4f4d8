package queue

import (
	"leveret/amqp"
	"leveret/store"
)

// Reason is why a message leaves its queue for another one, or for good.
type Reason uint8

// The reasons. All but Due and Sent are deaths.
const (
	Rejected      Reason = iota // a consumer did not want it, nor back into the queue
	Expired                     // its time was up
	MaxLength                   // the queue was too long
	DeliveryLimit               // it came back too often
	Due                         // it was delayed, and its time has come
	Sent                        // somebody sent it to another place, by Queue.Send
	reasons
)

// Reasons is how many reasons there are.
const Reasons = reasons

// String is the reason as clients read it in the header x-death.
func (r Reason) String() string {
	return [...]string{"rejected", "expired", "maxlen", "delivery_limit", "due", "sent"}[r]
}

// Departure is a message that leaves its queue.
type Departure struct {
	Seq     uint64
	Message amqp.Message // valid during Forward only
	Reason  Reason
	To      *Destination // of a message that was Sent, else nil
	// Stays is set by the Forwarder for a message that can't go yet.
	Stays bool
	// Unsure is set by the Forwarder for a message that may turn out to stay after the log was told of the others.
	Unsure bool

	chunk  *Chunk
	logged bool // the log has it
	stored bool // the store has it, in the log or put aside
	tag    uint32
	told   bool // the log knows already that it is gone
}

// Forwarder is where messages go that leave a queue for others: those that die, and those that are due.
type Forwarder interface {
	// Forward hands messages over to the queues that they go to. It must not wait. Those that can't go yet are marked as staying, and
	// tried again when wait, which is called on a goroutine and may block, returns; at the latest after a second. The queue is the
	// caller's, which runs it.
	Forward(q *Queue, list []Departure) (wait func())
}

const (
	// forwardMost is how many messages are forwarded at once.
	forwardMost = 256
	// leavingMost and leavingBytes are how many messages, and bytes of them, are read for that at once.
	leavingMost  = 1024
	leavingBytes = 2 << 20
)

// leaving is what is on its way out of the queue: neither ready nor unacked any more. Owned by whoever runs the queue.
type leaving struct {
	list    []Departure  // in memory
	sets    [reasons]Set // those whose messages only the store has
	reading bool
	blocked bool // some had to stay: nothing is tried before wait returns
}

// len is how many messages are on their way out.
func (l *leaving) len() int {
	if l == nil {
		return 0
	}
	n := len(l.list)
	for i := range l.sets {
		n += l.sets[i].Len()
	}
	return n
}

func (q *Queue) leavers() *leaving {
	if q.leaving == nil {
		q.leaving = new(leaving)
	}
	return q.leaving
}

// forwards reports whether a message of this queue goes anywhere when it dies.
func (q *Queue) forwards(m amqp.Message, r Reason) bool {
	return q.opts.Forwarder != nil && (q.set.DeadLetter || r == Due || m.OwnDeadLetter())
}

// die ends the life of a ready message in memory.
func (q *Queue) die(n uint64, e *entry, r Reason) {
	d := Departure{Seq: n, Message: e.message, Reason: r, chunk: e.chunk, logged: e.logged, stored: e.stored()}
	q.depart(n, e.tag)
	q.weigh(e, -e.size())
	q.window.Remove(n)
	q.part(d)
}

// part lets a message go that is not ready and not unacked any more.
func (q *Queue) part(d Departure) {
	if q.forwards(d.Message, d.Reason) {
		l := q.leavers()
		l.list = append(l.list, d)
		return
	}
	q.counted.Dropped[d.Reason]++
	q.gone(&d)
}

// gone ends what the queue and the store keep for a message.
func (q *Queue) gone(d *Departure) {
	if d.stored && (!d.told || q.spilled) {
		q.tell(d.Seq)
	} else {
		q.forgetAttempts(store.Range{First: d.Seq, Last: d.Seq})
	}
	q.releases.add(d.chunk)
}

// dieUnread ends the life of a ready message that is not in memory.
func (q *Queue) dieUnread(n uint64, r Reason) {
	if !q.away.Remove(n) {
		return
	}
	q.unweighAway()
	q.wasReturned(n)
	if q.order != nil {
		q.order.forget(n)
	}
	q.partUnread(n, r)
}

// partUnread is part for a message that only the store has.
func (q *Queue) partUnread(n uint64, r Reason) {
	if q.opts.Forwarder != nil && (q.set.DeadLetter || r == Due || q.ownDeadLetters.Load()) {
		q.leavers().sets[r].Add(n)
		return
	}
	q.counted.Dropped[r]++
	q.tell(n)
}

// forward hands over what is on its way out.
func (q *Queue) forward() {
	l := q.leaving
	if l == nil || q.closed || q.stopped {
		return
	}
	for len(l.list) > 0 && !l.blocked {
		q.forwardSome(l)
	}
	if l.blocked {
		q.shed(l)
		return
	}
	q.readLeaving(l)
	if q.delays != nil && !l.reading {
		q.unfinished = q.unfinished || q.nextIsDue()
	}
}

// forwardSome hands over the first of the list.
func (q *Queue) forwardSome(l *leaving) {
	list := l.list[:min(len(l.list), forwardMost)]
	wait := q.opts.Forwarder.Forward(q, list)
	stay := l.list[:0]
	for i := range list {
		d := &list[i]
		if d.Stays && d.To != nil {
			q.putBack(d)
			continue
		}
		if d.Stays {
			l.blocked = true
			d.Stays, d.Unsure = false, false
			stay = append(stay, *d)
			continue
		}
		q.counted.DeadLettered[d.Reason]++
		q.gone(d)
	}
	rest := append(stay, l.list[len(list):]...)
	clear(l.list[len(rest):])
	l.list = rest
	if !l.blocked {
		return
	}
	q.untended.Store(true) // the next Tend tries again
	if wait != nil {
		q.reads.Go(func() {
			wait()
			if q.post(unblock{}) {
				q.Run()
			}
		})
	}
}

// unblock makes the queue try again to forward what had to stay.
type unblock struct{}

func (unblock) run(q *Queue) {
	if q.leaving != nil {
		q.leaving.blocked = false
	}
}

// shed takes messages that have to stay out of memory: the store has them. The others are copied out of their chunks.
func (q *Queue) shed(l *leaving) {
	kept := l.list[:0]
	for _, d := range l.list {
		if d.stored && d.To == nil {
			l.sets[d.Reason].Add(d.Seq)
		} else {
			if d.chunk != nil {
				d.Message = append(make(amqp.Message, 0, len(d.Message)), d.Message...)
			}
			kept = append(kept, d)
		}
		q.releases.add(d.chunk)
		if len(kept) > 0 && (!d.stored || d.To != nil) {
			kept[len(kept)-1].chunk = nil
		}
	}
	clear(l.list[len(kept):])
	l.list = kept
}

// readLeaving starts to read messages that are on their way out.
func (q *Queue) readLeaving(l *leaving) {
	if l.reading || q.broken {
		return
	}
	for r := range l.sets {
		if l.sets[r].Len() == 0 {
			continue
		}
		l.reading = true
		read := &leavingRead{reason: Reason(r), wanted: firstRanges(&l.sets[r], leavingMost)}
		q.reads.Go(func() {
			read.window, read.err = q.opts.Log.Read(q.store, read.wanted, leavingBytes)
			if q.post(read) {
				q.Run()
			}
		})
		return
	}
}

// firstRanges are the first numbers of a set, at most so many.
func firstRanges(s *Set, most uint64) (ranges []store.Range) {
	s.Each(0, func(r store.Range) bool {
		r.Last = min(r.Last, r.First+most-1)
		most -= r.Last - r.First + 1
		ranges = append(ranges, r)
		return most > 0
	})
	return ranges
}

// leavingRead is messages that were read to be forwarded.
type leavingRead struct {
	reason Reason
	wanted []store.Range
	window store.Window
	err    error
}

func (r *leavingRead) run(q *Queue) {
	l := q.leaving
	if q.closed || l == nil {
		return
	}
	l.reading = false
	if r.err != nil {
		q.broken = true
		q.untended.Store(true)
		return
	}
	set := &l.sets[r.reason]
	if r.reason == Due {
		q.sortByDue(r.window.Messages)
	}
	for _, m := range r.window.Messages {
		if !set.Remove(m.Seq) {
			continue
		}
		d := Departure{Seq: m.Seq, Message: m.Body, Reason: r.reason, logged: !m.Transient, stored: true}
		if !d.Message.Whole() {
			q.counted.Damaged++
			q.tell(m.Seq)
			continue
		}
		q.part(d)
	}
	for _, w := range r.wanted { // what was looked for and not found is damaged on disk
		for n, ok := set.From(w.First); ok && n <= w.Last && n < r.window.Next; n, ok = set.From(n + 1) {
			set.Remove(n)
			q.counted.Damaged++
			q.tell(n)
		}
	}
}

// Leave adds to a batch of the log, which holds the messages that departures have become, that they are gone from here, so that a crash leaves the
// one or the other. The Forwarder calls it, once a batch, when it knows which of them stay.
func (q *Queue) Leave(b *store.Batch, list []Departure) {
	if !q.logging {
		return
	}
	var ranges []store.Range
	for i := range list {
		d := &list[i]
		if d.Stays || d.Unsure || !d.logged {
			continue
		}
		d.told = true
		if last := len(ranges) - 1; last >= 0 && ranges[last].Last+1 == d.Seq {
			ranges[last].Last = d.Seq
		} else {
			ranges = append(ranges, store.Range{First: d.Seq, Last: d.Seq})
		}
	}
	if len(ranges) > 0 {
		b.Settle(q.opts.ID, ranges)
	}
}

// dropLeaving drops what is on its way out, and returns how many messages that were.
func (q *Queue) dropLeaving() (count int) {
	l := q.leaving
	if l == nil {
		return 0
	}
	count = l.len()
	for i := range l.list {
		q.gone(&l.list[i])
	}
	for i := range l.sets {
		l.sets[i].Each(0, func(r store.Range) bool {
			q.tellRange(r)
			return true
		})
	}
	q.leaving = &leaving{reading: l.reading}
	return count
}
