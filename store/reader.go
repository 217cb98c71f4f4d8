package store

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// readAhead is how much one read of the log takes at most, unless one message alone is larger.
	readAhead = 128 << 10
	// readGap is how many unwanted bytes between two messages are read with them rather than skipped by another call.
	readGap = 32 << 10
	// mostGuessed bounds the room that a window makes for messages before it has seen them.
	mostGuessed = 1 << 14
)

// reader brings located messages into a window: it is a visitor, shown them in order. Neighbours are read with one call, straight into
// the buffer in which they stay; where too much between them is not wanted, they are copied out, so that they pin no more than themselves.
type reader struct {
	s      *Disk
	queue  uint64
	limit  int // bytes of bodies that are still wanted
	buffer func(size, messages int) []byte
	w      *Window
	err    error

	seen    bool
	seg     *segment
	run     []entry // neighbours in seg that are to be read
	scratch []byte
}

// readers keep their memory from one read to the next.
var readers = sync.Pool{New: func() any { return new(reader) }}

// newReader returns a reader for one window. A nil buffer stands for memory of the collector's.
func (s *Disk) newReader(queue uint64, limit int, buffer func(size, messages int) []byte, w *Window) *reader {
	r := readers.Get().(*reader)
	*r = reader{s: s, queue: queue, limit: limit, buffer: buffer, w: w, run: r.run[:0], scratch: r.scratch}
	if buffer == nil {
		r.buffer = func(size, _ int) []byte { return make([]byte, size) }
	}
	return r
}

// finish reads what is left, and ends the reader's life.
func (r *reader) finish() error {
	r.flush()
	err := r.err
	*r = reader{run: r.run[:0], scratch: r.scratch}
	readers.Put(r)
	return err
}

// visit takes the next message, until enough are there.
func (r *reader) visit(m location) bool {
	if r.seen && r.limit <= 0 {
		return false
	}
	if len(r.run) > 0 && !r.joins(m) {
		if r.flush(); r.err != nil {
			return false
		}
	}
	r.seen, r.seg = true, m.seg
	r.run = append(r.run, m.entry)
	r.limit -= m.body
	return true
}

// joins says whether a message is to be read together with those before it.
func (r *reader) joins(m location) bool {
	first, last := &r.run[0], &r.run[len(r.run)-1]
	gap := m.offset - last.end()
	return m.seg == r.seg && gap >= 0 && gap <= readGap && m.end()-first.offset <= readAhead
}

// end is where the record behind it begins.
func (e *entry) end() int64 { return e.offset + int64(e.size) }

// flush reads the neighbours that have come together.
func (r *reader) flush() {
	if len(r.run) > 0 && r.err == nil {
		r.read(r.run)
	}
	r.run = r.run[:0]
}

// read reads neighbours with one call.
func (r *reader) read(run []entry) {
	first, size := run[0].offset, int(run[len(run)-1].end()-run[0].offset)
	useful, bodies := 0, 0
	for i := range run {
		useful += run[i].size
		bodies += run[i].body
	}
	sparse := useful < size/4*3
	var buf, copies []byte
	if sparse {
		if cap(r.scratch) < size {
			r.scratch = make([]byte, size)
		}
		buf = r.scratch[:size]
	} else {
		buf = r.take(size, len(run))
	}
	start := time.Now()
	err := r.seg.readAt(buf, first)
	r.s.counters.readNanos.Add(int64(time.Since(start)))
	r.s.counters.reads.Add(1)
	r.s.counters.readBytes.Add(uint64(size))
	switch {
	case errors.Is(err, os.ErrClosed):
		r.readMoved(run, bodies)
		return
	case err != nil && len(run) > 1: // so that a bad sector costs the messages on it
		for i := range run {
			r.read(run[i : i+1])
		}
		return
	case err != nil:
		r.damaged(&run[0])
		return
	case sparse:
		copies = r.take(bodies, len(run))[:0]
	}
	for i := range run {
		e := &run[i]
		at := e.offset - first
		body, ok := e.messageIn(buf[at:at+int64(e.size):at+int64(e.size)], r.seg, r.queue)
		if !ok {
			r.damaged(e)
			continue
		}
		if sparse {
			copies = append(copies, body...)
			body = copies[len(copies)-len(body) : len(copies) : len(copies)]
		}
		r.add(e, body)
	}
}

// readMoved reads messages of a segment that was given up: their records stand in the root file.
func (r *reader) readMoved(run []entry, bodies int) {
	copies := r.take(bodies, len(run))[:0]
	r.err = r.s.root.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketBodies)
		for i := range run {
			e := &run[i]
			sealed := b.Get(uint64Key(r.seg.position(e.offset)))
			body, ok := e.messageIn(sealed[:max(0, len(sealed)-4)], r.seg, r.queue) // it has a checksum of its own
			if !ok {
				r.damaged(e)
				continue
			}
			copies = append(copies, body...)
			r.add(e, copies[len(copies)-len(body):len(copies):len(copies)])
		}
		return nil
	})
}

// take asks for a buffer for the messages that come next.
func (r *reader) take(size, messages int) []byte {
	r.w.Parts = append(r.w.Parts, 0)
	return r.buffer(size, messages)
}

// add puts a message into the window.
func (r *reader) add(e *entry, body []byte) {
	if cap(r.w.Messages) == 0 {
		r.w.Messages = make([]Message, 0, min(mostGuessed, 1+max(0, r.limit)/(1+e.body)+len(r.run)))
	}
	r.w.Messages = append(r.w.Messages, Message{Seq: e.seq, Tag: e.tag, Body: body, Transient: r.seg.spilled})
	r.w.Parts[len(r.w.Parts)-1]++
}

// damaged gives up a message that can't be read, unless it was settled meanwhile.
func (r *reader) damaged(e *entry) {
	if !r.s.index.live(r.queue, e.seq, r.seg.spilled) {
		return
	}
	r.s.counters.damaged.Add(1)
	r.s.logger.Error("message is damaged", "queue", r.queue, "seq", e.seq, "segment", r.seg.id, "offset", e.offset)
	r.w.Lost = joinRange(r.w.Lost, Range{e.seq, e.seq})
}

// messageIn returns the body of the message in its record, if that is sound, as long as it should be, and the queue's.
func (e *entry) messageIn(src []byte, seg *segment, queue uint64) (body []byte, ok bool) {
	if len(src) != e.size || checkRecord(src, seg.position(e.offset)) != e.size || src[recordHead] != recordPublish {
		return nil, false
	}
	c := cursor{src: src[recordHead+2:]}
	if src[recordHead+1]&flagTag != 0 {
		c.uint32()
	}
	body = c.bytes(c.uvarint())
	return body, !c.short && (seg.spilled || c.names(queue, e.seq))
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
