package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// The log is a sequence of segment files. All numbers are little endian. A position is a place in the log as a whole: that of a
// segment's first batch stands in its header, and within a segment it grows with the offset.
//
//	segment  64 bytes of header, then batches; what follows the last batch is zero, or old bytes of a recycled file
//
//	header   magic u64 | version u16 | zero u16 | salt u32 | segment id u64 | position u64 | previous id u64 | zero | crc u32
//
//	batch    magic u32 | bytes of records u32 | segment id u64 | position u64 | synced u64 | salt u32 | records u32 |
//	         flags u32 | crc u32, then the records
//
//	record   length u32 | crc u32 | kind u8 | flags u8 | fields
//
//	publish  [tag u32] | body length, body | n | n queues | n sequences u64
//	settle   queue | n | n times (first, last - first)
//	drop     queue
//	group    n: the n records before it, all flagged atomic, are complete
//	note     queue | n | n times (seq, length u8, data)
//
// Numbers without a width are uvarints. The length counts what follows the checksum. A record's checksum covers what follows it,
// and is bound to the record's own position, so a record that an earlier use of the file left behind is never taken for one
// of now. Sequences come last because they are known last: the checksum of all before is made outside the log's lock.
//
// "synced" promises that everything before that position was on disk when the batch was written. Recovery reads ahead to the
// largest promise: what is missing below it is damage, what is missing above it is the torn end of an unconfirmed write.
const (
	segmentHead  = 64
	batchHead    = 48
	recordHead   = 8
	segmentMagic = uint64(0x31474f4c_5652564c) // "LVRVLOG1"
	batchMagic   = uint32(0xb47c4bfe)
	// formatVersion is the layout of segments and of the root file. Another one is refused by name.
	formatVersion = 1
)

const (
	recordPublish = 1 + iota
	recordSettle
	recordDrop
	recordGroup
	recordNote
	recordLast = recordNote
)

// Flags of a record. The highest bit is kept for a log that is replicated: group, index and term would stand before the fields.
const (
	flagTag    = 1
	flagAtomic = 2
	flagsKnown = flagTag | flagAtomic
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// positionCRC binds a record's checksum to its position in the log.
func positionCRC(crc uint32, pos uint64) uint32 {
	const spread = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: neighbours differ in all bits
	return crc ^ uint32(pos*spread>>32)
}

// record is a decoded record; its slices alias the input.
type record struct {
	kind, flags byte
	tag         uint32
	body        []byte
	pairs       []Pair
	queue       uint64  // settle, drop, note
	ranges      []Range // settle
	members     uint64  // group
	notes       []Note  // note
}

// checkRecord looks for a valid record at the start of src, which stands at pos in the log. It returns the record's whole
// length, or 0 if there is none.
func checkRecord(src []byte, pos uint64) int {
	if len(src) < recordHead+2 {
		return 0
	}
	length := uint64(binary.LittleEndian.Uint32(src))
	if length < 2 || length > uint64(len(src)-recordHead) {
		return 0
	}
	size := recordHead + int(length)
	crc := crc32.Update(0, castagnoli, src[recordHead:size])
	if positionCRC(crc, pos) != binary.LittleEndian.Uint32(src[4:]) {
		return 0
	}
	return size
}

// parse decodes what follows a record's checksum. It is given checked bytes, but trusts no length in them. It reuses r's slices.
func (r *record) parse(src []byte) error {
	c := cursor{src: src}
	*r = record{kind: c.byte(), flags: c.byte(), pairs: r.pairs[:0], ranges: r.ranges[:0], notes: r.notes[:0]}
	if r.flags&^flagsKnown != 0 {
		return fmt.Errorf("record flags %#x: %w", r.flags, ErrVersion)
	}
	switch r.kind {
	case recordPublish:
		if r.flags&flagTag != 0 {
			r.tag = c.uint32()
		}
		r.body = c.bytes(c.uvarint())
		r.pairs = c.pairs(r.pairs)
	case recordSettle:
		r.queue = c.uvarint()
		r.ranges = c.ranges(r.ranges)
	case recordDrop:
		r.queue = c.uvarint()
	case recordGroup:
		r.members = c.uvarint()
	case recordNote:
		r.queue = c.uvarint()
		r.notes = c.notes(r.notes)
	default:
		return fmt.Errorf("record of kind %d: %w", r.kind, ErrVersion)
	}
	if c.short || len(c.src) > 0 {
		return fmt.Errorf("record of kind %d does not match its length: %w", r.kind, ErrCorrupt)
	}
	return nil
}

// cursor reads fields from the front of src. After a short read it yields zeros and says so in short.
type cursor struct {
	src   []byte
	short bool
}

// bytes returns the next n bytes, capped; nil when there are fewer.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.src)) {
		c.short, c.src = true, nil
		return nil
	}
	b := c.src[:n:n]
	c.src = c.src[n:]
	return b
}

