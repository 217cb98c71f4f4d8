package store

import (
	"encoding/binary"
	"math/bits"
)

// A chunk is the index of up to 4096 messages of one queue that stand in one segment. It never changes where a message is; what
// changes is which messages are live. The entries are in memory until a checkpoint wrote them to the root file; what is always
// there is the summary and the live state, about a hundred bytes.
//
// All fields are guarded by the index's mutex; entries is not changed any more once the chunk is closed, so a copy of the slice
// may be read without it.
type chunk struct {
	seg         *segment
	queue       uint64
	first, last uint64 // sequences of the first and the last entry; there may be holes between
	entries     []byte // packed; nil when only the root file, or the spill file, has them
	n           int    // number of entries
	live        int    // and how many are not settled
	bytes       int64  // bodies of all entries
	disk        int64  // this queue's share of the records of all entries
	lastOffset  int64  // where the last entry's record stands in the file

	// Live are the sequences from floor on, or, once there are holes, those whose bit (counted from first) is set.
	floor uint64
	bits  []uint64

	notes []byte // packed; those that no checkpoint has
	noted int    // bytes of notes in the root file, about

	saved bool  // the root file has it
	dirty bool  // the live state changed since it was saved
	at    int64 // spill only: where the entries stand in the file
	size  int   // and their length
}

const (
	chunkEntries = 4096
	// chunkGap is the largest hole between two entries; a bit for each sequence in it has to be kept.
	chunkGap = 1024
)

// entry is one message of a chunk, unpacked.
type entry struct {
	seq    uint64
	offset int64  // of its record in the segment file
	size   int    // of its record
	body   int    // of its body
	tag    uint32 // what Publish was given
}

// fits says whether a sequence may be added to the chunk.
func (c *chunk) fits(seq uint64) bool { return c.n < chunkEntries && seq-c.last <= chunkGap }

// add appends an entry. The chunk must be open, and the sequence above its last. share is the queue's part of the record's size.
func (c *chunk) add(e entry, share int64) {
	if c.n == 0 {
		c.first, c.floor, c.last = e.seq, e.seq, e.seq
	} else if e.seq != c.last+1 || c.bits != nil {
		c.spread(e.seq)
		c.bits[(e.seq-c.first)/64] |= 1 << ((e.seq - c.first) % 64)
	}
	c.pack(e)
	c.n++
	c.live++
	c.bytes += int64(e.body)
	c.disk += share
}

// pack appends the packed form of an entry.
func (c *chunk) pack(e entry) {
	c.entries = binary.AppendUvarint(c.entries, e.seq-c.last)
	c.entries = binary.AppendUvarint(c.entries, uint64(e.offset-c.lastOffset))
	c.entries = binary.AppendUvarint(c.entries, uint64(e.body))
	overhead := uint64(e.size-e.body) << 1
	if e.tag == 0 {
		c.entries = binary.AppendUvarint(c.entries, overhead)
	} else {
		c.entries = binary.AppendUvarint(c.entries, overhead|1)
		c.entries = binary.LittleEndian.AppendUint32(c.entries, e.tag)
	}
	c.last, c.lastOffset = e.seq, e.offset
}

// spread turns the floor into bits, with room up to a sequence.
func (c *chunk) spread(upto uint64) {
	words := int((upto-c.first)/64) + 1
	if c.bits == nil {
		c.bits = make([]uint64, words, max(words, int((c.last-c.first)/64)+1))
		for seq := c.floor; seq <= c.last; seq++ {
			c.bits[(seq-c.first)/64] |= 1 << ((seq - c.first) % 64)
		}
		return
	}
	for len(c.bits) < words {
		c.bits = append(c.bits, 0)
	}
}

// alive says whether the message of a sequence that has an entry is live.
func (c *chunk) alive(seq uint64) bool {
	if c.bits == nil {
		return seq >= c.floor
	}
	return c.bits[(seq-c.first)/64]&(1<<((seq-c.first)%64)) != 0
}

// settle makes the sequences of a range dead and returns how many were live.
func (c *chunk) settle(r Range) int {
	if c.live == 0 {
		return 0
	}
	first, last := max(r.First, c.first), min(r.Last, c.last)
	if c.bits == nil {
		first = max(first, c.floor)
	}
	if first > last {
		return 0
	}
	n := 0
	switch {
	case c.bits == nil && first == c.floor:
		n = int(last - first + 1)
		c.floor = last + 1
	default:
		if c.bits == nil {
			c.spread(c.last)
		}
		n = clearBits(c.bits, first-c.first, last-c.first)
	}
	c.live -= n
	return n
}

