package store

import (
	"bytes"
	"encoding/binary"
)

// survey is what the batch headers of a segment file tell, before any record is looked at.
type survey struct {
	id      uint64
	data    []byte
	version error         // the header is sound and of another version
	header  segmentHeader // as the file says, or else as its batches say
	sound   bool          // the file's own header is sound
	begun   bool          // anything was ever written for this id
	batches []placedBatch // all sound ones, in order
	synced  uint64        // the largest promise
}

// placedBatch is a batch header and where it stands in the file.
type placedBatch struct {
	batchHeader
	offset int
}

// surveySegment finds the batches of a file. It goes from one to the next; where that fails it searches for another header, which
// must bear the segment's id, its salt and its own position, so it is neither old nor part of a message.
func surveySegment(id uint64, data []byte) survey {
	v := survey{id: id, data: data}
	header, err := parseSegmentHeader(data)
	switch {
	case err == nil && header.id == id:
		v.header, v.sound, v.begun = header, true, true
	case err != nil && isVersion(err):
		v.version = err
		return v
	}
	for at := segmentHead; at+batchHead <= len(data); {
		if b, ok := v.batchAt(at); ok {
			v.batches = append(v.batches, placedBatch{b, at})
			v.synced = max(v.synced, b.synced)
			at += batchHead + int(b.size)
			continue
		}
		next := bytes.Index(data[at+1:], magicBytes)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return v
}

var magicBytes = binary.LittleEndian.AppendUint32(nil, batchMagic)

// batchAt returns the batch at an offset, if it is one of this use of the file. The first one found stands in for a segment header
// that is damaged.
func (v *survey) batchAt(at int) (b batchHeader, ok bool) {
	b, ok = parseBatchHeader(v.data[at:])
	if !ok || b.segment != v.id || uint64(b.size) > uint64(len(v.data)) {
		return b, false
	}
	base := b.pos - uint64(at-segmentHead)
	if !v.begun {
		v.header, v.begun = segmentHeader{id: v.id, pos: base, salt: b.salt}, true
	}
	return b, b.salt == v.header.salt && base == v.header.pos
}

// gap is a part of a segment in which no record is valid.
type gap struct {
	offset, size int
	pos          uint64
}

// scanner walks through the records of a surveyed segment and tells of each, and of each gap.
type scanner struct {
	survey
	limit  uint64 // position at which the next segment begins: what stands behind it here is void
	record func(pos uint64, offset int, src []byte)
	gap    func(g gap)
	batch  func() // a batch ended
	end    int    // offset behind the last valid record or batch
	budget int    // bytes that may still be checked in search of a record
}

// resyncBudget bounds the search for records in damaged parts, as a multiple of the file's size.
const resyncBudget = 16

// scan runs through the file.
func (s *scanner) scan() {
	s.end = segmentHead
	s.budget = resyncBudget * len(s.data)
	stop, bounded := len(s.data), false
	if s.limit-s.header.pos < uint64(len(s.data)-segmentHead) {
		stop, bounded = segmentHead+int(s.limit-s.header.pos), true
	}
	at := segmentHead
	for _, b := range s.batches {
		if b.offset >= stop {
			break
		}
		if b.offset > at {
			s.headless(at, b.offset, true)
		}
		end := b.offset + batchHead + int(b.size)
		s.records(b.offset+batchHead, min(end, stop), true)
		if end > len(s.data) {
			s.gap(gap{offset: len(s.data), size: end - len(s.data), pos: s.pos(len(s.data))})
		}
		s.batch()
		at = min(end, stop)
		s.end = max(s.end, at)
	}
	if at < stop {
		s.headless(at, stop, bounded)
	}
}

// headless looks for records where a batch header should be and none is sound. Records are valid by their own checksum and
// position, so a damaged header costs nothing. At the end of the log this is where nothing was written yet; elsewhere it is a gap,
// which bounded says.
func (s *scanner) headless(from, to int, bounded bool) {
	before := s.end
	if !s.zero(from, to) && from+batchHead < to {
		s.records(from+batchHead, to, bounded)
		s.batch()
	}
	if bounded || s.end > before {
		s.gap(gap{offset: from, size: min(batchHead, to-from), pos: s.pos(from)})
	}
}

// zero says whether nothing was ever written to a part.
func (s *scanner) zero(from, to int) bool {
	for _, b := range s.data[from:to] {
		if b != 0 {
			return false
		}
	}
	return true
}

// records walks from one record to the next in data[from:to]; bounded says that records are to be expected up to the end.
func (s *scanner) records(from, to int, bounded bool) {
	for at := from; at < to; {
		pos := s.pos(at)
		if pos >= s.limit {
			return
		}
		if n := checkRecord(s.data[at:to], pos); n > 0 {
			s.record(pos, at, s.data[at:at+n])
			at += n
			s.end = max(s.end, at)
			continue
		}
		next := s.resync(at, to)
		if next < to || bounded {
			s.gap(gap{offset: at, size: next - at, pos: pos})
		}
		at = next
	}
}

// resync returns the offset of the next valid record behind at, or to. If the length of the bad one is sound that is at once
// behind it.
func (s *scanner) resync(at, to int) int {
	if to-at >= recordHead {
		next := at + recordHead + int(binary.LittleEndian.Uint32(s.data[at:]))
		if next == to || next < to && checkRecord(s.data[next:to], s.pos(next)) > 0 {
			return next
		}
	}
	for at++; at+recordHead+2 <= to && s.budget > 0; at++ {
		kind, flags := s.data[at+recordHead], s.data[at+recordHead+1]
		if kind < recordPublish || kind > recordLast || flags&^flagsKnown != 0 {
			continue
		}
		length := int(binary.LittleEndian.Uint32(s.data[at:]))
		if length < 2 || length > to-at-recordHead {
			continue
		}
		s.budget -= length
		if checkRecord(s.data[at:to], s.pos(at)) > 0 {
			return at
		}
	}
	return to
}

// pos is the position in the log of an offset in the file.
func (s *scanner) pos(offset int) uint64 { return s.header.pos + uint64(offset-segmentHead) }
