package queue

import (
	"leveret/amqp"
	"leveret/store"
)

// A message that the store holds need not be in memory. Of a long queue a window at the head and one at the tail are; what lies between is known
// by its number alone. What was delivered and is not settled keeps no body either: when it comes back, it is read like the rest.
//
//	oldest                                                          newest
//	| head: in memory | away: numbers, on disk           | tail: in memory |
//
// The head is filled again ahead of need, by a goroutine that is not the queue's turn. See readAhead.
type paging struct {
	away     Set    // ready, and not in memory
	lent     Set    // delivered, not settled, and not in memory
	returned Set    // of those away, the ones that came back
	doubtful uint64 // what lies below may have been delivered in an earlier life

	head, tail int    // bytes in memory that the store has too
	tailFrom   uint64 // no message of the tail lies below
	loose      loose
	awayBytes  int            // of those away, about
	lentBytes  int            // of those lent, about
	lentTags   Window[uint32] // of those lent, if the queue has an order and they have one

	unsized                int   // of those away, how many a start found and has not seen; 0 once it has seen one
	hereBodies, awayBodies int64 // bytes of the bodies of ready messages, in memory and away
	sureBodies             int64 // of those away, what the queue knows exactly: that of messages which it has seen, and which have not come back

	spilled bool // the store has had transient messages of this queue
	reading bool // a read is under way
	// overlooked says that the last read was to bring the message to be served next and did not, as those that came before it were large.
	overlooked bool
	headWanted bool // the first message is to be read, if it is not in memory, to know its age
	broken     bool // the last read failed: the next one waits for a Tend
	full       bool // nothing could be put aside: the next attempt waits for a Tend
	gets       []*get
	reported   int // bytes, to the budget
	shifted    int // the budget's shift that the windows obey
}

// stored reports whether the store has the message too.
func (e *entry) stored() bool { return e.logged || e.spilled }

func (e *entry) size() int { return len(e.message) + entryOverhead }

// ready is how many messages wait for a consumer.
func (q *Queue) ready() int { return q.window.Marked() + q.away.Len() }

// resident is how many bytes of ready messages are in memory.
func (q *Queue) resident() int { return q.head + q.tail + q.loose.bytes() }

// flowMost is the longest backlog, in bytes, that publishers are slowed down for.
const flowMost = 64 << 20

// flowing is how many bytes of backlog count against publishers: a small one can be kept in memory by slowing them down a little, one that has
// gone to disk by far can't.
func (q *Queue) flowing() int {
	if all := q.resident() + q.awayBytes; all <= flowMost {
		return all
	}
	return q.resident()
}

// first returns the first ready message; ok is false when there is none, or it is away.
func (q *Queue) first() (n uint64, e *entry, ok bool) {
	if q.order != nil {
		if n, ok = q.order.first(); ok {
			e = q.window.At(n)
		}
		return n, e, e != nil
	}
	n, e, ok = q.window.NextMarked()
	if ok && q.away.Len() > 0 && q.away.First() < n {
		return 0, nil, false
	}
	return n, e, ok
}

// oldest is the number of the ready message that came first, wherever it is.
func (q *Queue) oldest() (n uint64, ok bool) {
	n, _, ok = q.window.NextMarked()
	if q.away.Len() > 0 && (!ok || q.away.First() < n) {
		return q.away.First(), true
	}
	return n, ok
}

// weigh adds the size of a message, or takes it off when it is negative, where it counts.
func (q *Queue) weigh(e *entry, size int) {
	body := len(e.message.Body())
	if size < 0 {
		body = -body
	}
	q.weighBody(e, size, body)
}

// weighBody is weigh for a message of which it is known, or does not count, how large its body is.
func (q *Queue) weighBody(e *entry, size, body int) {
	q.hereBodies += int64(body)
	switch {
	case !e.stored():
		q.loose.weigh(e, size, body)
	case e.tail:
		q.tail += size
	default:
		q.head += size
	}
}

// trim takes the oldest messages of a tail that is too long out of memory, or makes them the head's when nothing lies between.
func (q *Queue) trim() {
	for q.tail > tailWindow>>q.shifted {
		n, e, ok := q.window.NextFrom(q.tailFrom)
		if !ok {
			return
		}
		q.tailFrom = n + 1
		switch {
		case !e.tail || !e.stored() || !q.window.IsMarked(n):
		case q.away.Len() == 0 && q.head < headWindow>>q.shifted:
			q.weigh(e, -e.size())
			e.tail = false
			q.weigh(e, e.size())
		default:
			q.sendAway(n, e)
		}
	}
}

