package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"go.etcd.io/bbolt"
)

// location is a live message and where its record stands.
type location struct {
	entry
	seg *segment
}

// locate finds live messages in the ranges, up to a number of bytes of bodies (but one at least) or of messages. It sets where the
// window ends, and what of it is lost with its index.
func (s *Disk) locate(queue uint64, ranges []Range, limit, most int, w *Window) (found []location, err error) {
	logged := collector{limit: limit, most: most}
	fromLog := walk{s: s, queue: queue, visit: logged.visit}
	if err := fromLog.run(ranges); err != nil {
		return nil, err
	}
	spilled := collector{limit: limit, most: most}
	aside := walk{s: s, queue: queue, spilled: true, visit: spilled.visit}
	if err := aside.run(ranges); err != nil {
		return nil, err
	}
	w.Next = min(fromLog.next, aside.next)
	w.Lost = append(w.Lost, fromLog.lost...)
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

// collector is a visitor that keeps what it is shown, up to its limits.
type collector struct {
	limit, most int
	found       []location
}

func (k *collector) visit(m location) bool {
	if len(k.found) > 0 && k.limit <= 0 || len(k.found) >= k.most {
		return false
	}
	k.found = append(k.found, m)
	k.limit -= m.body
	return true
}

// walk looks through one kind of a queue's chunks and shows what is live, until it is told to stop.
type walk struct {
	s       *Disk
	queue   uint64
	spilled bool
	visit   func(location) bool

	scratch []byte  // for entries from the root file, of one chunk after the other
	lost    []Range // live, but their index is damaged
	next    uint64  // the first sequence that was not shown
	stopped bool
}

// run goes from chunk to chunk, each of which is unpacked once however many of the ranges, which ascend, lie in it. The index is locked for the look
// at each, not while its entries are read.
func (k *walk) run(ranges []Range) error {
	from := uint64(0) // what lies below was looked at
	for len(ranges) > 0 && !k.stopped {
		seq := max(from, ranges[0].First)
		v, ok := k.s.index.view(k.queue, seq, k.spilled)
		if !ok {
			k.next = after(ranges[len(ranges)-1].Last)
			return nil
		}
		if ranges = k.skip(ranges, v.first); len(ranges) == 0 || ranges[0].First > v.last {
			continue
		}
		entries, err := k.s.entriesOf(v, k.scratch[:0])
		if v.entries == nil {
			k.scratch = entries
		}
		if err == nil && len(entries) == 0 && k.s.index.holds(v) {
			err = fmt.Errorf("no index entries: %w", ErrCorrupt)
		}
		switch {
		case errors.Is(err, ErrCorrupt):
			k.s.logger.Error("index of messages is damaged", "queue", k.queue, "first", v.first, "last", v.last, "error", err)
			for _, r := range ranges {
				k.lost = append(k.lost, clipRanges(v.ranges(nil), Range{max(from, r.First), r.Last})...)
			}
		case err != nil:
			return err
		}
		if k.take(entries, v, ranges, max(from, ranges[0].First)); k.stopped {
			return nil
		}
		if from = v.last + 1; from == 0 {
			k.next = after(ranges[len(ranges)-1].Last)
			return nil
		}
		ranges = k.skip(ranges, from)
	}
	return nil
}

// skip drops the ranges that end below a sequence: there is nothing more in them.
func (k *walk) skip(ranges []Range, seq uint64) []Range {
	for len(ranges) > 0 && ranges[0].Last < seq {
		k.next = after(ranges[0].Last)
		ranges = ranges[1:]
	}
	return ranges
}

// after is the sequence that follows; the last one follows itself.
func after(seq uint64) uint64 {
	if seq == math.MaxUint64 {
		return seq
	}
	return seq + 1
}

// take shows what of the ranges is live in a chunk, from a sequence on.
func (k *walk) take(entries []byte, v chunk, ranges []Range, from uint64) {
	u := unpacker{entries: entries, e: entry{seq: v.first}}
	k.s.index.goOn(&u, &v, from)
	for {
		at, seq, offset := u.at, u.e.seq, u.e.offset
		if !u.next() {
			return
		}
		for len(ranges) > 0 && ranges[0].Last < u.e.seq {
			ranges = ranges[1:]
		}
		if len(ranges) == 0 {
			return
		}
		if u.e.seq < max(from, ranges[0].First) || !v.alive(u.e.seq) {
			continue
		}
		if !k.visit(location{u.e, v.seg}) {
			k.stopped, k.next = true, u.e.seq
			k.s.index.stopAt(&v, place{v.key(), len(entries), at, seq, offset})
			return
		}
	}
}

// place is where a read of a queue stopped in a chunk: the next one, as a rule, goes on there.
type place struct {
	key    chunkKey
	length int // of the entries
	at     int
	seq    uint64 // of the entry before
	offset int64
}

// stopAt notes where a read stopped.
func (x *index) stopAt(v *chunk, p place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l := x.lanes[v.queue]; l != nil {
		l.stopped = &p
	}
}

// goOn moves an unpacker on to where the last read stopped, unless that is behind what is wanted now. A chunk that moved into the root
// file was packed anew: if its entries are as long as before, they are the same.
func (x *index) goOn(u *unpacker, v *chunk, from uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.lanes[v.queue]
	if l == nil || l.stopped == nil || l.stopped.key != v.key() || l.stopped.length != len(u.entries) || l.stopped.seq >= from {
		return
	}
	u.at, u.e.seq, u.e.offset = l.stopped.at, l.stopped.seq, l.stopped.offset
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

// spills says whether messages of the queue were put aside.
func (x *index) spills(queue uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.lanes[queue]
	return l != nil && len(l.spill) > 0
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

// entriesOf returns a chunk's entries, from where they are; if they have to be read, appended to scratch. A chunk that died meanwhile may have none.
func (s *Disk) entriesOf(c chunk, scratch []byte) ([]byte, error) {
	if c.entries != nil {
		return c.entries, nil
	}
	if c.seg.spilled {
		b := slices.Grow(scratch, c.size)[:c.size]
		err := c.seg.readAt(b, c.at)
		if errors.Is(err, os.ErrClosed) {
			return nil, nil // all of it was discarded
		}
		return b, err
	}
	entries := scratch
	err := s.root.view(func(tx *bbolt.Tx) error {
		key := c.key().encode()
		sealed := tx.Bucket(bucketEntries).Get(key)
		if sealed == nil {
			return nil
		}
		v, err := openValue(key, sealed)
		entries = append(scratch, v...)
		return err
	})
	return entries, err
}
