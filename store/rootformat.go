package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// bbolt does not check its pages, so every value carries the checksum of its key and itself: what a bad disk changed is refused,
// not believed.

// putValue writes a value with its checksum.
func putValue(b *bbolt.Bucket, key, value []byte) error {
	sealed := append(make([]byte, 0, len(value)+4), value...)
	return b.Put(key, binary.LittleEndian.AppendUint32(sealed, valueCRC(key, value)))
}

// openValue checks a value and returns it without its checksum.
func openValue(key, sealed []byte) ([]byte, error) {
	n := len(sealed) - 4
	if n < 0 || binary.LittleEndian.Uint32(sealed[n:]) != valueCRC(key, sealed[:n]) {
		return nil, fmt.Errorf("value of %.40q in %s: %w", key, rootName, ErrCorrupt)
	}
	return sealed[:n:n], nil
}

func valueCRC(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// eachValue calls each for every value of a bucket, checked.
func eachValue(b *bbolt.Bucket, each func(key, value []byte) error) error {
	return b.ForEach(func(k, sealed []byte) error {
		v, err := openValue(k, sealed)
		if err != nil {
			return err
		}
		return each(k, v)
	})
}

func (k chunkKey) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 24), k.segment)
	b = binary.BigEndian.AppendUint64(b, k.queue)
	return binary.BigEndian.AppendUint64(b, k.first)
}

func parseChunkKey(b []byte) (k chunkKey, ok bool) {
	if len(b) != 24 {
		return k, false
	}
	return chunkKey{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, true
}

func uint64Key(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// keyUint64 is its inverse; a key of another length yields zero.
func keyUint64(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// encodeSummary is the value in the chunks bucket.
func (c *chunk) encodeSummary() []byte {
	b := binary.AppendUvarint(make([]byte, 0, 24), c.last-c.first)
	b = binary.AppendUvarint(b, uint64(c.n))
	b = binary.AppendUvarint(b, uint64(c.bytes))
	return binary.AppendUvarint(b, uint64(c.disk))
}

// encodeLive is the value in the acks bucket; nil when all entries are live and there are no holes.
func (c *chunk) encodeLive() []byte {
	if c.bits == nil && c.floor == c.first {
		return nil
	}
	if c.bits == nil {
		return binary.AppendUvarint(nil, c.floor-c.first)
	}
	b := append(make([]byte, 0, 2+8*len(c.bits)), 0)
	for _, w := range c.bits {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// decode reads a chunk's summary and its live state.
func (c *chunk) decode(summary, live []byte) bool {
	in := cursor{src: summary}
	c.last = c.first + in.uvarint()
	c.n = int(in.uvarint())
	c.bytes, c.disk = int64(in.uvarint()), int64(in.uvarint())
	c.live = c.n
	if in.short || c.last < c.first || c.n <= 0 {
		return false
	}
	switch {
	case len(live) == 0:
	case live[0] != 0:
		in = cursor{src: live}
		c.floor = c.first + in.uvarint()
		c.live = int(c.last+1) - int(c.floor)
	default:
		in = cursor{src: live[1:]}
		c.live = 0
		c.bits = make([]uint64, 0, len(in.src)/8)
		for len(in.src) > 0 {
			c.bits = append(c.bits, in.uint64())
		}
		c.live = countBits(c.bits)
		if uint64(len(c.bits)) != (c.last-c.first)/64+1 {
			return false
		}
	}
	return !in.short && c.live >= 0 && c.live <= c.n
}

// encode is the segment's value in the root file.
func (seg *segment) encode() []byte {
	flags := uint64(0)
	if seg.moved {
		flags |= 1
	}
	if seg.punched {
		flags |= 2
	}
	b := binary.AppendUvarint(nil, seg.pos)
	b = binary.AppendUvarint(b, seg.end-seg.pos)
	b = binary.AppendUvarint(b, uint64(seg.size))
	return binary.AppendUvarint(b, flags)
}

// decodeSegment is its inverse.
func decodeSegment(id uint64, b []byte) (*segment, bool) {
	c := cursor{src: b}
	seg := &segment{id: id, sealed: true, saved: true}
	seg.pos = c.uvarint()
	seg.end = seg.pos + c.uvarint()
	seg.size = int64(c.uvarint())
	flags := c.uvarint()
	seg.moved, seg.punched = flags&1 != 0, flags&2 != 0
	return seg, !c.short && len(c.src) == 0
}
