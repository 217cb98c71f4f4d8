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
// has are numbers here and nothing else. Owned by whoever runs the queue.
type delays struct {
	timeline
	waiting int // messages of slots that are being split up
}

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
		if q.Logs(m.message) {
			q.releases.add(m.chunk)
		} else {
			e := entry{message: m.message, chunk: m.chunk, tag: tag, tail: true}
			q.window.Put(n, e, false)
			q.weigh(&e, e.size())
		}
		d.add(n, tag)
	}
	q.delaysDue()
}

// delaysDue lets the messages go whose time has come, those of one slot after the other, and splits up the slots whose time comes near.
func (q *Queue) delaysDue() {
	d := q.delays
	if d == nil || q.stopped {
		return
	}
	d.unit = uint32(q.now() >> unitBits)
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
		if q.leavers().sets[Due].Len() >= leavingMost || len(q.leaving.list) >= leavingMost {
			return // those before go first; forward comes back here
		}
		d.take(level, slot).Each(0, func(r store.Range) bool {
			for n := r.First; n <= r.Last; n++ {
				q.letGo(n)
			}
			return true
		})
	}
}

// nextIsDue reports whether messages are due that have waited for others to go.
func (q *Queue) nextIsDue() bool {
	level, _, at, ok := q.delays.next()
	return ok && level == 0 && int32(at-uint32(q.now()>>unitBits)) <= 0
}

// sortByDue puts messages that were read into the order in which they are due.
func (q *Queue) sortByDue(messages []store.Message) {
	now := q.now()
	slices.SortStableFunc(messages, func(a, b store.Message) int { return cmp.Compare(dueTime(a.Tag, now), dueTime(b.Tag, now)) })
}

// letGo sends a message on that is due.
func (q *Queue) letGo(n uint64) {
	if e := q.window.At(n); e != nil {
		q.die(n, e, Due)
		return
	}
	q.partUnread(n, Due)
}

// split puts the messages of a slot into those of lower levels: at once those in memory, and those that the store has when its index has told
// when they are due.
func (q *Queue) split(s *Set) {
	d := q.delays
	var wanted []store.Range
	s.Each(0, func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			if e := q.window.At(n); e != nil {
				d.add(n, e.tag)
			} else if last := len(wanted) - 1; last >= 0 && wanted[last].Last+1 == n {
				wanted[last].Last = n
			} else {
				wanted = append(wanted, store.Range{First: n, Last: n})
			}
		}
		return true
	})
	if len(wanted) == 0 {
		return
	}
	found := &splitUp{wanted: wanted}
	found.unit = d.unit
	d.waiting += rangesLen(wanted)
	q.reads.Go(func() {
		found.err = q.scanTags(wanted, found.add)
		if q.post(found) {
			q.Run()
		}
	})
}

func rangesLen(ranges []store.Range) (count int) {
	for _, r := range ranges {
		count += int(r.Last - r.First + 1)
	}
	return count
}

// splitUp is what the log's index told of the messages of a slot.
type splitUp struct {
	timeline
	wanted []store.Range
	err    error
}

func (s *splitUp) run(q *Queue) {
	d := q.delays
	if q.closed || q.stopped {
		return
	}
	d.waiting -= rangesLen(s.wanted)
	if s.err != nil { // they are not lost: this is tried again
		for _, r := range s.wanted {
			for n := r.First; n <= r.Last; n++ {
				d.set(1, (d.unit+2*leadUnits)>>levelBits).Add(n)
				d.count++
			}
		}
		return
	}
	d.unit = uint32(q.now() >> unitBits)
	d.merge(&s.timeline)
	q.delaysDue()
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
		n += q.delays.count + q.delays.waiting
	}
	return n
}

// dropDelays drops the messages that wait for their time, and returns how many there were.
func (q *Queue) dropDelays() (count int) {
	if q.delays == nil {
		return 0
	}
	count = q.delays.count
	q.delays.each(func(s *Set) {
		s.Each(0, func(r store.Range) bool {
			for n := r.First; n <= r.Last; n++ {
				q.dropPending(n)
			}
			return true
		})
	})
	q.delays = &delays{waiting: q.delays.waiting} // the index is asked for those: they are to stay
	return count
}

// dropPending drops a message that waits for its time.
func (q *Queue) dropPending(n uint64) {
	d := Departure{Seq: n, stored: true}
	if e := q.window.At(n); e != nil {
		d.stored, d.chunk = e.stored(), e.chunk
		if q.delays != nil { // what came back and waits has no weight
			q.weigh(e, -e.size())
		}
		q.window.Remove(n)
	}
	q.gone(&d)
}
