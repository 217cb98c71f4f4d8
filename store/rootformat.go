package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// bbolt does not check its pages, so every value carries the checksum of its key and itself, and the meta bucket has the number of
// keys of each bucket that is read as a whole: what a bad disk changed or hid is refused, not believed.

// putValue writes a value with its checksum.
func putValue(tx *bbolt.Tx, bucket, key, value []byte) error {
	b := tx.Bucket(bucket)
	if b.Get(key) == nil {
		if err := addCount(tx, bucket, 1); err != nil {
			return err
		}
	}
	sealed := append(make([]byte, 0, len(value)+4), value...)
	return b.Put(key, binary.LittleEndian.AppendUint32(sealed, valueCRC(key, value)))
}

// deleteValue deletes a key, if it is there.
func deleteValue(tx *bbolt.Tx, bucket, key []byte) error {
	b := tx.Bucket(bucket)
	if b.Get(key) == nil {
		return nil
	}
	if err := addCount(tx, bucket, -1); err != nil {
		return err
	}
	return b.Delete(key)
}

// addCount changes the number of keys of a bucket. Entries, acks, bodies and notes are not counted: each is looked up by who knows that
// it should be there.
func addCount(tx *bbolt.Tx, bucket []byte, n int) error {
	switch string(bucket) {
	case string(bucketMeta), string(bucketEntries), string(bucketAcks), string(bucketBodies), string(bucketNotes):
		return nil
	}
	key := countKey(bucket)
	return putNumber(tx, key, number(tx, key)+uint64(n))
}

// countKey is the key in the meta bucket for the number of keys of another.
func countKey(bucket []byte) []byte { return append([]byte("count "), bucket...) }

// checkCount compares the number of keys found in a bucket with what it should be.
func checkCount(tx *bbolt.Tx, bucket []byte, found int) error {
	if want := number(tx, countKey(bucket)); want != uint64(found) {
		return fmt.Errorf("%d of %d keys of bucket %s in %s: %w", found, want, bucket, rootName, ErrCorrupt)
	}
	return nil
}

// openValue checks a value and returns it without its checksum.
func openValue(key, sealed []byte) ([]byte, error) {
	n := len(sealed) - 4
	if n < 0 || binary.LittleEndian.Uint32(sealed[n:]) != valueCRC(key, sealed[:n]) {
		return nil, fmt.Errorf("value of %.40q in %s: %w", key, rootName, ErrCorrupt)
	}
	return sealed[:n:n], nil
}

// valueCRC covers the key too, so that a value is not taken for that of another key.
func valueCRC(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// eachValue calls each for every value of a bucket, checked.
func eachValue(tx *bbolt.Tx, bucket []byte, each func(key, value []byte) error) error {
	found := 0
	err := tx.Bucket(bucket).ForEach(func(k, sealed []byte) error {
		v, err := openValue(k, sealed)
		if err != nil {
			return err
		}
		found++
		return each(k, v)
	})
	if err != nil || string(bucket) == string(bucketMeta) {
		return err
	}
	return checkCount(tx, bucket, found)
}

// encode keeps the order of segment, queue and sequence.
func (k chunkKey) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 24), k.segment)
	b = binary.BigEndian.AppendUint64(b, k.queue)
	return binary.BigEndian.AppendUint64(b, k.first)
}

// parseChunkKey is its inverse.
func parseChunkKey(b []byte) (k chunkKey, ok bool) {
	if len(b) != 24 {
		return k, false
	}
	return chunkKey{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, true
}

// uint64Key keeps the order of numbers.
func uint64Key(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// keyUint64 is its inverse; a key of another length yields zero.
func keyUint64(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// encodeSummary is the value in the chunks bucket. It is read for every chunk at the start, so it is kept apart from the entries.
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

// load reads a chunk's sealed values; live is nil when all entries are.
func (c *chunk) load(key, summary, live []byte) error {
	v, err := openValue(key, summary)
	if err != nil {
		return err
	}
	in := cursor{src: v}
	c.last = c.first + in.uvarint()
	c.n = int(in.uvarint())
	c.bytes, c.disk = int64(in.uvarint()), int64(in.uvarint())
	c.live = c.n
	if live != nil {
		if live, err = openValue(key, live); err != nil {
			return err
		}
		c.loadLive(live)
	}
	if in.short || c.last < c.first || c.n <= 0 || c.live < 0 || c.live > c.n {
		return fmt.Errorf("chunk %x has %d live of %d messages: %w", key, c.live, c.n, ErrCorrupt)
	}
	return nil
}

// loadLive is the inverse of encodeLive.
func (c *chunk) loadLive(b []byte) {
	if len(b) > 0 && b[0] != 0 {
		in := cursor{src: b}
		c.floor = c.first + in.uvarint()
		c.live = int(c.last+1) - int(c.floor)
		return
	}
	in := cursor{src: b[min(1, len(b)):]}
	c.bits = make([]uint64, (c.last-c.first)/64+1)
	for i := range c.bits {
		c.bits[i] = in.uint64()
	}
	c.live = countBits(c.bits)
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
