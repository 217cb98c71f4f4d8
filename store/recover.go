package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

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
	buffer   []byte                          // one file at a time
	kinds    map[uint64]*[recordLast + 1]int // records of each kind in a replayed segment
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

// newRecovery returns a recovery that has read nothing yet.
func newRecovery(s *Disk) *recovery {
	return &recovery{
		s: s, known: map[uint64]*segment{}, files: map[uint64]file{}, sizes: map[uint64]int64{}, report: &s.report,
		kinds: map[uint64]*[recordLast + 1]int{},
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

// surveyFile reads a file into the one buffer that recovery has, and surveys it.
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
