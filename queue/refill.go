package queue

import (
	"math"
	"slices"
	"sync"

	"leveret/amqp"

	"leveret/store"
)

const (
	// readBytes is how much is read for the head at once.
	readBytes = 1 << 20
	// readRanges bounds the runs of numbers, and readNumbers the numbers, that one read is asked for.
	readRanges  = 256
	readNumbers = 1 << 16
	// readOrdered is how many numbers a queue with an order asks for at once: few runs, if they are near each other, but that is not known before.
	// The store unpacks what lies between them each time.
	readOrdered = 1 << 13
)

// readAhead starts to read what is away for the head of the queue, when the head has become short and somebody waits for messages.
func (q *Queue) readAhead() {
	if q.reading || q.broken || q.away.Len() == 0 || q.closed {
		return
	}
	if q.consumers.ready == 0 && len(q.gets) == 0 && !q.watchesHead() {
		return
	}
	if q.groups != nil {
		if !q.groups.unread && q.firstIsHere() || q.groupsFull() && !q.makeRoom() {
			return
		}
	} else if q.head >= headWindow>>q.shifted/4*3 && q.headsAreHere() {
		return
	}
	var wanted []store.Range
	if q.firstIsHere() && q.groups == nil && q.head >= headWindow>>q.shifted/4*3 { // the head of another lane is not
		wanted = q.wantedInOrder(readRanges, true)
	} else {
		q.evict()
		wanted = q.wanted()
	}
	if len(wanted) == 0 {
		if q.groups != nil {
			q.groups.unread = false
		}
		return
	}
	q.reading = true
	q.reads.Go(func() {
		r := refills.Get().(*refill)
		r.wanted = wanted
		r.err = q.opts.Log.ReadInto(&r.window, q.store, wanted, min(readBytes, headWindow>>q.shift()), r.buffer)
		if q.post(r) {
			q.Run()
		}
	})
}

// groupsFull reports whether no more messages of a queue with groups may be in memory.
func (q *Queue) groupsFull() bool { return q.head > groupWindow*headWindow>>q.shifted }

// groupsHalfFull reports whether half as many of them are.
func (q *Queue) groupsHalfFull() bool { return q.head > groupWindow/2*headWindow>>q.shifted }

// makeRoom takes the newest messages of a queue with groups out of memory, if it is full of them and those that could go are on disk; false: they are
// not.
func (q *Queue) makeRoom() bool {
	if !q.groups.missing() {
		return false
	}
	kept := 0
	for n, e, ok := q.window.NextFrom(0); ok; n, e, ok = q.window.NextFrom(n + 1) {
		if e.stored() && !e.tail && q.window.IsMarked(n) {
			if kept += e.size(); kept > groupWindow/2*headWindow>>q.shifted {
				q.sendAway(n, e)
			}
		}
	}
	return true
}

// watchesHead reports whether the first message has to be in memory though nobody waits for it, to see when its time is up; or as much of the head as
// may be, to see how long the queue is.
func (q *Queue) watchesHead() bool {
	return q.maybeTooBig() || (q.lifetimes.mortal() || q.lifetimes.unknown) && !q.headsAreHere() || q.headWanted && !q.firstIsHere()
}

// headsAreHere reports whether those messages are in memory that may have to be removed first: the first one, or that of each lane where lanes have
// heads of their own.
func (q *Queue) headsAreHere() bool {
	if !q.manyHeads() || !q.lifetimes.mortal() && !q.lifetimes.unknown {
		return q.firstIsHere()
	}
	here := true
	q.order.heads(func(n uint64) bool {
		here = q.window.At(n) != nil
		return here
	})
	return here
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
	numbers, most := uint64(0), uint64(readNumbers)
	if q.consumers.ready == 0 && len(q.gets) == 0 && !q.lifetimes.mortal() && !q.maybeTooBig() {
		most = 1 // just to see it
	}
	if q.order != nil && (q.groups == nil || !q.groups.asTheyCame()) {
		if q.overlooked { // nothing else, or it may be overlooked for ever
			most = 1
		}
		each := max(1, q.awayBytes/max(1, q.away.Len()))
		return q.wantedInOrder(min(int(most), readOrdered, max(1, readBytes/each)), false)
	}
	q.away.Each(0, func(r store.Range) bool {
		r.Last = min(r.Last, r.First+most-1-numbers)
		numbers += r.Last - r.First + 1
		wanted = append(wanted, r)
		return len(wanted) < readRanges && numbers < most
	})
	return wanted
}

