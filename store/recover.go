package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// Damage is something that recovery found and could not read.
type Damage struct {
	Segment uint64
	Offset  int64
	Size    int64  // bytes that could not be read
	What    string // in words
	Torn    bool   // it was never confirmed: the end of a write that a crash cut short
}

// String tells the damage in a line.
func (d Damage) String() string {
	kind := "damaged"
	if d.Torn {
		kind = "torn write"
	}
	return fmt.Sprintf("segment %d offset %d, %d bytes: %s (%s)", d.Segment, d.Offset, d.Size, d.What, kind)
}

// Report is what opening a store came upon.
type Report struct {
	Clean    bool // it was closed in order
	Queues   int
	Messages uint64
	Replayed int // segments
	Records  int // replayed
	Damage   []Damage
	Duration time.Duration
}

// Report returns what Open came upon.
func (s *Disk) Report() Report { return s.report }

// recovery is the state of an opening.
type recovery struct {
	s        *Disk
	known    map[uint64]*segment // what the last checkpoint saved, by id
	files    map[uint64]file     // segment files in the folder
	sizes    map[uint64]int64
	ckpt     uint64
	replay   []survey // what is behind the checkpoint, in order
	promised uint64   // everything before this position was on disk
	end      uint64   // behind everything that was found
	maxID    uint64
	buffer   []byte // one file at a time
	report   *Report
}

// recover brings the index to where it was, and opens a fresh segment. It changes nothing that a second recovery would need: not
// even the end of a torn write is cut off, and what it found is saved by the next checkpoint only.
func (s *Disk) recover() error {
	start := time.Now()
	r := newRecovery(s)
	steps := slices.Concat([]func() error{s.spill.clear, r.deleteStale}, r.reading(), []func() error{r.tidy, r.begin})
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(err, r.closeFiles())
		}
	}
	s.summarize()
	s.report.Duration = time.Since(start)
	s.logger.Info("store opened", "clean", s.report.Clean, "queues", s.report.Queues, "messages", s.report.Messages,
		"replayed", s.report.Replayed, "damage", len(s.report.Damage), "duration", s.report.Duration)
	return nil
}

func newRecovery(s *Disk) *recovery {
	return &recovery{
		s: s, known: map[uint64]*segment{}, files: map[uint64]file{}, sizes: map[uint64]int64{}, report: &s.report,
	}
}

// reading are the steps that only read.
func (r *recovery) reading() []func() error {
	return []func() error{r.loadRoot, r.openFiles, r.surveyAll, r.checkMissing, r.replayAll}
}