// sendAway takes a ready message that the store has out of memory.
func (q *Queue) sendAway(n uint64, e *entry) {
	size := e.size()
	q.weigh(e, -size)
	q.awayBytes += size
	q.awayBodies += int64(len(e.message.Body()))
	if !q.guessed(n, e.redelivered) {
		q.sureBodies += int64(len(e.message.Body()))
	}
	if e.redelivered && n >= q.doubtful {
		q.returned.Add(n)
	}
	q.releases.add(e.chunk)
	q.window.Remove(n)
	q.away.Add(n)
}

// shrink makes the windows as small as the budget wants them.
func (q *Queue) shrink() {
	shift := q.opts.Budget.shift()
	if shift == q.shifted {
		return
	}
	smaller := shift > q.shifted
	q.shifted = shift
	q.obeyed.Store(int32(shift))
	q.trim()
	if !smaller || q.head <= headWindow>>shift {
		return
	}
	kept := 0
	for n, e, ok := q.window.NextFrom(0); ok; n, e, ok = q.window.NextFrom(n + 1) {
		if !e.stored() || e.tail || !q.window.IsMarked(n) {
			continue
		}
		if kept += e.size(); kept > headWindow>>shift {
			q.sendAway(n, e)
		}
	}
}

// lend takes a message that was delivered out of memory: the store has it, should it come back.
func (q *Queue) lend(n uint64, size int, tag uint32) {
	q.lent.Add(n)
	q.lentBytes += size
	if q.order != nil && tag != 0 {
		q.lentTags.Put(n, tag, false)
	}
}

// lentTag is the tag of a message that was lent, and forgets it.
func (q *Queue) lentTag(n uint64) uint32 {
	if q.lentTags.Len() == 0 {
		return 0
	}
	at := q.lentTags.At(n)
	if at == nil {
		return 0
	}
	tag := *at
	q.lentTags.Remove(n)
	return tag
}

// takeBack ends that a message is lent, and returns its size, about; ok is false if it was not lent.
func (q *Queue) takeBack(n uint64) (size int, ok bool) {
	if q.lent.Len() > 0 {
		size, ok = q.takeBackLent(n)
	}
	return size, ok
}

func (q *Queue) takeBackLent(n uint64) (size int, ok bool) {
	size = q.lentBytes / q.lent.Len()
	if !q.lent.Remove(n) {
		return 0, false
	}
	q.lentBytes -= size
	return size, true
}

// giveBack makes a message that was lent ready again, in its old place.
func (q *Queue) giveBack(n uint64, size int, tag uint32) {
	q.away.Add(n)
	q.awayBytes += size
	around := amqp.MessageHeadSize
	if q.service != nil {
		around = max(around, q.service.holding.around)
	}
	q.awayBodies += int64(max(0, size-entryOverhead-around))
	q.enter(n, tag, false)
	if n >= q.doubtful {
		q.returned.Add(n)
	}
}

// wasReturned reports whether a message that was away is to be redelivered, and forgets it.
func (q *Queue) wasReturned(n uint64) bool {
	return n < q.doubtful || q.returned.Len() > 0 && q.returned.Remove(n)
}

// bodies is how many bytes the bodies of the ready messages have; of those away, about.
func (q *Queue) bodies() int64 { return q.hereBodies + q.awayBodies }

// guessed reports whether the size of a message's body is a guess while the message is away: it was found by a start, or came back.
func (q *Queue) guessed(n uint64, redelivered bool) bool {
	return redelivered || n < q.keeper.recovered
}

// unweighAway takes the size of a message off those away, from which it was removed.
func (q *Queue) unweighAway(n uint64, redelivered bool) {
	left := q.away.Len()
	body := q.awayBodies / int64(left+1)
	q.awayBytes -= q.awayBytes / (left + 1)
	q.awayBodies -= body
	if !q.guessed(n, redelivered) {
		q.sureBodies = max(0, q.sureBodies-body)
	}
}

// dropAway settles all that is away, and returns how many messages that were.
func (q *Queue) dropAway() (count int) {
	count = q.away.Len()
	q.away.Each(0, func(r store.Range) bool {
		q.tellRange(r)
		return true
	})
	q.away.Clear()
	q.returned.Clear()
	q.awayBytes, q.awayBodies, q.sureBodies = 0, 0, 0
	if q.order != nil {
		q.order.filter(func(n uint64) bool { return q.window.At(n) != nil })
	}
	return count
}

// forget drops everything that stands for messages; of those away too.
func (q *Queue) forget() {
	if q.spilled && !q.opts.Durable {
		q.opts.Log.DropQueue(q.store)
	}
	q.window = Window[entry]{}
	gets := q.gets
	if q.order != nil {
		q.order.filter(func(uint64) bool { return false })
	}
	q.leaving, q.retries, q.anywhere = nil, retries{}, anywhere{}
	if q.delays != nil {
		q.delays = new(delays)
	}
	q.paging = paging{reported: q.reported}
	for _, g := range gets {
		g.answer(q)
	}
	q.report(true)
}
