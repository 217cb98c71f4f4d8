package queue

import (
	"slices"

	"leveret/store"
)

// splitNumbers is about how many messages of a slot the store is asked for at once.
const splitNumbers = 64 << 10

// splitUp is a slot of the timeline while the store is asked when exactly its messages are due. The set does not change meanwhile: two goroutines
// look at it.
type splitUp struct {
	timeline        // of those that were found
	set      *Set   // all messages of the slot
	promised int    // bytes of messages that there is room for
	room     int    // what is left of that: bytes of messages that are to be read, since they are due soon
	read     []soon // these, in order
	err      error

	gone Set // those that were dropped meanwhile; owned by whoever runs the queue
}

// soon is a message that was read because it is due soon.
type soon struct {
	n uint64
	entry
}

// split puts the messages of a slot into those of lower levels: at once those in memory, and those that the store has when it has told when they
// are due. Those that are due soon are read with that, in the order in which the log has them, as far as there is room.
func (q *Queue) split(slot *Set, soon bool) {
	d := q.delays
	if q.splitHere(slot); slot.Len() == 0 {
		return
	}
	s := &splitUp{set: slot}
	s.unit = d.unit
	if soon {
		s.room = max(0, q.soonRoom())
	}
	s.promised = s.room
	d.split += s.promised
	d.splits = append(d.splits, s)
	q.reads.Go(func() {
		s.err = s.look(q)
		if q.post(s) {
			q.Run()
		}
	})
}

// splitHere is split for those messages that are in memory.
func (q *Queue) splitHere(slot *Set) {
	d := q.delays
	if q.window.Len() == 0 && len(d.soon) == 0 {
		return
	}
	var here []uint64
	slot.Each(0, func(r store.Range) bool {
		for n, e, ok := q.window.NextFrom(r.First); ok && n <= r.Last; n, e, ok = q.window.NextFrom(n + 1) {
			d.add(n, e.tag)
			here = append(here, n)
		}
		return true
	})
	for n, e := range d.soon {
		if slot.Has(n) {
			d.add(n, e.tag)
			here = append(here, n)
		}
	}
	for _, n := range here {
		slot.Remove(n)
	}
}

// look asks the store. It waits for the disk.
func (s *splitUp) look(q *Queue) error {
	for from := uint64(0); ; {
		wanted := rangesFrom(s.set, from, splitNumbers)
		if len(wanted) == 0 {
			return nil
		}
		from = wanted[len(wanted)-1].Last + 1
		if s.room <= 0 {
			if err := q.scanTags(wanted, s.add); err != nil {
				return err
			}
			continue
		}
		next, err := s.readSome(q, wanted)
		if err != nil {
			return err
		}
		from = min(from, next)
	}
}

// readSome reads messages, as far as there is room, and returns the first number that it did not look at.
func (s *splitUp) readSome(q *Queue, wanted []store.Range) (next uint64, err error) {
	var w store.Window
	var p packing
	if err := q.opts.Log.ReadInto(&w, q.store, wanted, s.room, p.buffer); err != nil {
		return 0, err
	}
	messages := w.Messages
	for i, k := range p.chunks {
		for _, m := range messages[:w.Parts[i]] {
			s.take(q, m, k)
		}
		messages = messages[w.Parts[i]:]
	}
	p.retire()
	return w.Next, nil
}

// take keeps a message that was read; k is the chunk that it stands in, if it does in one.
func (s *splitUp) take(q *Queue, m store.Message, k *Chunk) {
	e := entry{message: m.Body, chunk: k, tag: m.Tag, logged: !m.Transient, spilled: m.Transient}
	if !e.message.Whole() {
		return // as if it were not there
	}
	if e.tag == UnknownTag {
		e.tag = q.tagger(e.message, &Origin{})
	}
	if k != nil {
		k.Hold(1)
	}
	s.room -= e.size()
	s.read = append(s.read, soon{m.Seq, e})
	s.add(m.Seq, e.tag)
}

// packing is chunks that are filled with what is read, however scattered that was.
type packing struct {
	chunks []*Chunk // of each part that was read, nil if it has memory of its own
	last   *Chunk
}

// buffer returns memory for a part of what is read.
func (p *packing) buffer(size, messages int) []byte {
	if size/messages > MostInChunk || size > ChunkSize {
		p.chunks = append(p.chunks, nil)
		return make([]byte, size)
	}
	if p.last == nil || ChunkSize-len(p.last.Bytes) < size {
		p.last = NewChunk()
	}
	k := p.last
	start := len(k.Bytes)
	k.Bytes = k.Bytes[:start+size]
	p.chunks = append(p.chunks, k)
	return k.Bytes[start : start+size : start+size]
}

// retire says that nothing more comes into the chunks.
func (p *packing) retire() {
	var last *Chunk
	for _, k := range p.chunks {
		if k != nil && k != last {
			k.Retire()
			last = k
		}
	}
}

func (s *splitUp) run(q *Queue) {
	d := q.delays
	if q.closed || q.stopped {
		return
	}
	at := slices.Index(d.splits, s)
	if at < 0 {
		return // a purge has dropped them all
	}
	d.splits = slices.Delete(d.splits, at, at+1)
	d.split -= s.promised
	d.unit = uint32(q.now() >> unitBits)
	if s.err != nil { // they are not lost: this is tried again
		s.each(func(r store.Range) bool {
			before := d.set(1, (d.unit+2*leadUnits)>>levelBits)
			d.count -= before.Len()
			before.AddRange(r)
			d.count += before.Len()
			return true
		})
		return
	}
	s.gone.Each(0, func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			s.timeline.remove(n)
		}
		return true
	})
	q.loseUnfound(s)
	d.merge(&s.timeline)
	for i := range s.read {
		m := &s.read[i]
		if s.gone.Has(m.n) {
			q.releases.add(m.chunk)
			continue
		}
		q.keepSoon(m.n, m.entry)
	}
	q.delaysDue()
}

// loseUnfound gives up those that the store does not have, or not so that they can be read.
func (q *Queue) loseUnfound(s *splitUp) {
	if s.count == s.left() {
		return
	}
	var found Set
	s.timeline.each(func(some *Set) {
		some.Each(0, func(r store.Range) bool {
			found.AddRange(r)
			return true
		})
	})
	s.each(func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			if !found.Has(n) {
				q.lose(n)
			}
		}
		return true
	})
}

// left is how many of the messages still wait.
func (s *splitUp) left() int { return s.set.Len() - s.gone.Len() }

// each calls each for the messages that still wait.
func (s *splitUp) each(each func(store.Range) bool) {
	s.set.Each(0, func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			if !s.gone.Has(n) && !each(store.Range{First: n, Last: n}) {
				return false
			}
		}
		return true
	})
}

// from is the first message not below n that still waits.
func (s *splitUp) from(n uint64) (first uint64, ok bool) {
	for first, ok = s.set.From(n); ok && s.gone.Has(first); first, ok = s.set.From(first + 1) {
	}
	return first, ok
}

// remove takes a message out; false: it is not there.
func (s *splitUp) remove(n uint64) bool {
	if !s.set.Has(n) || s.gone.Has(n) {
		return false
	}
	s.gone.Add(n)
	return true
}