// wantedInOrder is wanted for a queue with an order: the message to be served next, the first ones of each lane, then, unless these are all, others in
// order of service.
func (q *Queue) wantedInOrder(most int, heads bool) []store.Range {
	var numbers []uint64
	if n, ok := q.order.first(); ok && q.away.Has(n) {
		numbers = append(numbers, n)
	}
	q.order.heads(func(n uint64) bool {
		if len(numbers) < most && q.away.Has(n) {
			numbers = append(numbers, n)
		}
		return len(numbers) < most
	})
	q.order.each(func(r store.Range) bool {
		for n := r.First; n <= r.Last && len(numbers) < most && !heads; n++ {
			if q.away.Has(n) {
				numbers = append(numbers, n)
			}
		}
		return len(numbers) < most && !heads
	})
	slices.Sort(numbers)
	var wanted []store.Range
	for _, n := range slices.Compact(numbers) {
		if last := len(wanted) - 1; last >= 0 && wanted[last].Last+1 == n {
			wanted[last].Last = n
		} else {
			wanted = append(wanted, store.Range{First: n, Last: n})
		}
	}
	return wanted
}

// evict takes messages out of memory that the store has, in a queue with an order whose head is full of others than those to be served next.
func (q *Queue) evict() {
	if q.order == nil || q.groups != nil || q.head < headWindow>>q.shifted {
		return
	}
	for n, e, ok := q.window.NextFrom(0); ok && q.head > headWindow>>q.shifted/2; n, e, ok = q.window.NextFrom(n + 1) {
		if e.stored() && !e.tail && q.window.IsMarked(n) {
			q.sendAway(n, e)
		}
	}
}

// refill is what was read for the head. Many messages were read into the chunk of each part.
type refill struct {
	wanted []store.Range
	window store.Window
	chunks []*Chunk // of each part, nil if it has memory of its own
	err    error
}

// refills keep their lists from one read to the next.
var refills = sync.Pool{New: func() any { return new(refill) }}

// buffer returns memory for a part of what is read: a chunk as publishers use it, if the part fills one.
func (r *refill) buffer(size, messages int) []byte {
	if messages == 1 && size > MostInChunk && size <= MostOwned {
		k := NewOwned(size)
		r.chunks = append(r.chunks, k)
		return k.Bytes[:size]
	}
	if size <= ChunkSize/2 || size > ChunkSize || size/messages > MostInChunk {
		r.chunks = append(r.chunks, nil)
		return make([]byte, size)
	}
	k := NewChunk()
	r.chunks = append(r.chunks, k)
	return k.Bytes[:size]
}

// free makes r ready for the next read.
func (r *refill) free() {
	clear(r.window.Messages)
	clear(r.chunks)
	r.wanted, r.chunks, r.err = nil, r.chunks[:0], nil
	refills.Put(r)
}

func (r *refill) run(q *Queue) {
	q.reading = false
	defer r.free()
	if q.closed {
		return
	}
	if r.err != nil {
		q.broken = true
		q.untended.Store(true)
		q.refuseGets(r.err)
		return
	}
	messages := r.window.Messages
	for i, k := range r.chunks {
		for _, m := range messages[:r.window.Parts[i]] {
			if q.away.Remove(m.Seq) {
				q.counted.DiskReads++
				q.arrive(m, k)
			}
		}
		messages = messages[r.window.Parts[i]:]
		if k != nil {
			k.Retire()
		}
	}
	q.miss(r.wanted, r.window.Next)
	if q.groups != nil {
		q.groups.arrived(q)
	}
	q.overlooked = q.order != nil && q.groups == nil && !q.firstIsHere()
	if q.away.Len() == 0 {
		q.awayBytes, q.awayBodies, q.sureBodies = 0, 0, 0
		q.lifetimes.unknown = false
	}
}

// arrive puts a message that was read into the head; k is the chunk that it stands in, if it does in one.
func (q *Queue) arrive(m store.Message, k *Chunk) {
	e := entry{message: m.Body, logged: !m.Transient, spilled: m.Transient, redelivered: q.wasReturned(m.Seq)}
	if !e.message.Whole() {
		q.lose(m.Seq)
		return
	}
	switch {
	case k == nil:
	case len(e.message) > MostInChunk && !k.Owned():
		e.message = slices.Clone(e.message)
	default:
		e.chunk = k
		k.Hold(1)
	}
	if q.tagger != nil {
		e.tag = m.Tag
		if m.Tag == UnknownTag {
			e.tag = q.tagger(e.message, &Origin{})
		}
	}
	size := e.size()
	q.resize(e.message)
	q.awayBytes = max(0, q.awayBytes-size)
	q.awayBodies = max(0, q.awayBodies-int64(len(e.message.Body())))
	if !q.guessed(m.Seq, e.redelivered) {
		q.sureBodies = max(0, q.sureBodies-int64(len(e.message.Body())))
	}
	q.window.Put(m.Seq, e, true)
	q.weigh(&e, size)
	q.mark(e.message.Traits())
	q.noteDeadline(m.Seq, e.message)
}

