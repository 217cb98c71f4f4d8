package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// Notes are kept with the chunk of their messages, so that they go with it. Packed they are, one after another,
//
//	seq - first of the chunk | length, data
//
// and of several for one message the last one counts: a new note is appended, and now and then the old ones are dropped. In memory is
// what no checkpoint has; it is joined with what the root file has when it is saved. Nobody reads notes before the next start.

// MaxNote is the most bytes that the data of a Note may have.
const MaxNote = 32

// noteLimit is how many bytes of notes for saved chunks may wait for a checkpoint before they make one due.
const noteLimit = 4 << 20

// checkNotes ends the program of a caller that does not heed the limit.
func checkNotes(notes []Note) {
	for _, n := range notes {
		if len(n.Data) > MaxNote {
			panic(fmt.Sprintf("BUG: a note of %d bytes, the most is %d", len(n.Data), MaxNote))
		}
	}
}

// Annotate implements Store.
func (s *Disk) Annotate(queue uint64, notes []Note) {
	checkNotes(notes)
	if len(notes) > 0 {
		s.log.lazily(recordNote, func(p *payload) { p.appendNotes(queue, notes) })
	}
}

// appendNotes writes the fields of notes into the open record.
func (p *payload) appendNotes(queue uint64, notes []Note) {
	p.appendQueue(queue)
	p.buf = binary.AppendUvarint(p.buf, uint64(len(notes)))
	for _, n := range notes {
		p.buf = packNote(p.buf, n.Seq, n.Data)
	}
}

// packNote appends the packed form of a note.
func packNote(b []byte, seq uint64, data []byte) []byte {
	b = binary.AppendUvarint(b, seq)
	return append(append(b, byte(len(data))), data...)
}

// note reads one note; its data aliases the input.
func (c *cursor) note() (n Note) {
	n.Seq = c.uvarint()
	if n.Data = c.bytes(uint64(c.byte())); len(n.Data) > MaxNote {
		c.short = true
	}
	return n
}

// notes appends the notes of a record.
func (c *cursor) notes(notes []Note) []Note {
	n := c.uvarint()
	if n > uint64(len(c.src))/2 { // a sequence and a length take a byte each at least
		c.short = c.short || n > 0
		return notes
	}
	for range n {
		notes = append(notes, c.note())
	}
	return notes
}

// latestNotes unpacks notes, with sequences as they are packed: the last one of each that keep wants, in order.
func latestNotes(packed []byte, keep func(seq uint64) bool) (notes []Note) {
	for c := (cursor{src: packed}); len(c.src) > 0; {
		if n := c.note(); !c.short && keep(n.Seq) {
			notes = append(notes, n)
		}
	}
	slices.SortStableFunc(notes, func(a, b Note) int { return cmp.Compare(a.Seq, b.Seq) })
	last := notes[:0]
	for i, n := range notes {
		if i+1 == len(notes) || notes[i+1].Seq != n.Seq {
			last = append(last, n)
		}
	}
	return last
}

// repackNotes returns packed notes without those that later ones replace, and those of messages that keep does not want.
func repackNotes(packed []byte, keep func(seq uint64) bool) (b []byte) {
	for _, n := range latestNotes(packed, keep) {
		b = packNote(b, n.Seq, n.Data)
	}
	return b
}

// aliveAt says whether the message at a distance from the chunk's first is there and live.
func (c *chunk) aliveAt(distance uint64) bool {
	return distance <= c.last-c.first && c.alive(c.first+distance)
}

// annotate adds a note. What earlier ones take is used again before more memory is.
func (c *chunk) annotate(n Note) {
	const overhead = 5
	if len(c.notes)+overhead+len(n.Data) > cap(c.notes) {
		kept := repackNotes(c.notes, c.aliveAt)
		c.notes = append(make([]byte, 0, 2*(len(kept)+overhead+len(n.Data))), kept...)
	}
	c.notes = packNote(c.notes, n.Seq-c.first, n.Data)
}

// annotate keeps notes for messages that are there and live.
func (x *index) annotate(queue uint64, notes []Note) {
	l := x.lanes[queue]
	if l == nil {
		return
	}
	for _, n := range notes {
		i := firstChunk(l.chunks, n.Seq)
		if i == len(l.chunks) {
			continue
		}
		c := l.chunks[i]
		if c.live == 0 || n.Seq < c.first || !c.alive(n.Seq) {
			continue
		}
		if c.saved && len(c.notes) == 0 {
			x.due.notedChunks = append(x.due.notedChunks, c)
		}
		before := len(c.notes)
		c.annotate(n)
		x.noteBytes += len(c.notes) - before
	}
}

// noteChange is what a step adds to the notes of one chunk.
type noteChange struct {
	chunk *chunk
	view  chunk // as it was then
	added []byte
}

// stepNotes takes the notes of saved chunks.
func (x *index) stepNotes(at *saveCursor, p *step) {
	for len(at.notedChunks) > 0 && p.size < stepBytes {
		x.takeNotes(p, pop(&at.notedChunks))
	}
}

// takeNotes takes the notes that a chunk has in memory, if it has any.
func (x *index) takeNotes(p *step, c *chunk) {
	if len(c.notes) == 0 {
		return
	}
	view := *c
	view.bits = slices.Clone(c.bits)
	p.notes = append(p.notes, noteChange{chunk: c, view: view, added: c.notes})
	p.size += len(c.notes) + c.noted
	x.noteBytes -= len(c.notes)
	c.noted += len(c.notes)
	c.notes = nil
}

// undoNotes makes a change due again that could not be written.
func (x *index) undoNotes(n noteChange) {
	c := n.chunk
	if c.live == 0 {
		return
	}
	c.notes = slices.Concat(n.added, c.notes) // the later ones stay the last
	x.noteBytes += len(n.added)
	if c.saved {
		x.due.notedChunks = append(x.due.notedChunks, c)
	}
}

// write joins the notes with those that the root file has. Damaged ones are given up: they were reported at the start.
func (n *noteChange) write(tx *bbolt.Tx) error {
	key := n.view.key().encode()
	old, err := savedNotes(tx, key)
	if err != nil {
		old = nil
	}
	notes := repackNotes(slices.Concat(old, n.added), n.view.aliveAt)
	if len(notes) == 0 {
		return deleteValue(tx, bucketNotes, key)
	}
	return putValue(tx, bucketNotes, key, notes)
}

// savedNotes returns the packed notes of a chunk in the root file. A file that was made before there were notes has no bucket for them.
func savedNotes(tx *bbolt.Tx, key []byte) ([]byte, error) {
	b := tx.Bucket(bucketNotes)
	if b == nil {
		return nil, nil
	}
	sealed := b.Get(key)
	if sealed == nil {
		return nil, nil
	}
	return openValue(key, sealed)
}

// notesOf returns all notes of a chunk's live messages, in order.
func (s *Disk) notesOf(c *chunk) (notes []Note, err error) {
	if c.live == 0 || c.noted == 0 && len(c.notes) == 0 {
		return nil, nil
	}
	var packed []byte
	err = s.root.view(func(tx *bbolt.Tx) error {
		saved, err := savedNotes(tx, c.key().encode())
		packed = slices.Clone(saved)
		return err
	})
	notes = latestNotes(append(packed, c.notes...), c.aliveAt)
	for i := range notes {
		notes[i].Seq += c.first
	}
	return notes, err
}
