package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	// readAhead is how much one read of the log takes at most, unless one message alone is larger.
	readAhead = 256 << 10
	// readGap is how many unwanted bytes between two messages are read with them rather than skipped by another call.
	readGap = 32 << 10
	// scanEntries is how many index entries Scan takes at a time.
	scanEntries = 4096
)

// location is a live message and where its record stands.
type location struct {
	entry
	seg *segment
}

// Read implements Store.
func (s *Disk) Read(queue uint64, ranges []Range, limit int) (Window, error) {
	if err := s.settleIn(queue, ranges); err != nil {
		return Window{}, err
	}
	s.reading <- struct{}{}
	defer func() { <-s.reading }()
	var w Window
	found, err := s.locate(queue, ranges, limit, math.MaxInt, &w)
	if err != nil {
		return Window{}, err
	}
	w.Messages = make([]Message, 0, len(found))
	for len(found) > 0 {
		n := run(found)
		if err := s.readRun(queue, found[:n], &w); err != nil {
			return Window{}, err
		}
		found = found[n:]
	}
	return w, nil
}

// Scan implements Store.
func (s *Disk) Scan(queue uint64, ranges []Range, each func(Info) bool) error {
	if err := s.settleIn(queue, ranges); err != nil {
		return err
	}
	for len(ranges) > 0 {
		var w Window
		found, err := s.locate(queue, ranges, math.MaxInt, scanEntries, &w)
		if err != nil {
			return err
		}
		for _, m := range found {
			if !each(Info{Seq: m.seq, Tag: m.tag, Size: m.body, Transient: m.seg.spilled}) {
				return nil
			}
		}
		ranges = rangesFrom(ranges, w.Next)
	}
	return nil
}

// rangesFrom returns what of the ranges is at or above seq.
func rangesFrom(ranges []Range, seq uint64) []Range {
	for len(ranges) > 0 && ranges[0].Last < seq {
		ranges = ranges[1:]
	}
	if len(ranges) > 0 && ranges[0].First < seq {
		ranges = slices.Clone(ranges)
		ranges[0].First = seq
	}
	return ranges
}

// settleIn waits until the index has what was appended before the call, if it may concern the ranges.
func (s *Disk) settleIn(queue uint64, ranges []Range) error {
	if len(ranges) == 0 {
		return nil
	}
	s.log.mu.Lock()
	upto := s.log.published
	s.log.mu.Unlock()
	x := s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.applied < upto {
		if l := x.lanes[queue]; l != nil && l.next > ranges[len(ranges)-1].Last {
			break
		}
		if x.ended != nil {
			return x.ended
		}
		x.moved.Wait()
	}
	if errors.Is(x.ended, ErrClosed) {
		return ErrClosed
	}
	return nil
}

// locate finds live messages in the ranges, up to a number of bytes of bodies (but one at least) or of messages. It sets where the
// window ends, and what of it is lost with its index.
func (s *Disk) locate(queue uint64, ranges []Range, limit, most int, w *Window) (found []location, err error) {
	logged := walk{s: s, queue: queue, limit: limit, most: most}
	if err := logged.run(ranges); err != nil {
		return nil, err
	}
	spilled := walk{s: s, queue: queue, limit: limit, most: most, spilled: true}
	if err := spilled.run(ranges); err != nil {
		return nil, err
	}
	w.Next = min(logged.next, spilled.next)
	w.Lost = append(w.Lost, logged.lost...)
	found = logged.found
	if len(spilled.found) > 0 {
		found = slices.Concat(logged.found, spilled.found)
		slices.SortFunc(found, func(a, b location) int { return cmp.Compare(a.seq, b.seq) })
	}
	for i, m := range found {
		if m.seq >= w.Next {
			return found[:i], nil
		}
		if i > 0 && limit <= 0 || i >= most {
			w.Next = m.seq
			return found[:i], nil
		}
		limit -= m.body
	}
	return found, nil
}

// walk looks through one kind of a queue's chunks.
type walk struct {
	s           *Disk
	queue       uint64
	spilled     bool
	limit, most int

	found []location
	lost  []Range // live, but their index is damaged
	next  uint64
	full  bool
}

func (k *walk) run(ranges []Range) error {
	for _, r := range ranges {
		k.next = r.Last
		if r.Last < math.MaxUint64 {
			k.next++
		}
		for seq := r.First; seq <= r.Last; {
			v, ok := k.s.index.view(k.queue, seq, k.spilled)
			if !ok || v.first > r.Last {
				break
			}
			entries, err := k.s.entriesOf(v)
			if err == nil && len(entries) == 0 && k.s.index.holds(v) {
				err = fmt.Errorf("no index entries: %w", ErrCorrupt)
			}
			switch {
			case errors.Is(err, ErrCorrupt):
				k.s.logger.Error("index of messages is damaged", "queue", k.queue, "first", v.first, "last", v.last, "error", err)
				k.lost = append(k.lost, clipRanges(v.ranges(nil), Range{seq, r.Last})...)
			case err != nil:
				return err
			}
			if k.take(entries, v, Range{seq, r.Last}); k.full {
				return nil
			}
			if seq = v.last + 1; seq == 0 {
				break
			}
		}
	}
	return nil
}

// take adds what is live in a chunk.
func (k *walk) take(entries []byte, v chunk, r Range) {
	unpack(entries, v.first, func(e entry) bool {
		if e.seq < r.First || e.seq > r.Last || !v.alive(e.seq) {
			return e.seq <= r.Last
		}
		if k.full = len(k.found) > 0 && k.limit <= 0 || len(k.found) >= k.most; k.full {
			k.next = e.seq
			return false
		}
		k.found = append(k.found, location{e, v.seg})
		k.limit -= e.body
		return true
	})
}

