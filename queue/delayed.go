package queue

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"leveret/amqp"
	"leveret/store"
)

// delays are the messages of a queue of delayed ones: they wait until they are due, and then go where the Forwarder sends them. Those that the store
// has are numbers here and nothing else, until their time comes near. Owned by whoever runs the queue.
type delays struct {
	timeline
	splits []*splitUp       // slots that are being split up
	nearby nearby           // where those stand that the store has and that are due soon,
	soon   map[uint64]entry // and those of them that are in memory, as they are too scattered for the window
}

const (
	// soonWindow is how many bytes of messages that are due soon, and that the store has, are in memory.
	soonWindow = 32 << 20
	// dueMost is how many messages that are due, and not in memory, stand before others that become due. More of them in one read of the log's
	// index cost less; fewer keep to the order in which they are due when the broker can't keep up.
	dueMost = 64 * leavingMost
)

// delayTag is the tagger of a queue of delayed messages.
//
// A message that went to other queues too may come back from the log without its tag: its headers tell about the same then.
func delayTag(m amqp.Message, o *Origin) uint32 {
	due := o.Due
	if due == 0 {
		due = dueByHeaders(m)
	}
	return dueTag(min(due, time.Now().UnixMilli()+longestWait<<unitBits))
}

// dueByHeaders is when a message is due by what its publisher asked for, in Unix milliseconds.
//
// [delayed message exchange, x-delay; ours: x-deliver-at]
func dueByHeaders(m amqp.Message) int64 {
	var index amqp.PropertyIndex
	if amqp.ScanProperties(m.Properties(), &index) != nil || index.Headers == nil {
		return m.Published()
	}
	if tag, value, ok := amqp.FindField(index.Headers, "x-delay"); ok {
		wait, _ := amqp.FieldInteger(tag, value)
		return m.Published() + wait
	}
	tag, value, _ := amqp.FindField(index.Headers, "x-deliver-at")
	if tag == 'T' {
		return int64(binary.BigEndian.Uint64(value)) * 1000
	}
	at, _ := amqp.FieldInteger(tag, value)
	return at
}

// delay takes messages in that are not to be delivered before they are due.
func (q *Queue) delay(b *Batch) {
	d := q.delays
	d.unit = uint32(q.now() >> unitBits)
	for i := range b.messages {
		m := &b.messages[i]
		n, tag := b.first+uint64(i), b.tag(i)
		switch {
		case !q.Logs(m.message):
			e := entry{message: m.message, chunk: m.chunk, tag: tag, tail: true}
			q.window.Put(n, e, false)
			q.weigh(&e, e.size())
		case q.isSoon(tag):
			q.keepSoon(n, entry{message: slices.Clone(m.message), tag: tag, logged: true}) // its neighbours in the chunk are not due with it
			q.releases.add(m.chunk)
		default:
			q.releases.add(m.chunk)
		}
		d.add(n, tag)
	}
	q.delaysDue()
}

// isSoon reports whether a message with that tag is due so soon that it stays in memory.
func (q *Queue) isSoon(tag uint32) bool {
	return int32(tag-q.delays.unit) < 2*leadUnits && q.soonRoom() > 0
}

// keepSoon keeps a message in memory until it is due.
func (q *Queue) keepSoon(n uint64, e entry) {
	if q.delays.soon == nil {
		q.delays.soon = make(map[uint64]entry)
	}
	q.delays.soon[n] = e
	q.weigh(&e, e.size())
}

// soon is a message that is due soon, if it is in memory.
func (q *Queue) soon(n uint64) (e entry, ok bool) {
	if q.delays != nil {
		e, ok = q.delays.soon[n]
	}
	return e, ok
}

// takePending takes a message that waits for its time out of memory, if it is there.
func (q *Queue) takePending(n uint64) (e entry, ok bool) {
	if d := q.delays; d != nil {
		if e, ok = d.soon[n]; ok {
			delete(d.soon, n)
			q.weigh(&e, -e.size())
			return e, true
		}
	}
	p := q.window.At(n)
	if p == nil {
		return e, false
	}
	if e = *p; q.delays != nil { // what came back and waits has no weight
		q.weigh(&e, -e.size())
	}
	q.window.Remove(n)
	return e, true
}