// clearBits clears an inclusive range of bits and returns how many were set.
func clearBits(words []uint64, first, last uint64) int {
	n := 0
	for w := first / 64; w <= last/64; w++ {
		mask := ^uint64(0)
		if w == first/64 {
			mask <<= first % 64
		}
		if w == last/64 {
			mask &= ^uint64(0) >> (63 - last%64)
		}
		n += bits.OnesCount64(words[w] & mask)
		words[w] &^= mask
	}
	return n
}

// countBits returns the number of bits that are set.
func countBits(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// liveBytes and liveDisk are shares by number: exact when all or none of the messages are live.
func (c *chunk) liveBytes() int64 { return share(c.bytes, c.live, c.n) }
func (c *chunk) liveDisk() int64  { return share(c.disk, c.live, c.n) }

// share is part of whole applied to total.
func share(total int64, part, whole int) int64 {
	if whole == 0 {
		return 0
	}
	return total * int64(part) / int64(whole)
}

// ranges appends the live ranges, joined with the last one of ranges where they touch. Sequences without an entry separate.
func (c *chunk) ranges(ranges []Range) []Range {
	if c.bits == nil {
		return joinRange(ranges, Range{c.floor, c.last})
	}
	span := c.last - c.first + 1
	for i := uint64(0); i < span; {
		word := c.bits[i/64] >> (i % 64)
		if word == 0 {
			i = (i/64 + 1) * 64
			continue
		}
		i += uint64(bits.TrailingZeros64(word))
		from := i
		for i < span && c.bits[i/64]&(1<<(i%64)) != 0 {
			i++
		}
		ranges = joinRange(ranges, Range{c.first + from, c.first + i - 1})
	}
	return ranges
}

// joinRange appends a range, or extends the last one with it.
func joinRange(ranges []Range, r Range) []Range {
	if n := len(ranges); n > 0 && ranges[n-1].Last+1 == r.First {
		ranges[n-1].Last = r.Last
		return ranges
	}
	return append(ranges, r)
}

// unpacker goes through packed entries.
type unpacker struct {
	entries []byte
	at      int   // where the next one stands
	e       entry // the one in hand
	bad     bool  // the bytes make no sense
}

// next takes the next entry in hand; false at the end. A look through a long queue spends its time here.
func (u *unpacker) next() bool {
	b := u.entries
	if u.at >= len(b) {
		return false
	}
	step, at := field(b, u.at)
	distance, at := field(b, at)
	body, at := field(b, at)
	overhead, at := field(b, at)
	e := &u.e
	e.seq += step
	e.offset += int64(distance)
	e.body = int(body)
	e.size, e.tag = e.body+int(overhead>>1), 0
	if overhead&1 != 0 && at <= len(b)-4 {
		e.tag = binary.LittleEndian.Uint32(b[at:])
		at += 4
	} else if overhead&1 != 0 {
		return u.fail()
	}
	if u.at = at; at > len(b) || e.offset < 0 || e.body < 0 || e.size < e.body {
		return u.fail()
	}
	return true
}

// field is the field of an entry that stands somewhere, and where the next one does: most take a byte or two. Behind the end it is behind the end.
func field(b []byte, at int) (v uint64, next int) {
	if at < len(b) && b[at] < 0x80 {
		return uint64(b[at]), at + 1
	}
	return longField(b, at)
}

// longField is field for one of more than a byte.
func longField(b []byte, at int) (v uint64, next int) {
	if at+1 < len(b) && b[at+1] < 0x80 {
		return uint64(b[at]&0x7f) | uint64(b[at+1])<<7, at + 2
	}
	if at >= len(b) {
		return 0, len(b) + 1
	}
	v, n := binary.Uvarint(b[at:])
	if n <= 0 {
		return 0, len(b) + 1
	}
	return v, at + n
}

// fail ends the entries where they make no sense.
func (u *unpacker) fail() bool {
	u.bad, u.at = true, len(u.entries)
	return false
}

// unpack calls each for the entries in order until it returns false; false as result means that the bytes make no sense.
func unpack(entries []byte, first uint64, each func(entry) bool) bool {
	u := unpacker{entries: entries, e: entry{seq: first}}
	for u.next() {
		if !each(u.e) {
			return true
		}
	}
	return !u.bad
}