// clipRanges returns what of the ranges is within r.
func clipRanges(ranges []Range, r Range) (clipped []Range) {
	for _, one := range ranges {
		one.First, one.Last = max(one.First, r.First), min(one.Last, r.Last)
		if one.First <= one.Last {
			clipped = append(clipped, one)
		}
	}
	return clipped
}

// view returns a copy of the first chunk with live messages that reaches up to seq. What it shares with the chunk does not
// change.
func (x *index) view(queue, seq uint64, spilled bool) (v chunk, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.lanes[queue]
	if l == nil {
		return v, false
	}
	list := l.chunks
	if spilled {
		list = l.spill
	}
	for i := firstChunk(list, seq); i < len(list); i++ {
		if c := list[i]; c.live > 0 {
			v = *c
			v.bits = slices.Clone(c.bits)
			if c.open() {
				v.entries = slices.Clone(c.entries)
			}
			return v, true
		}
	}
	return v, false
}

// holds says whether the chunk of a view is still alive.
func (x *index) holds(v chunk) bool {
	now, ok := x.view(v.queue, v.first, v.seg.spilled)
	return ok && now.key() == v.key()
}

// live says whether a message is still to be delivered.
func (x *index) live(queue, seq uint64, spilled bool) bool {
	v, ok := x.view(queue, seq, spilled)
	return ok && v.first <= seq && v.alive(seq)
}

// entriesOf returns a chunk's entries, from where they are. A chunk that died meanwhile may have none.
func (s *Disk) entriesOf(c chunk) ([]byte, error) {
	if c.entries != nil {
		return c.entries, nil
	}
	if c.seg.spilled {
		b := make([]byte, c.size)
		err := c.seg.readAt(b, c.at)
		if errors.Is(err, os.ErrClosed) {
			return nil, nil // all of it was discarded
		}
		return b, err
	}
	var entries []byte
	err := s.root.view(func(tx *bbolt.Tx) error {
		key := c.key().encode()
		sealed := tx.Bucket(bucketEntries).Get(key)
		if sealed == nil {
			return nil
		}
		v, err := openValue(key, sealed)
		entries = slices.Clone(v)
		return err
	})
	return entries, err
}

// readAt reads from the segment's file; os.ErrClosed when it is gone.
func (seg *segment) readAt(b []byte, offset int64) error {
	seg.mu.RLock()
	defer seg.mu.RUnlock()
	if seg.file == nil {
		return os.ErrClosed
	}
	_, err := seg.file.ReadAt(b, offset)
	return err
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

// readRun reads neighbours into the window.
func (s *Disk) readRun(queue uint64, found []location, w *Window) error {
	seg, first := found[0].seg, found[0].offset
	last := found[len(found)-1]
	buf := make([]byte, last.offset+int64(last.size)-first)
	err := seg.readAt(buf, first)
	s.counters.reads.Add(1)
	s.counters.readBytes.Add(uint64(len(buf)))
	if err != nil && len(found) > 1 && !errors.Is(err, os.ErrClosed) {
		for i := range found { // so that a bad sector costs the messages on it
			if err := s.readRun(queue, found[i:i+1], w); err != nil {
				return err
			}
		}
		return nil
	}
	for _, m := range found {
		var record []byte
		if err == nil {
			at := m.offset - first
			record = buf[at : at+int64(m.size) : at+int64(m.size)]
		} else if record, err = s.survivor(seg.position(m.offset)); err != nil {
			return err
		} else {
			err = os.ErrClosed // for the next one
		}
		if body, ok := messageOf(record, seg, queue, m); ok {
			w.Messages = append(w.Messages, Message{Seq: m.seq, Tag: m.tag, Body: body, Transient: seg.spilled})
		} else if s.index.live(queue, m.seq, seg.spilled) {
			s.counters.damaged.Add(1)
			s.logger.Error("message is damaged", "queue", queue, "seq", m.seq, "segment", seg.id, "offset", m.offset)
			w.Lost = joinRange(w.Lost, Range{m.seq, m.seq})
		}
	}
	return nil
}

// survivor returns the record of a position from the root file; nil if there is none.
func (s *Disk) survivor(pos uint64) (record []byte, err error) {
	err = s.root.view(func(tx *bbolt.Tx) error {
		if sealed := tx.Bucket(bucketBodies).Get(uint64Key(pos)); len(sealed) > 4 {
			record = slices.Clone(sealed[:len(sealed)-4]) // it has a checksum of its own
		}
		return nil
	})
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	return record, err
}

// messageOf returns the body of a valid publish record that holds the message sought.
func messageOf(src []byte, seg *segment, queue uint64, m location) ([]byte, bool) {
	if n := checkRecord(src, seg.position(m.offset)); n == 0 || n != len(src) {
		return nil, false
	}
	c := cursor{src: src[recordHead:]}
	if kind, flags := c.byte(), c.byte(); kind != recordPublish {
		return nil, false
	} else if flags&flagTag != 0 {
		c.uint32()
	}
	body := c.bytes(c.uvarint())
	return body, !c.short && (seg.spilled || c.names(queue, m.seq))
}

// names says whether the pairs that follow have one of the queue with the sequence.
func (c *cursor) names(queue, seq uint64) bool {
	n := c.uvarint()
	if n > uint64(len(c.src))/9 {
		return false
	}
	seqs := c.src[uint64(len(c.src))-8*n:]
	for i := range n {
		if q := c.uvarint(); q == queue && binary.LittleEndian.Uint64(seqs[8*i:]) == seq {
			return true
		}
	}
	return false
}