// resize corrects the guess at the bodies of what a start found by the first message that is read: the store knows how large they are with all that
// stands around the body, which is much the same in the messages of one queue, and may be more than the body.
func (q *Queue) resize(m amqp.Message) {
	if q.unsized == 0 {
		return
	}
	around := len(m) - len(m.Body()) - amqp.MessageHeadSize
	q.awayBodies = max(0, q.awayBodies-int64(min(q.unsized, q.away.Len()+1)*around))
	q.unsized = 0
}

// miss gives up what was asked for, looked for and not found: it is damaged on disk, and the store has said so.
func (q *Queue) miss(wanted []store.Range, next uint64) {
	for _, r := range wanted {
		for n, ok := q.away.From(r.First); ok && n <= r.Last && n < next; n, ok = q.away.From(n + 1) {
			q.away.Remove(n)
			q.wasReturned(n)
			q.lose(n)
		}
	}
}

// lose gives a message up that can't be read.
func (q *Queue) lose(n uint64) {
	if q.order != nil {
		q.order.forget(n)
	}
	q.tell(n)
	q.counted.Damaged++
}

// serveGets answers who waits for the head of the queue, as far as that is there now.
func (q *Queue) serveGets() {
	for len(q.gets) > 0 && q.canGet() {
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
func Recover(opts Options, state store.QueueState, returned []store.Range) (*Queue, error) {
	q := build(opts)
	defer q.complete()
	q.obey()
	q.mailbox.next = max(q.mailbox.next, state.Next)
	q.next = q.mailbox.next
	q.doubtful = state.Delivered
	if q.delays != nil {
		q.keeper = keeper{done: q.next, due: q.next}
		return q, q.recoverDelays(state.Live)
	}
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
	q.awayBodies = max(0, int64(q.awayBytes-q.away.Len()*(entryOverhead+amqp.MessageHeadSize)))
	q.unsized = q.away.Len()
	q.lifetimes.unknown = q.away.Len() > 0
	q.untended.Store(q.lifetimes.unknown)
	q.keeper = keeper{done: q.next, due: q.next, recovered: q.next}
	q.recoverAttempts(state.Notes)
	err := q.sort()
	q.publishStats()
	return q, err
}

// complete ends that the queue is being made; what has come meanwhile is done on a goroutine.
func (q *Queue) complete() {
	m := &q.mailbox
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running = len(m.commands) > 0; m.running {
		go q.Run()
	}
}

// sort puts the messages that a start found on disk into the queue's order, by what the log's index knows of them.
func (q *Queue) sort() error {
	if q.order == nil {
		return nil
	}
	var found Set
	err := q.scanTags(firstRanges(&q.away, math.MaxUint64), func(n uint64, tag uint32) {
		q.order.add(n, tag)
		found.Add(n)
	})
	if err != nil {
		return err
	}
	if found.Len() < q.away.Len() {
		q.loseAllBut(&found)
	}
	if q.retries.set.Len() == 0 {
		return nil
	}
	tags := make(map[uint64]uint32)
	err = q.scanTags(firstRanges(&q.retries.set, math.MaxUint64), func(n uint64, tag uint32) { tags[n] = tag })
	q.sortRetries(tags)
	return err
}

// loseAllBut gives up messages that are away and have no place in the order, since they can't be read.
func (q *Queue) loseAllBut(found *Set) {
	for n, ok := q.away.From(0); ok; n, ok = q.away.From(n + 1) {
		if !found.Has(n) {
			q.away.Remove(n)
			q.unweighAway(n, q.wasReturned(n))
			q.lose(n)
		}
	}
	q.tellLog()
}

// scanTags tells the tags of live messages of the ranges. It waits for the disk.
func (q *Queue) scanTags(ranges []store.Range, each func(n uint64, tag uint32)) error {
	return q.scanPlaces(ranges, func(i store.Info) { each(i.Seq, i.Tag) })
}

// scanPlaces tells the tags and places of live messages of the ranges: the log's index has most of them, of the others the messages are read, and only
// the tags told. What can't be read is left out: nobody will ask for it again. It waits for the disk.
func (q *Queue) scanPlaces(ranges []store.Range, each func(i store.Info)) error {
	if len(ranges) == 0 {
		return nil
	}
	var unknown []store.Range
	err := q.opts.Log.Scan(q.store, ranges, func(i store.Info) bool {
		if i.Tag == UnknownTag {
			unknown = append(unknown, store.Range{First: i.Seq, Last: i.Seq})
		} else {
			each(i)
		}
		return true
	})
	for err == nil && len(unknown) > 0 {
		var w store.Window
		wanted := unknown[:min(len(unknown), readRanges)]
		if w, err = q.opts.Log.Read(q.store, wanted, readBytes); err != nil {
			break
		}
		for _, m := range w.Messages {
			if body := amqp.Message(m.Body); body.Whole() {
				each(store.Info{Seq: m.Seq, Tag: q.tagger(body, &Origin{})})
			}
		}
		read := len(from(slices.Clone(wanted), w.Next))
		unknown = unknown[len(wanted)-read:]
	}
	return err
}
