package store

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// MostCopied is the size in bytes up to which Batch.Publish copies a body. A larger one is written from where it stands, and must not change any more.
const MostCopied = 128 << 10

// A Batch collects records for one Append. It belongs to one goroutine and is meant to be reused. All that can be done ahead is
// done while it is filled, outside any lock: layout, copy, checksum of everything but the sequences.
type Batch struct {
	// Atomic says that the batch survives a crash as a whole or not at all. Set it before the first record; Append clears it.
	Atomic bool
	// Led says that the caller of Append will call Lead right after it, so nobody needs to be woken. Append clears it.
	Led bool

	p    *payload
	open bool // the last record is a publish that still takes queues
	size int  // of the batch before: this one may be like it
}

// publishFields is room for the fields of a publish record beside its body, if it has a few queues, and the head of the record behind it.
const publishFields = 128

// Publish adds a message. tag is four bytes for the caller's own use that Scan tells without reading the message. The queues
// that hold the message follow with To.
func (b *Batch) Publish(body []byte, tag uint32) {
	p := b.next(recordPublish)
	if more := len(body) + publishFields; len(body) <= MostCopied && cap(p.buf)-len(p.buf) < more {
		p = p.enlarged(more)
		b.p = p
	}
	r := &p.recs[len(p.recs)-1]
	r.pair, r.body, r.tag = len(p.pairs), len(body), tag
	if tag != 0 {
		p.buf[r.head+recordHead+1] |= flagTag
		p.buf = binary.LittleEndian.AppendUint32(p.buf, tag)
	}
	p.buf = binary.AppendUvarint(p.buf, uint64(len(body)))
	if len(body) > MostCopied {
		p.cuts = append(p.cuts, cut{at: len(p.buf), body: body})
		p.size += len(body)
	} else {
		p.buf = append(p.buf, body...)
	}
	b.open = true
}

// To adds a queue to the message of the last Publish.
func (b *Batch) To(queue uint64) { b.p.pairs = append(b.p.pairs, Pair{Queue: queue}) }

// Pairs are the places of all messages in the order of To. The callback of Append sets their sequences.
func (b *Batch) Pairs() []Pair {
	if b.p == nil {
		return nil
	}
	return b.p.pairs
}

// Settle adds the settlement of messages; in an Atomic batch it shares the fate of the messages.
func (b *Batch) Settle(queue uint64, ranges []Range) {
	p := b.next(recordSettle)
	p.appendSettle(queue, ranges)
}

// Len is the number of records and Size their bytes, the sequences of the last message aside.
func (b *Batch) Len() int {
	if b.p == nil {
		return 0
	}
	return len(b.p.recs)
}

// Size is the number of bytes that the batch takes in the log, the places of the last message aside.
func (b *Batch) Size() int {
	if b.p == nil {
		return 0
	}
	return len(b.p.buf) + b.p.size
}

// Reset empties the batch without appending it.
func (b *Batch) Reset() {
	if b.p != nil {
		b.p.release()
	}
	*b = Batch{}
}

// next finishes the record before and opens one of a kind.
func (b *Batch) next(kind byte) *payload {
	if b.p == nil {
		b.p = newPayload(b.size)
	}
	b.finish()
	flags := byte(0)
	if b.Atomic {
		flags = flagAtomic
	}
	b.p.begin(kind, flags)
	return b.p
}

// finish lays out the queues of the last message and computes the record's checksum up to the sequences.
func (b *Batch) finish() {
	p := b.p
	if len(p.recs) == 0 {
		return
	}
	r := &p.recs[len(p.recs)-1]
	if b.open {
		pairs := p.pairs[r.pair:]
		r.pairs = len(pairs)
		p.buf = binary.AppendUvarint(p.buf, uint64(len(pairs)))
		for _, pair := range pairs {
			p.buf = binary.AppendUvarint(p.buf, pair.Queue)
		}
	}
	p.end(r)
	b.open = false
}

// take finishes the batch and hands over what it holds, until forget; nil if it holds nothing.
func (b *Batch) take() *payload {
	if b.p == nil || len(b.p.recs) == 0 {
		*b = Batch{p: b.p, size: b.size}
		return nil
	}
	p := b.p
	if b.Atomic {
		n := len(p.recs)
		b.next(recordGroup)
		p.buf = binary.AppendUvarint(p.buf, uint64(n))
	}
	b.finish()
	b.size = len(p.buf)
	p.led = b.Led
	return p
}

// forget empties the batch, whose payload belongs to another now.
func (b *Batch) forget() { *b = Batch{size: b.size} }

