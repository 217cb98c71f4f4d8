package store

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
)

// spill holds transient messages that memory has no room for, in files that are never synced and that a start removes. They are
// indexed like those of the log, in chunks of their own; a file that is full gets the entries of its chunks at its end.
type spill struct {
	s *Disk

	mu    sync.Mutex // one writer at a time
	seg   *segment   // nil when there is none with room
	end   int64      // where the next record goes
	batch Batch

	listMu   sync.Mutex
	segments []*segment // all, the one that is written too
}

// Spill implements Store.
func (s *Disk) Spill(queue uint64, messages []Message) error {
	sp := &s.spill
	sp.mu.Lock()
	defer sp.mu.Unlock()
	for len(messages) > 0 {
		n, size := 0, 0
		for n < len(messages) && size < s.options.BatchSize {
			sp.batch.Publish(messages[n].Body, messages[n].Tag)
			size += len(messages[n].Body)
			n++
		}
		p := sp.batch.take()
		sp.batch.forget()
		if err := sp.write(queue, messages[:n], p); err != nil {
			return err
		}
		p.release()
		messages = messages[n:]
	}
	return nil
}

// write puts records into a file and into the index.
func (sp *spill) write(queue uint64, messages []Message, p *payload) error {
	size := int64(p.length())
	if sp.seg != nil && sp.end+size > sp.seg.size {
		if err := sp.seal(); err != nil {
			return err
		}
	}
	if sp.seg == nil {
		if err := sp.begin(size); err != nil {
			return err
		}
	}
	p.place(sp.seg.position(sp.end))
	var parts [][]byte
	p.parts(func(part []byte) { parts = append(parts, part) })
	if err := sp.seg.file.write(parts, sp.end); err != nil {
		return diskError(err)
	}
	sp.s.index.spillIn(queue, sp.seg, sp.end, messages, p)
	sp.end += size
	return nil
}

// begin opens another file.
func (sp *spill) begin(size int64) error {
	id := sp.s.pool.newID()
	size = max(sp.s.options.SegmentSize, size+segmentHead)
	f, err := sp.s.files.create(spillName(id), size)
	if err != nil {
		return diskError(err)
	}
	sp.seg, sp.end = &segment{id: id, size: size, file: f, spilled: true}, segmentHead
	sp.listMu.Lock()
	sp.segments = append(sp.segments, sp.seg)
	sp.listMu.Unlock()
	return nil
}

// seal writes the index of a full file to its end and drops it from memory.
func (sp *spill) seal() error {
	seg := sp.seg
	for _, v := range sp.s.index.unwritten(seg) {
		if err := seg.file.write([][]byte{v.entries}, sp.end); err != nil {
			return diskError(err)
		}
		sp.s.index.spillOut(v.chunk, sp.end)
		sp.end += int64(len(v.entries))
	}
	sp.s.index.seal(seg, seg.position(sp.end))
	sp.seg = nil
	sp.s.wakeKeeper()
	return nil
}

// all returns the files.
func (sp *spill) all() []*segment {
	sp.listMu.Lock()
	defer sp.listMu.Unlock()
	return slices.Clone(sp.segments)
}

// free removes full files without a live message; called by the keeper.
func (sp *spill) free() error {
	var err error
	for _, seg := range sp.all() {
		if !sp.s.index.unneeded(seg) {
			continue
		}
		sp.listMu.Lock()
		sp.segments = slices.DeleteFunc(sp.segments, func(other *segment) bool { return other == seg })
		sp.listMu.Unlock()
		err = errors.Join(err, seg.detach().Close(), sp.s.files.remove(spillName(seg.id)))
	}
	return err
}

// stuck returns full files of which little is left that nobody has touched since the keeper's last look: what is left may stay for long.
func (x *index) stuck(segments []*segment, threshold float64) (list []*segment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, seg := range segments {
		touched := seg.touched
		if seg.touched = false; touched {
			seg.punched = false
			continue
		}
		if seg.sealed && !seg.punched && seg.refs > 0 && float64(seg.disk) <= threshold*float64(seg.size) {
			seg.punched = true
			list = append(list, seg)
		}
	}
	return list
}

// thin gives back the space between what is left in a file.
func (sp *spill) thin(seg *segment) error {
	list, err := sp.s.survivors(seg)
	if err != nil {
		return err
	}
	found := recordsOf(seg, list)
	for _, sv := range list {
		found = append(found, location{entry{offset: sv.chunk.at, size: sv.chunk.size}, seg}) // the index, which does not move any more
	}
	slices.SortFunc(found, func(a, b location) int { return cmp.Compare(a.offset, b.offset) })
	sp.s.giveBack(seg, found)
	return nil
}

// clear removes what an earlier run, or this one, left.
func (sp *spill) clear() error {
	names, err := sp.s.files.list()
	for _, name := range names {
		if strings.HasSuffix(name, spillSuffix) {
			err = errors.Join(err, removeQuietly(sp.s.files, name))
		}
	}
	return err
}

// Discard implements Store.
func (s *Disk) Discard(queue uint64, ranges []Range) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	if s.index.lanes[queue] != nil {
		s.index.settle(queue, ranges, true)
	}
}

// spillIn adds spilled messages whose records stand one after another from an offset on.
func (x *index) spillIn(queue uint64, seg *segment, offset int64, messages []Message, p *payload) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.lane(queue)
	for i := range p.recs {
		r := &p.recs[i]
		e := entry{seq: messages[i].Seq, offset: offset + int64(r.off), size: r.size, body: r.body, tag: r.tag}
		x.insert(&l.spill, seg, l, e, int64(r.size))
	}
}

// packed is a chunk and a copy of its entries.
type packed struct {
	chunk   *chunk
	entries []byte
}

// unwritten returns the live chunks of a segment that nothing is added to any more.
func (x *index) unwritten(seg *segment) (list []packed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range seg.chunks {
		if c.live > 0 {
			list = append(list, packed{c, slices.Clone(c.entries)})
		}
	}
	return list
}

// spillOut notes that a chunk's entries stand in its file.
func (x *index) spillOut(c *chunk, at int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.live > 0 {
		c.at, c.size = at, len(c.entries)
		x.bytes -= int64(len(c.entries))
		c.entries = nil
	}
}

// unneeded says whether a segment is full and without a live message.
func (x *index) unneeded(seg *segment) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return seg.sealed && seg.refs == 0
}
