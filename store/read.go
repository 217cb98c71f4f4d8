package store

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"

	"go.etcd.io/bbolt"
)

const (
	// readAhead is how much one read of the log takes at most, unless one message alone is larger.
	readAhead = 256 << 10
	// readGap is how many unwanted bytes between two messages are read with them rather than skipped by another call.
	readGap = 32 << 10
	// scanEntries is how many index entries Scan takes at a time.
	scanEntries = 4096
)

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
	if !s.index.spills(queue) { // nothing to merge, as at a start, when there may be millions
		logged := walk{s: s, queue: queue, visit: func(m location) bool { return each(m.info()) }}
		return logged.run(ranges)
	}
	for len(ranges) > 0 {
		var w Window
		found, err := s.locate(queue, ranges, math.MaxInt, scanEntries, &w)
		if err != nil {
			return err
		}
		for _, m := range found {
			if !each(m.info()) {
				return nil
			}
		}
		ranges = rangesFrom(ranges, w.Next)
	}
	return nil
}

// info is what the index knows of the message.
func (m *location) info() Info {
	return Info{Seq: m.seq, Tag: m.tag, Size: m.body, Transient: m.seg.spilled}
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