// closeFiles closes the files that became no segment's.
func (r *recovery) closeFiles() (err error) {
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// deleteStale deletes chunks whose segment is not named: they are from a checkpoint that did not come to its end. Their messages
// are in the log that is replayed, and that may make chunks of the same name.
func (r *recovery) deleteStale() error {
	return r.s.root.write(func(tx *bbolt.Tx) error {
		stale := &step{}
		segments := tx.Bucket(bucketSegments)
		err := tx.Bucket(bucketChunks).ForEach(func(k, v []byte) error {
			key, ok := parseChunkKey(k)
			if _, err := openValue(k, v); ok && err == nil && segments.Get(uint64Key(key.segment)) == nil {
				stale.deleteChunk(slices.Clone(k))
			}
			return nil // what is damaged is reported when it is loaded
		})
		if err != nil {
			return err
		}
		return stale.write(tx)
	})
}

// loadRoot reads the summaries of the last checkpoint.
func (r *recovery) loadRoot() error {
	s := r.s
	return s.root.view(func(tx *bbolt.Tx) error {
		r.ckpt = number(tx, keyCheckpoint)
		r.maxID = number(tx, keySegment)
		s.report.Clean = number(tx, keyClean) == 1
		s.root.queueID.Store(max(1, number(tx, keyQueue)))
		err := eachValue(tx, bucketSegments, func(k, v []byte) error {
			seg, ok := decodeSegment(keyUint64(k), v)
			if !ok {
				return fmt.Errorf("entry of segment %x: %w", k, ErrCorrupt)
			}
			r.known[seg.id] = seg
			r.maxID = max(r.maxID, seg.id)
			return nil
		})
		if err != nil {
			return err
		}
		err = eachValue(tx, bucketQueues, func(k, v []byte) error {
			c := cursor{src: v}
			l := &lane{id: keyUint64(k), next: c.uvarint(), saved: true}
			s.index.lanes[l.id] = l
			s.seeQueue(l.id)
			return nil
		})
		if err != nil {
			return err
		}
		return r.loadChunks(tx)
	})
}

// seeQueue keeps the queue's number from being given again.
func (s *Disk) seeQueue(id uint64) {
	if id < math.MaxUint64 && id >= s.root.queueID.Load() {
		s.root.queueID.Store(id + 1)
	}
}

func (r *recovery) loadChunks(tx *bbolt.Tx) error {
	x := r.s.index
	acks := tx.Bucket(bucketAcks)
	found := 0
	err := tx.Bucket(bucketChunks).ForEach(func(k, v []byte) error {
		found++
		key, ok := parseChunkKey(k)
		if !ok {
			return fmt.Errorf("chunk key %x: %w", k, ErrCorrupt)
		}
		seg := r.known[key.segment]
		if _, err := openValue(k, v); seg == nil && err == nil {
			return nil // from a checkpoint that did not come to its end
		}
		c := &chunk{seg: seg, queue: key.queue, first: key.first, floor: key.first, saved: true}
		if err := c.load(k, v, acks.Get(k)); err != nil {
			return r.refuse(Damage{Segment: key.segment, What: err.Error()})
		}
		l := x.lane(key.queue)
		l.chunks = append(l.chunks, c)
		l.next = max(l.next, c.last+1)
		r.s.seeQueue(key.queue)
		seg.chunks = append(seg.chunks, c)
		seg.refs += c.live
		seg.disk += c.liveDisk()
		x.chunks++
		return nil
	})
	if err == nil {
		if err = checkCount(tx, bucketChunks, found); err != nil {
			err = r.refuse(Damage{What: err.Error()})
		}
	}
	for _, l := range x.lanes { // the ids of segments are not always in the order of the log
		slices.SortFunc(l.chunks, func(a, b *chunk) int { return cmp.Compare(a.first, b.first) })
	}
	return err
}

// openFiles opens the segment files; names that are none of ours are left alone.
func (r *recovery) openFiles() error {
	names, err := r.s.files.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		id, ok := parseSegmentName(name)
		if !ok {
			continue
		}
		f, err := r.s.files.open(name)
		if err != nil {
			return err
		}
		r.files[id] = f
		if r.sizes[id], err = f.size(); err != nil {
			return err
		}
		r.maxID = max(r.maxID, id+1)
	}
	return nil
}

// surveyAll looks at the headers of the files that the checkpoint does not know.
func (r *recovery) surveyAll() error {
	for id, f := range r.files {
		if r.known[id] != nil {
			continue
		}
		v, err := r.surveyFile(id, f)
		if err != nil {
			return err
		}
		if v.version != nil {
			return fmt.Errorf("segment %d: %w", id, v.version)
		}
		v.data = nil // read again in turn, so that one file at a time is in memory
		if v.begun && v.header.pos >= r.ckpt {
			r.replay = append(r.replay, v)
			r.promised = max(r.promised, v.synced)
		}
	}
	sortSurveys(r.replay)
	return nil
}

func (r *recovery) surveyFile(id uint64, f file) (survey, error) {
	size := int(r.sizes[id])
	if cap(r.buffer) < size {
		r.buffer = make([]byte, size)
	}
	data := r.buffer[:size]
	clear(data) // the file may be shorter by now
	if err := readSome(f, data); err != nil {
		return survey{}, fmt.Errorf("read segment %d: %w", id, err)
	}
	return surveySegment(id, data), nil
}

// checkMissing refuses to open a store of which a whole file is gone.
func (r *recovery) checkMissing() error {
	missing := func(id uint64, why string) error {
		return r.refuse(Damage{Segment: id, What: "the file is missing, " + why})
	}
	for id, seg := range r.known {
		if seg.moved || seg.refs == 0 {
			continue
		}
		if r.files[id] == nil {
			if err := missing(id, fmt.Sprintf("it holds %d live messages", seg.refs)); err != nil {
				return err
			}
			r.lose(seg)
		} else if r.sizes[id] < seg.offset(seg.end) {
			r.found(Damage{Segment: id, Offset: r.sizes[id], Size: seg.offset(seg.end) - r.sizes[id], What: "the file is cut short"})
		}
	}
	return r.checkLinks(missing)
}

