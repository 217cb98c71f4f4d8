package store

import (
	"slices"
	"sort"
	"sync"
)

// The index knows where the live messages of every queue stand. The committer alone changes it by what the log says, in the
// order of the log (and recovery does, with the same code); the keeper marks what a checkpoint saved. Readers look under the
// mutex and take copies.
//
// What is always true: the chunks of a queue are sorted by sequence and do not overlap; a chunk that is not the last of its queue
// has live messages; a segment's refs are the live messages of all its chunks; a chunk in memory without entries is saved, or has
// them in its spill file.
type index struct {
	mu      sync.Mutex
	applied LSN        // everything up to this batch is in the index
	moved   *sync.Cond // applied moved on, or the store ended
	ended   error      // nothing is applied any more
	lanes   map[uint64]*lane
	chunks  int   // number of chunks
	bytes   int64 // entries in memory

	due       changes // since the last checkpoint began
	noteBytes int     // of notes in memory

	scratch record
	last    *lane // of the last record: neighbours are often of one queue
}

// changes are what a checkpoint has to write, beside the chunks of the segments that it saves.
type changes struct {
	dirtyLanes  []*lane
	dirtyChunks []*chunk
	deadChunks  []chunkKey // saved once, not needed any more
	deadLanes   []uint64
	notedChunks []*chunk // saved ones with notes that are not
}

// size is the number of changes.
func (d *changes) size() int {
	return len(d.dirtyLanes) + len(d.dirtyChunks) + len(d.deadChunks) + len(d.deadLanes) + len(d.notedChunks)
}

// add puts other changes beside these.
func (d *changes) add(other changes) {
	d.dirtyLanes = append(d.dirtyLanes, other.dirtyLanes...)
	d.dirtyChunks = append(d.dirtyChunks, other.dirtyChunks...)
	d.deadChunks = append(d.deadChunks, other.deadChunks...)
	d.deadLanes = append(d.deadLanes, other.deadLanes...)
	d.notedChunks = append(d.notedChunks, other.notedChunks...)
}

// lane is one queue of the index.
type lane struct {
	id     uint64
	next   uint64   // above every sequence that was ever seen
	chunks []*chunk // of the log, in order of their sequences
	spill  []*chunk // of spilled messages, likewise
	dirty  bool     // next changed since the last checkpoint
	saved  bool     // the root file knows the queue

	stopped *place // where the last read stopped
}

// chunkKey names a chunk in the root file. The segment comes first, so that what one checkpoint writes stands together.
type chunkKey struct{ segment, queue, first uint64 }

// key is stable: a chunk keeps its segment and its first sequence for life.
func (c *chunk) key() chunkKey { return chunkKey{c.seg.id, c.queue, c.first} }

// newIndex returns an empty index.
func newIndex() *index {
	x := &index{lanes: map[uint64]*lane{}}
	x.moved = sync.NewCond(&x.mu)
	return x
}

// lane returns the lane of a queue, made if there is none.
func (x *index) lane(queue uint64) *lane {
	if x.last != nil && x.last.id == queue {
		return x.last
	}
	l := x.lanes[queue]
	if l == nil {
		l = &lane{id: queue, next: 1}
		x.lanes[queue] = l
	}
	x.last = l
	return l
}

// bump notes that the queue gave all sequences below next.
func (x *index) bump(l *lane, next uint64) {
	if next <= l.next {
		return
	}
	l.next = next
	if !l.dirty {
		l.dirty = true
		x.due.dirtyLanes = append(x.due.dirtyLanes, l)
	}
}

// publish adds a message to the queues of its pairs. A queue's sequences rise in the log; what does not is ignored.
func (x *index) publish(seg *segment, e entry, pairs []Pair) {
	share := int64(e.size) / max(1, int64(len(pairs)))
	for _, pair := range pairs {
		if pair.Seq == 0 {
			continue
		}
		l := x.lane(pair.Queue)
		if n := len(l.chunks); n > 0 && pair.Seq <= l.chunks[n-1].last {
			continue
		}
		e.seq = pair.Seq
		x.insert(&l.chunks, seg, l, e, share)
		x.bump(l, pair.Seq+1)
	}
}

// apply brings payloads of the log, which stand in a segment, into the index.
func (x *index) apply(seg *segment, group []*payload) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range group {
		if p.applied {
			continue
		}
		for i := range p.recs {
			r := &p.recs[i]
			if r.kind == recordPublish {
				e := entry{offset: seg.offset(p.pos + uint64(r.off)), size: r.size, body: r.body, tag: r.tag}
				x.publish(seg, e, p.pairs[r.pair:r.pair+r.pairs])
			} else if err := p.decode(r, &x.scratch); err == nil {
				x.change(&x.scratch)
			}
		}
		p.applied = true
		x.applied = p.lsn
	}
	x.moved.Broadcast()
}

// change applies a record that is no message.
func (x *index) change(r *record) {
	switch r.kind {
	case recordSettle:
		x.settle(r.queue, r.ranges, false)
	case recordDrop:
		x.drop(r.queue)
	case recordNote:
		x.annotate(r.queue, r.notes)
	}
}

