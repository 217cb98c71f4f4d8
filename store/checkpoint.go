package store

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// stepBytes is about how much one transaction of a checkpoint writes: a larger one would hold up declares that wait.
const stepBytes = 1 << 20

// step is what one transaction of a checkpoint writes; the values are copies, so no lock is held while it is written.
type step struct {
	puts    []put
	deletes []put // without a value
	notes   []noteChange
	size    int

	// What to make due again if the transaction fails.
	chunks []*chunk   // saved for the first time by this step
	live   []*chunk   // whose live state it has
	dead   []chunkKey // deleted
	lanes  []*lane    // whose next sequence it has
	gone   []uint64   // deleted queues
}

// put is one key of the root file.
type put struct{ bucket, key, value []byte }

// put and delete note a change; value and key must not change any more.
func (p *step) put(bucket, key, value []byte) {
	p.puts = append(p.puts, put{bucket, key, value})
	p.size += len(key) + len(value)
}

func (p *step) delete(bucket, key []byte) {
	p.deletes = append(p.deletes, put{bucket: bucket, key: key})
	p.size += len(key)
}

// deleteChunk deletes all that the root file has of a chunk.
func (p *step) deleteChunk(key []byte) {
	p.delete(bucketChunks, key)
	p.delete(bucketEntries, key)
	p.delete(bucketAcks, key)
	p.delete(bucketNotes, key)
}

// write is the step's part of a transaction. It may run twice, if the transaction it shared failed.
func (p *step) write(tx *bbolt.Tx) error {
	for _, w := range p.puts {
		if err := putValue(tx, w.bucket, w.key, w.value); err != nil {
			return err
		}
	}
	for _, w := range p.deletes {
		if err := deleteValue(tx, w.bucket, w.key); err != nil {
			return err
		}
	}
	for i := range p.notes {
		if err := p.notes[i].write(tx); err != nil {
			return err
		}
	}
	return nil
}

