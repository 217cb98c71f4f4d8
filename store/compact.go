package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// survivorPart is the part of a segment's size up to which a record moves into the root file (1 MiB of 32). A segment with a
	// larger one stays where it is, and its dead parts are punched out.
	survivorPart = 32
	// punchUnit is the size to which holes are aligned.
	punchUnit = 4096
)

// The cost of moving is bounded: at a threshold of a quarter, at most a third of a byte is written for each byte of log that it
// frees (a body in bbolt takes about 1.35 of its size). A dense backlog stays where it is. What moves when is for sparse to say.
//
// compact takes what is left alive in sparse segments out of them, so that a few messages that stay do not hold the whole log.
func (s *Disk) compact() error {
	s.warn("free spill", s.spill.free())
	for _, seg := range s.index.stuck(s.spill.all(), s.options.RelocateThreshold) {
		s.warn("thin spill", s.spill.thin(seg))
	}
	for _, seg := range s.touched() {
		if err := s.sweep(seg); err != nil {
			return err
		}
	}
	for _, seg := range s.sparse(time.Now()) {
		if err := s.relocate(seg); err != nil {
			return fmt.Errorf("relocate segment %d: %w", seg.id, err)
		}
	}
	return nil
}

// touched returns the moved segments of which something was settled.
func (s *Disk) touched() (list []*segment) {
	all := s.logSegments()
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	for _, seg := range all {
		if seg.moved && seg.touched {
			seg.touched = false
			list = append(list, seg)
		}
	}
	return list
}

// survivors are the live entries of one chunk.
type survivors struct {
	chunk   *chunk
	key     chunkKey
	entries []entry
	packed  chunk // only what is live, packed again
}

// survivors collects the live entries of a segment that a checkpoint has.
func (s *Disk) survivors(seg *segment) (list []survivors, err error) {
	s.index.mu.Lock()
	seg.chunks = slices.DeleteFunc(seg.chunks, func(c *chunk) bool { return c.live == 0 })
	chunks, views := slices.Clone(seg.chunks), make([]chunk, len(seg.chunks))
	for i, c := range chunks {
		views[i] = *c
		views[i].bits = slices.Clone(c.bits)
	}
	s.index.mu.Unlock()
	for i, v := range views {
		entries, err := s.entriesOf(v, nil)
		if err != nil {
			return nil, err
		}
		sv := survivors{chunk: chunks[i], key: v.key()}
		sv.packed = chunk{first: v.first, last: v.first, floor: v.floor, bits: v.bits}
		unpack(entries, v.first, func(e entry) bool {
			if v.alive(e.seq) {
				sv.entries = append(sv.entries, e)
				sv.packed.pack(e)
				sv.packed.n++
				sv.packed.bytes += int64(e.body)
			}
			return true
		})
		sv.packed.last, sv.packed.disk = v.last, share(v.disk, sv.packed.n, v.n)
		list = append(list, sv)
	}
	return list, nil
}

// relocate moves the survivors of a segment into the root file and gives the segment's file up. The bodies come first; a crash in
// between leaves them there unused, until the segment is moved again.
func (s *Disk) relocate(seg *segment) error {
	list, err := s.survivors(seg)
	if err != nil {
		return err
	}
	found := recordsOf(seg, list)
	if slices.ContainsFunc(found, func(m location) bool { return int64(m.size) > s.options.SegmentSize/survivorPart }) {
		s.notMoved(seg) // or large messages, of which a segment is soon full, would leave dead ones faster than these are punched out
		return s.punch(seg, found)
	}
	for len(found) > 0 {
		n, err := s.moveBodies(found)
		if err != nil {
			return err
		}
		found = found[n:]
	}
	s.hook("bodies moved")
	if err := s.moveChunks(seg, list); err != nil {
		return err
	}
	s.index.relocated(seg, list)
	s.hook("relocated")
	if f := seg.detach(); f != nil {
		if seg.punched || seg.failed {
			s.warn("free segment", errors.Join(f.Close(), s.files.remove(segmentName(seg.id))))
		} else {
			s.warn("free segment", s.pool.recycle(seg.id, seg.size, f))
		}
	}
	return nil
}

// recordsOf returns each record that survivors stand in once, in the order of the file.
func recordsOf(seg *segment, list []survivors) (found []location) {
	for _, sv := range list {
		for _, e := range sv.entries {
			found = append(found, location{e, seg})
		}
	}
	slices.SortFunc(found, func(a, b location) int { return cmp.Compare(a.offset, b.offset) })
	return slices.CompactFunc(found, func(a, b location) bool { return a.offset == b.offset })
}

// moveBodies copies records from the front into the root file, as many as one transaction shall take. A damaged one stays behind:
// it is reported when somebody wants it.
func (s *Disk) moveBodies(found []location) (n int, err error) {
	p := &step{}
	for n < len(found) && p.size < stepBytes {
		m := run(found[n:])
		s.copyRun(found[n:n+m], p)
		n += m
	}
	if p.size == 0 {
		return n, nil
	}
	s.counters.relocated.Add(uint64(p.size))
	return n, s.root.update(p.write)
}