// end says that nothing is applied any more, and why.
func (x *index) end(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended == nil {
		x.ended = err
	}
	x.moved.Broadcast()
}

// seal ends a segment, all of which is on disk, at a position.
func (x *index) seal(seg *segment, end uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	seg.sealed, seg.end = true, end
}

// insert adds an entry to the last chunk of a list, or opens another one.
func (x *index) insert(list *[]*chunk, seg *segment, l *lane, e entry, share int64) *chunk {
	var c *chunk
	if n := len(*list); n > 0 {
		c = (*list)[n-1]
		if c.n == 0 && c.seg != seg { // died while it was open, and its segment is full
			*list = (*list)[:n-1]
			x.chunks--
			c = nil
		} else if c.seg != seg || c.saved || c.n > 0 && !c.fits(e.seq) {
			c = nil
		}
	}
	if c == nil {
		c = &chunk{seg: seg, queue: l.id}
		*list = append(*list, c)
		seg.chunks = append(seg.chunks, c)
		x.chunks++
	}
	before := len(c.entries)
	c.add(e, share)
	x.bytes += int64(len(c.entries) - before)
	seg.refs++
	seg.disk += share
	return c
}

// settle makes messages dead, in the log's chunks or in the spilled ones.
func (x *index) settle(queue uint64, ranges []Range, spilled bool) {
	l := x.lane(queue)
	list := &l.chunks
	if spilled {
		list = &l.spill
	}
	for _, r := range ranges {
		if r.Last < r.First {
			continue
		}
		if !spilled && r.Last+1 != 0 {
			x.bump(l, r.Last+1)
		}
		from := firstChunk(*list, r.First)
		to, died := from, false
		for ; to < len(*list) && (*list)[to].first <= r.Last; to++ {
			died = x.settleChunk((*list)[to], r) || died
		}
		if died {
			x.removeDead(list, from, to)
		}
	}
}

// firstChunk is the index of the first chunk that reaches up to seq.
func firstChunk(list []*chunk, seq uint64) int {
	if len(list) > 0 && list[0].last >= seq { // the usual case: the head
		return 0
	}
	return sort.Search(len(list), func(i int) bool { return list[i].last >= seq })
}

// settleChunk says whether the chunk died by it.
func (x *index) settleChunk(c *chunk, r Range) bool {
	diskBefore := c.liveDisk()
	n := c.settle(r)
	if n == 0 {
		return false
	}
	c.seg.refs -= n
	c.seg.disk += c.liveDisk() - diskBefore
	c.seg.touched = true
	if c.live > 0 && c.saved && !c.dirty {
		c.dirty = true
		x.due.dirtyChunks = append(x.due.dirtyChunks, c)
	}
	return c.live == 0
}

// removeDead takes the dead chunks out of list[from:to]. An open chunk that died stays as an empty one, to be filled again.
func (x *index) removeDead(list *[]*chunk, from, to int) {
	all := *list
	keep := all[from:from]
	for i, c := range all[from:to] {
		switch {
		case c.live > 0:
			keep = append(keep, c)
		case from+i == len(all)-1 && c.open():
			x.bytes -= int64(len(c.entries))
			x.noteBytes -= len(c.notes)
			*c = chunk{seg: c.seg, queue: c.queue, entries: c.entries[:0], last: c.last}
			keep = append(keep, c)
		default:
			x.bury(c)
		}
	}
	if from == 0 && len(keep) == 0 {
		clear(all[:to])
		*list = all[to:]
		return
	}
	*list = slices.Delete(all, from+len(keep), to)
}

// open says whether entries may still be added to the chunk.
func (c *chunk) open() bool { return !c.saved && !c.seg.sealed }

// bury forgets a chunk that died.
func (x *index) bury(c *chunk) {
	if c.saved {
		x.due.deadChunks = append(x.due.deadChunks, c.key())
	}
	x.bytes -= int64(len(c.entries))
	x.chunks--
	x.noteBytes -= len(c.notes)
	c.live, c.entries, c.notes = 0, nil, nil
}

// drop forgets a queue.
func (x *index) drop(queue uint64) {
	l := x.lanes[queue]
	if l == nil {
		return
	}
	for _, c := range slices.Concat(l.chunks, l.spill) {
		c.seg.refs -= c.live
		c.seg.disk -= c.liveDisk()
		c.seg.touched = true
		x.bury(c)
	}
	if l.saved {
		x.due.deadLanes = append(x.due.deadLanes, queue)
	}
	l.chunks, l.spill, l.next = nil, nil, 0
	delete(x.lanes, queue)
	x.last = nil
}

// state is the summary of a lane for its queue.
func (l *lane) state(clean bool) QueueState {
	q := QueueState{ID: l.id, Next: l.next}
	if !clean {
		q.Delivered = l.next
	}
	for _, c := range l.chunks {
		if c.live == 0 {
			continue
		}
		q.Live = c.ranges(q.Live)
		q.Messages += uint64(c.live)
		q.Bytes += uint64(c.liveBytes())
	}
	return q
}