// checkLinks follows the segments that are replayed by what each says of the one before.
func (r *recovery) checkLinks(missing func(id uint64, why string) error) error {
	for i, v := range r.replay {
		prev := v.header.prev
		follows := i > 0 && prev == r.replay[i-1].id || i == 0 && v.header.pos <= r.ckpt
		if !v.sound || prev == 0 || follows || r.files[prev] != nil {
			continue
		}
		if err := missing(prev, "a later one follows it"); err != nil {
			return err
		}
	}
	return nil
}

// lose settles what stood in a segment that is gone, since its loss was accepted.
func (r *recovery) lose(seg *segment) {
	for _, c := range seg.chunks {
		lost := Range{c.first, c.last}
		r.s.logger.Error("messages are lost with their segment", "queue", c.queue, "first", lost.First, "last", lost.Last)
		r.s.index.settle(c.queue, []Range{lost}, false)
	}
}

// refuse notes damage with which the store does not open, unless the operator accepted it.
func (r *recovery) refuse(d Damage) error {
	r.found(d)
	if r.s.options.AcceptDataLoss {
		return nil
	}
	return fmt.Errorf("%v: %w", d, ErrCorrupt)
}

// found notes damage.
func (r *recovery) found(d Damage) {
	r.report.Damage = append(r.report.Damage, d)
	if d.Torn {
		r.s.logger.Warn("end of an unconfirmed write", "damage", d.String())
	} else {
		r.s.counters.damaged.Add(1)
		r.s.logger.Error("confirmed data is damaged", "damage", d.String())
	}
}

// tidy makes segments of what was saved and of what was replayed, and gives the other files to the pool.
func (r *recovery) tidy() error {
	s := r.s
	s.checkpointed = r.ckpt
	for id, seg := range r.known {
		if !seg.moved {
			seg.file = r.files[id]
			delete(r.files, id)
		}
		s.segments = append(s.segments, seg)
	}
	byPosition(s.segments)
	s.pool.nextID = r.maxID + 1
	for id, f := range r.files {
		delete(r.files, id)
		if r.named(id) { // the log goes through it, but nothing in it makes sense: somebody may want to look
			if err := f.Close(); err != nil {
				return err
			}
			continue
		}
		if err := s.pool.recycle(id, r.sizes[id], f); err != nil {
			return err
		}
	}
	return nil
}

// named says whether a replayed segment follows the one of the id.
func (r *recovery) named(id uint64) bool {
	return slices.ContainsFunc(r.replay, func(v survey) bool { return v.sound && v.header.prev == id && v.header.pos > r.ckpt })
}

// begin opens a fresh segment: nothing is ever appended to one that was recovered.
func (r *recovery) begin() error {
	s := r.s
	prev := uint64(0)
	if n := len(s.segments); n > 0 {
		prev = s.segments[n-1].id
	}
	f, err := s.pool.take(0)
	if err != nil {
		return err
	}
	seg := &segment{id: f.id, pos: r.end, prev: prev, salt: rand.Uint32(), size: f.size, file: f.file}
	header := segmentHeader{id: seg.id, pos: seg.pos, prev: prev, salt: seg.salt}
	if err := f.file.write([][]byte{header.encode()}, 0); err != nil {
		return err
	}
	if err := f.file.sync(); err != nil {
		return err
	}
	s.segments = append(s.segments, seg)
	s.writer.seg, s.writer.pos, s.writer.safe, s.writer.data, s.writer.promise = seg, r.end, r.end, r.end, r.end
	s.writer.since = time.Now()
	return s.root.write(func(tx *bbolt.Tx) error {
		if err := putNumber(tx, keySegment, s.pool.next()); err != nil {
			return err
		}
		if s.options.AcceptDataLoss {
			if err := forgetDamaged(tx); err != nil {
				return err
			}
		}
		return putNumber(tx, keyClean, 0)
	})
}

// forgetDamaged deletes chunks that can't be read, and counts what is left: the loss was accepted, the next start need not be told.
func forgetDamaged(tx *bbolt.Tx) error {
	found, damaged := uint64(0), [][]byte{}
	acks := tx.Bucket(bucketAcks)
	err := tx.Bucket(bucketChunks).ForEach(func(k, v []byte) error {
		key, ok := parseChunkKey(k)
		c := &chunk{first: key.first, floor: key.first}
		if err := c.load(k, v, acks.Get(k)); !ok || err != nil {
			damaged = append(damaged, slices.Clone(k))
		} else {
			found++
		}
		return nil
	})
	for _, k := range damaged {
		err = errors.Join(err, tx.Bucket(bucketChunks).Delete(k))
	}
	return errors.Join(err, putNumber(tx, countKey(bucketChunks), found))
}