// payload is what a batch holds: records laid out in buf, but for large bodies, which stand where they were and belong into the
// stream at the cuts. The log takes it over, fills in sequences and positions, writes it, applies it to the index and puts it
// back into the pool.
type payload struct {
	buf   []byte
	cuts  []cut
	recs  []rec
	pairs []Pair
	size  int // bytes of the large bodies
	lsn   LSN

	lazy    bool   // settlements that wait for company
	led     bool   // whoever appended it leads
	pos     uint64 // where the committer placed it in the log
	applied bool   // it is in the index
}

// cut is a large body and the place in buf before which it belongs.
type cut struct {
	at   int
	body []byte
}

// rec is one record of a payload.
type rec struct {
	kind  byte
	head  int    // where its header stands in buf
	tail  int    // where its sequences stand in buf; the end of the record when it has none
	off   int    // its distance from the start of the payload in the log
	size  int    // its length in the log, header included
	pair  int    // its first pair
	pairs int    // and their number
	body  int    // bytes of the body
	crc   uint32 // checksum of all before the sequences
	tag   uint32
}

// begin opens a record: room for length and checksum, then kind and flags.
func (p *payload) begin(kind, flags byte) {
	p.recs = append(p.recs, rec{kind: kind, head: len(p.buf), off: len(p.buf) + p.size, pair: len(p.pairs)})
	p.buf = append(p.buf, 0, 0, 0, 0, 0, 0, 0, 0, kind, flags)
}

// end closes the record: its length, its checksum up to the sequences, and room for these.
func (p *payload) end(r *rec) {
	r.tail = len(p.buf)
	for range r.pairs {
		p.buf = append(p.buf, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	r.size = len(p.buf) + p.size - r.off
	binary.LittleEndian.PutUint32(p.buf[r.head:], uint32(r.size-recordHead))
	from := r.head + recordHead
	if n := len(p.cuts); n > 0 && p.cuts[n-1].at >= from {
		c := p.cuts[n-1]
		r.crc = crc32.Update(r.crc, castagnoli, p.buf[from:c.at])
		r.crc = crc32.Update(r.crc, castagnoli, c.body)
		from = c.at
	}
	r.crc = crc32.Update(r.crc, castagnoli, p.buf[from:r.tail])
}

// appendSettle writes the fields of a settlement into the open record.
func (p *payload) appendSettle(queue uint64, ranges []Range) {
	p.appendQueue(queue)
	p.buf = binary.AppendUvarint(p.buf, uint64(len(ranges)))
	for _, r := range ranges {
		p.buf = binary.AppendUvarint(p.buf, r.First)
		p.buf = binary.AppendUvarint(p.buf, r.Last-r.First)
	}
}

// appendQueue writes the field of a record that names a queue.
func (p *payload) appendQueue(queue uint64) { p.buf = binary.AppendUvarint(p.buf, queue) }

// length is the payload's size in the log.
func (p *payload) length() int { return len(p.buf) + p.size }

// place makes the records valid at a position of the log: it fills in sequences and checksums. It may be called again for
// another position, when the first could not be written.
func (p *payload) place(pos uint64) {
	p.pos = pos
	for i := range p.recs {
		r := &p.recs[i]
		for k, pair := range p.pairs[r.pair : r.pair+r.pairs] {
			binary.LittleEndian.PutUint64(p.buf[r.tail+8*k:], pair.Seq)
		}
		crc := crc32.Update(r.crc, castagnoli, p.buf[r.tail:r.tail+8*r.pairs])
		binary.LittleEndian.PutUint32(p.buf[r.head+4:], positionCRC(crc, pos+uint64(r.off)))
	}
}

// parts calls each for every piece of the payload in the order in which they are written.
func (p *payload) parts(each func([]byte)) {
	from := 0
	for _, c := range p.cuts {
		each(p.buf[from:c.at])
		each(c.body)
		from = c.at
	}
	each(p.buf[from:])
}

// decode reads a record that holds no large body.
func (p *payload) decode(r *rec, into *record) error {
	return into.parse(p.buf[r.head+recordHead : r.head+r.size])
}

// bodyOf returns the body of a publish record.
func (p *payload) bodyOf(r *rec) []byte {
	from := r.head + recordHead + 2
	if r.tag != 0 {
		from += 4
	}
	from += uvarintLen(uint64(r.body))
	if r.body > MostCopied {
		at := slices.IndexFunc(p.cuts, func(c cut) bool { return c.at == from })
		return p.cuts[at].body
	}
	return p.buf[from : from+r.body]
}

// uvarintLen is the number of bytes that a uvarint takes.
func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