// run is the number of locations from the front that one read of the file takes.
func run(found []location) int {
	n, first, end := 1, found[0].offset, found[0].offset+int64(found[0].size)
	for ; n < len(found); n++ {
		m := &found[n]
		if m.seg != found[0].seg || m.offset < end || m.offset-end > readGap || m.offset+int64(m.size)-first > readAhead {
			break
		}
		end = m.offset + int64(m.size)
	}
	return n
}

// copyRun reads neighbours with one call and puts them into the step.
func (s *Disk) copyRun(found []location, p *step) {
	seg, first := found[0].seg, found[0].offset
	last := found[len(found)-1]
	buf := make([]byte, last.offset+int64(last.size)-first)
	if err := seg.readAt(buf, first); err != nil {
		if len(found) > 1 {
			for i := range found {
				s.copyRun(found[i:i+1], p)
			}
			return
		}
		s.logger.Error("message can't be read", "segment", seg.id, "offset", first, "error", err)
		return
	}
	for _, m := range found {
		record := buf[m.offset-first:][:m.size]
		pos := seg.position(m.offset)
		if checkRecord(record, pos) != m.size {
			s.logger.Error("message is damaged", "segment", seg.id, "offset", m.offset)
			continue
		}
		p.put(bucketBodies, uint64Key(pos), record)
	}
}

// moveChunks replaces the entries of the segment's chunks by those of the survivors, and at last says that they moved.
func (s *Disk) moveChunks(seg *segment, list []survivors) error {
	p := &step{}
	for _, sv := range list {
		key := sv.key.encode()
		p.put(bucketChunks, key, sv.packed.encodeSummary())
		p.put(bucketEntries, key, sv.packed.entries)
		if live := sv.packed.encodeLive(); live != nil { // the number of entries fits this state and no older one
			p.put(bucketAcks, key, live)
		}
		if p.size > stepBytes {
			if err := s.root.update(p.write); err != nil {
				return err
			}
			p = &step{}
		}
	}
	moved := segment{pos: seg.pos, end: seg.end, size: seg.size, moved: true}
	p.put(bucketSegments, uint64Key(seg.id), moved.encode())
	return s.root.update(p.write)
}

// relocated notes that the segment's survivors are in the root file.
func (x *index) relocated(seg *segment, list []survivors) {
	x.mu.Lock()
	defer x.mu.Unlock()
	seg.moved = true
	for _, sv := range list {
		c := sv.chunk
		if c.live == 0 {
			// It died meanwhile, and its keys were written again: they are to go once more.
			x.due.deadChunks = append(x.due.deadChunks, sv.key)
			continue
		}
		seg.disk -= c.liveDisk()
		c.n, c.bytes, c.disk = sv.packed.n, sv.packed.bytes, sv.packed.disk
		seg.disk += c.liveDisk()
	}
}

// punch gives back the dead parts of a segment's file.
func (s *Disk) punch(seg *segment, found []location) error {
	punched := segment{pos: seg.pos, end: seg.end, size: seg.size, punched: true}
	if !seg.punched {
		err := s.root.update(func(tx *bbolt.Tx) error {
			return putValue(tx, bucketSegments, uint64Key(seg.id), punched.encode())
		})
		if err != nil {
			return err
		}
		s.index.mu.Lock()
		seg.punched = true
		s.index.mu.Unlock()
	}
	s.giveBack(seg, found)
	return nil
}

// giveBack punches holes between what is found, in order.
func (s *Disk) giveBack(seg *segment, found []location) {
	from := int64(segmentHead)
	found = append(found, location{entry: entry{offset: seg.size}})
	for _, m := range found {
		if first, end := (from+punchUnit-1)/punchUnit*punchUnit, m.offset/punchUnit*punchUnit; end > first {
			if err := seg.file.punch(first, end-first); err != nil {
				s.warn("give back part of a segment", err)
				return
			}
		}
		from = m.offset + int64(m.size)
	}
}

// sweep deletes the bodies of a moved segment that nobody needs any more.
func (s *Disk) sweep(seg *segment) error {
	if !seg.moved {
		return nil
	}
	list, err := s.survivors(seg)
	if err != nil {
		return err
	}
	live := map[uint64]bool{}
	for _, m := range recordsOf(seg, list) {
		live[seg.position(m.offset)] = true
	}
	from := uint64Key(seg.pos)
	for from != nil {
		p := &step{}
		if from, err = s.deadBodies(seg, from, live, p); err != nil {
			return err
		}
		if err := s.root.update(p.write); err != nil {
			return err
		}
	}
	return nil
}

// deadBodies collects the deletions of one transaction and returns the key to go on at, nil at the end.
func (s *Disk) deadBodies(seg *segment, from []byte, live map[uint64]bool, p *step) (next []byte, err error) {
	err = s.root.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketBodies).Cursor()
		freed := 0
		for k, v := c.Seek(from); k != nil; k, v = c.Next() {
			pos := keyUint64(k)
			if pos >= seg.end {
				return nil
			}
			if freed > stepBytes {
				next = slices.Clone(k)
				return nil
			}
			if !live[pos] {
				p.delete(bucketBodies, slices.Clone(k))
				freed += len(v)
			}
		}
		return nil
	})
	return next, err
}