// soonRoom is for how many bytes of messages that are due soon there is room.
func (q *Queue) soonRoom() int { return soonWindow>>q.shifted - q.head - q.delays.nearby.promised }

// delaysDue lets the messages go whose time has come, those of one slot after the other. It splits up the slots whose time comes near, and has read
// what is due soon.
func (q *Queue) delaysDue() {
	d := q.delays
	if d == nil || q.stopped {
		return
	}
	d.unit = uint32(q.now() >> unitBits)
	q.fetchDue()
	for {
		level, slot, at, ok := d.next()
		if !ok {
			return
		}
		if int32(at-d.unit) > 0 {
			q.wakeAt(dueTime(at, q.now()))
			return
		}
		if level > 0 {
			q.split(d.take(level, slot))
			continue
		}
		if d.nearby.comes(slot) {
			return // with what is being read, delaysDue is called again
		}
		if l := q.leavers(); l.blocked || l.sets[Due].Len() >= dueMost || len(l.list) >= leavingMost {
			return // those before go first; forward comes back here
		}
		d.take(level, slot).Each(0, q.letGo)
	}
}

// nextIsDue reports whether messages are due that have waited for others to go.
func (q *Queue) nextIsDue() bool {
	level, _, at, ok := q.delays.next()
	return ok && level == 0 && int32(at-uint32(q.now()>>unitBits)) <= 0 && !q.delays.nearby.comes(at)
}

// sortByDue puts messages that were read into the order in which they are due.
func (q *Queue) sortByDue(messages []store.Message) {
	now := q.now()
	slices.SortStableFunc(messages, func(a, b store.Message) int { return cmp.Compare(dueTime(a.Tag, now), dueTime(b.Tag, now)) })
}

// letGo sends messages on that are due.
func (q *Queue) letGo(r store.Range) bool {
	if q.window.Len() == 0 && len(q.delays.soon) == 0 && q.opts.Forwarder != nil { // there may be millions
		q.leavers().sets[Due].AddRange(r)
		return true
	}
	for n := r.First; n <= r.Last; n++ {
		if e, ok := q.takePending(n); ok {
			q.part(Departure{Seq: n, Message: e.message, Reason: Due, chunk: e.chunk, logged: e.logged, stored: e.stored()})
		} else {
			q.partUnread(n, Due)
		}
	}
	return true
}

// recoverDelays takes over the delayed messages that a start found on disk.
func (q *Queue) recoverDelays(live []store.Range) error {
	d := q.delays
	d.unit = uint32(q.now() >> unitBits)
	err := q.scanTags(live, d.add)
	if d.count > 0 {
		q.wakeAt(q.now())
	}
	return err
}

// pending is how many messages wait for their time.
func (q *Queue) pending() int {
	n := q.retries.set.Len()
	if q.delays != nil {
		n += q.delays.count
		for _, s := range q.delays.splits {
			n += s.left()
		}
	}
	return n
}

// dropDelays drops the messages that wait for their time, and returns how many there were.
func (q *Queue) dropDelays() (count int) {
	if q.delays == nil {
		return 0
	}
	count = q.pending() - q.retries.set.Len()
	drop := func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			q.dropPending(n)
		}
		return true
	}
	q.delays.each(func(s *Set) { s.Each(0, drop) })
	for _, s := range q.delays.splits {
		s.each(drop)
	}
	q.delays = new(delays)
	return count
}

// dropDelayed drops one message that waits for its time; false: it does not.
func (q *Queue) dropDelayed(n uint64) bool {
	d := q.delays
	if d == nil || !d.remove(n) && !slices.ContainsFunc(d.splits, func(s *splitUp) bool { return s.remove(n) }) {
		return false
	}
	q.dropPending(n)
	return true
}

// dropPending drops a message that waits for its time.
func (q *Queue) dropPending(n uint64) {
	d := Departure{Seq: n, stored: true}
	if e, ok := q.takePending(n); ok {
		d.stored, d.chunk = e.stored(), e.chunk
	}
	q.gone(&d)
}