func (c *cursor) byte() byte {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// uvarint is split so that the usual case, a byte, is inlined.
func (c *cursor) uvarint() uint64 {
	if len(c.src) > 0 && c.src[0] < 0x80 {
		v := c.src[0]
		c.src = c.src[1:]
		return uint64(v)
	}
	return c.longUvarint()
}

func (c *cursor) longUvarint() uint64 {
	v, n := binary.Uvarint(c.src)
	if n <= 0 {
		c.short, c.src = true, nil
		return 0
	}
	c.src = c.src[n:]
	return v
}

// pairs appends the places of a message. A number that the input has no room for is not believed, so it allocates nothing.
func (c *cursor) pairs(pairs []Pair) []Pair {
	n := c.uvarint()
	if n > uint64(len(c.src))/9 { // a queue takes a byte at least, a sequence eight
		c.short = c.short || n > 0
		return pairs
	}
	for range n {
		pairs = append(pairs, Pair{Queue: c.uvarint()})
	}
	for i := range pairs {
		pairs[i].Seq = c.uint64()
	}
	return pairs
}

// ranges appends the ranges of a settlement.
func (c *cursor) ranges(ranges []Range) []Range {
	n := c.uvarint()
	if n > uint64(len(c.src))/2 {
		c.short = c.short || n > 0
		return ranges
	}
	for range n {
		first := c.uvarint()
		ranges = append(ranges, Range{First: first, Last: first + min(c.uvarint(), math.MaxUint64-first)})
	}
	return ranges
}

// segmentHeader is the head of a segment file.
type segmentHeader struct {
	id, pos, prev uint64
	salt          uint32 // drawn for each use of a file; the batches repeat it
}

// encode returns the header as it stands in the file.
func (h segmentHeader) encode() []byte {
	b := make([]byte, segmentHead)
	binary.LittleEndian.PutUint64(b, segmentMagic)
	binary.LittleEndian.PutUint16(b[8:], formatVersion)
	binary.LittleEndian.PutUint32(b[12:], h.salt)
	binary.LittleEndian.PutUint64(b[16:], h.id)
	binary.LittleEndian.PutUint64(b[24:], h.pos)
	binary.LittleEndian.PutUint64(b[32:], h.prev)
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	return b
}

// parseSegmentHeader decodes a header. A sound header of another version is ErrVersion, anything else ErrCorrupt.
func parseSegmentHeader(b []byte) (segmentHeader, error) {
	if len(b) < segmentHead || binary.LittleEndian.Uint64(b) != segmentMagic ||
		binary.LittleEndian.Uint32(b[60:]) != crc32.Checksum(b[:60], castagnoli) {
		return segmentHeader{}, fmt.Errorf("segment header: %w", ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint16(b[8:]); v != formatVersion {
		return segmentHeader{}, fmt.Errorf("segment of version %d: %w", v, ErrVersion)
	}
	return segmentHeader{
		salt: binary.LittleEndian.Uint32(b[12:]),
		id:   binary.LittleEndian.Uint64(b[16:]),
		pos:  binary.LittleEndian.Uint64(b[24:]),
		prev: binary.LittleEndian.Uint64(b[32:]),
	}, nil
}

// batchHeader is the head of a group of records that were written together.
type batchHeader struct {
	segment, pos, synced uint64
	size, records, salt  uint32
}

// encode writes the header to the start of b.
func (h batchHeader) encode(b []byte) {
	_ = b[:batchHead]
	binary.LittleEndian.PutUint32(b, batchMagic)
	binary.LittleEndian.PutUint32(b[4:], h.size)
	binary.LittleEndian.PutUint64(b[8:], h.segment)
	binary.LittleEndian.PutUint64(b[16:], h.pos)
	binary.LittleEndian.PutUint64(b[24:], h.synced)
	binary.LittleEndian.PutUint32(b[32:], h.salt)
	binary.LittleEndian.PutUint32(b[36:], h.records)
	binary.LittleEndian.PutUint32(b[40:], 0)
	binary.LittleEndian.PutUint32(b[44:], crc32.Checksum(b[:44], castagnoli))
}

// parseBatchHeader decodes a header; ok says whether it is a sound one.
func parseBatchHeader(b []byte) (h batchHeader, ok bool) {
	if len(b) < batchHead || binary.LittleEndian.Uint32(b) != batchMagic ||
		binary.LittleEndian.Uint32(b[44:]) != crc32.Checksum(b[:44], castagnoli) {
		return h, false
	}
	return batchHeader{
		size:    binary.LittleEndian.Uint32(b[4:]),
		segment: binary.LittleEndian.Uint64(b[8:]),
		pos:     binary.LittleEndian.Uint64(b[16:]),
		synced:  binary.LittleEndian.Uint64(b[24:]),
		salt:    binary.LittleEndian.Uint32(b[32:]),
		records: binary.LittleEndian.Uint32(b[36:]),
	}, true
}