// checkpoint brings the root file up to the end of the last sealed segment: what those segments put into the index, and what was
// settled before it began; what changes meanwhile is for the next one, or it would never end while the broker is busy. It goes in steps; each may be
// there without the rest after a crash, because a chunk counts only once its segment is named, and what a step says of older chunks
// is also in the log that would be replayed. The position, which says what need not be replayed, comes with the last one. Only then
// may a segment go: its settlements concern older ones. The root file forgets the segments that are to be freed.
func (s *Disk) checkpoint(free []*segment) error {
	for _, seg := range free {
		if err := s.sweep(seg); err != nil {
			return err
		}
	}
	segments, pos := s.unsaved()
	todo := s.index.save(segments)
	for last := false; !last; s.hook("stepped") {
		var p *step
		p, last = s.index.nextStep(&todo)
		err := s.root.update(func(tx *bbolt.Tx) error {
			if err := p.write(tx); err != nil || !last {
				return err
			}
			return s.putPosition(tx, segments, free, pos)
		})
		if err != nil { // the steps before stay written: the next attempt names the segments
			s.index.undo(p, todo.changes)
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	s.counters.checkpoints.Add(1)
	s.index.saved(segments)
	s.hook("checkpointed")
	return nil
}

// putPosition names the segments that a checkpoint saved, forgets those that are to be freed, and says from where the log is replayed.
func (s *Disk) putPosition(tx *bbolt.Tx, segments, free []*segment, pos uint64) error {
	for _, seg := range segments {
		if err := putValue(tx, bucketSegments, uint64Key(seg.id), seg.encode()); err != nil {
			return err
		}
	}
	for _, seg := range free {
		if err := deleteValue(tx, bucketSegments, uint64Key(seg.id)); err != nil {
			return err
		}
	}
	if err := putNumber(tx, keySegment, s.pool.next()); err != nil {
		return err
	}
	return putNumber(tx, keyCheckpoint, pos)
}

// unsaved returns the sealed segments that no checkpoint has, and the position behind the last of them.
func (s *Disk) unsaved() (segments []*segment, pos uint64) {
	all := s.logSegments()
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	pos = s.checkpointed
	for _, seg := range all {
		if !seg.sealed {
			break // the one that is written
		}
		if !seg.saved {
			segments = append(segments, seg)
		}
		pos = max(pos, seg.end)
	}
	s.checkpointed = pos
	return segments, pos
}

// saveCursor is what a checkpoint has still to write.
type saveCursor struct {
	segments []*segment
	chunk    int // the next one of the first segment
	changes
}

// save begins a checkpoint that saves segments: all that changed is its to write, or to give back with undo.
func (x *index) save(segments []*segment) saveCursor {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := saveCursor{segments: segments, changes: x.due}
	x.due = changes{}
	return at
}

// nextStep takes what one transaction shall write, and says whether it is the last one.
func (x *index) nextStep(at *saveCursor) (p *step, last bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p = &step{}
	for len(at.segments) > 0 && p.size < stepBytes {
		seg := at.segments[0]
		if at.chunk == len(seg.chunks) {
			at.segments, at.chunk = at.segments[1:], 0
			continue
		}
		c := seg.chunks[at.chunk]
		at.chunk++
		if c.live == 0 || c.saved {
			continue
		}
		key := c.key().encode()
		p.put(bucketChunks, key, c.encodeSummary())
		p.put(bucketEntries, key, c.entries)
		if live := c.encodeLive(); live != nil {
			p.put(bucketAcks, key, live)
		}
		x.takeNotes(p, c)
		c.saved = true
		p.chunks = append(p.chunks, c)
	}
	x.stepAcks(at, p)
	x.stepNotes(at, p)
	x.stepLanes(at, p)
	return p, len(at.segments) == 0 && at.size() == 0
}

// stepAcks takes changes of the live state of saved chunks.
func (x *index) stepAcks(at *saveCursor, p *step) {
	for len(at.dirtyChunks) > 0 && p.size < stepBytes {
		c := pop(&at.dirtyChunks)
		c.dirty = false
		if c.live > 0 {
			p.put(bucketAcks, c.key().encode(), c.encodeLive())
			p.live = append(p.live, c)
		}
	}
	for len(at.deadChunks) > 0 && p.size < stepBytes {
		k := pop(&at.deadChunks)
		p.deleteChunk(k.encode())
		p.dead = append(p.dead, k)
	}
}

// stepLanes takes changes of the queues' next sequences.
func (x *index) stepLanes(at *saveCursor, p *step) {
	for len(at.dirtyLanes) > 0 && p.size < stepBytes {
		l := pop(&at.dirtyLanes)
		l.dirty = false
		if x.lanes[l.id] != l {
			continue // dropped
		}
		p.put(bucketQueues, uint64Key(l.id), binary.AppendUvarint(nil, l.next))
		l.saved = true
		p.lanes = append(p.lanes, l)
	}
	for len(at.deadLanes) > 0 && p.size < stepBytes {
		id := pop(&at.deadLanes)
		p.delete(bucketQueues, uint64Key(id))
		p.gone = append(p.gone, id)
	}
}

// pop takes the last element.
func pop[T any](list *[]T) T {
	n := len(*list) - 1
	v := (*list)[n]
	*list = (*list)[:n]
	return v
}

// undo makes a step that could not be written due again, and what was to come after it.
func (x *index) undo(p *step, rest changes) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.due.add(rest)
	for _, c := range p.chunks {
		c.saved = false
	}
	for _, c := range p.live {
		if !c.dirty {
			c.dirty = true
			x.due.dirtyChunks = append(x.due.dirtyChunks, c)
		}
	}
	x.due.deadChunks = append(x.due.deadChunks, p.dead...)
	for _, l := range p.lanes {
		if !l.dirty {
			l.dirty = true
			x.due.dirtyLanes = append(x.due.dirtyLanes, l)
		}
	}
	x.due.deadLanes = append(x.due.deadLanes, p.gone...)
	for _, n := range p.notes {
		x.undoNotes(n)
	}
}

// saved notes that a checkpoint has the segments: their entries need not stay in memory.
func (x *index) saved(segments []*segment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, seg := range segments {
		seg.saved = true
		alive := seg.chunks[:0]
		for _, c := range seg.chunks {
			if c.live > 0 {
				x.bytes -= int64(len(c.entries))
				c.entries = nil
				alive = append(alive, c)
			}
		}
		clear(seg.chunks[len(alive):])
		seg.chunks = alive
	}
}
