package store

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
)

// replayAll brings the segments behind the checkpoint into the index, in order.
func (r *recovery) replayAll() error {
	r.end = r.ckpt
	for _, seg := range r.known {
		r.end = max(r.end, seg.end)
	}
	for i, v := range r.replay {
		if v.header.pos > r.end {
			r.found(Damage{Segment: v.id, Size: int64(v.header.pos - r.end), What: "the log before it is missing"})
		}
		limit := uint64(math.MaxUint64)
		if i+1 < len(r.replay) {
			limit = r.replay[i+1].header.pos
		}
		if err := r.replaySegment(v, limit); err != nil {
			return err
		}
		r.s.logger.Info("segment replayed", "segment", v.id, "done", i+1, "of", len(r.replay), "records", r.report.Records)
	}
	if n := len(r.replay); n > 0 && r.end < r.promised {
		r.found(Damage{Segment: r.replay[n-1].id, Size: int64(r.promised - r.end), What: "the end of the log is missing"})
	}
	r.report.Replayed = len(r.replay)
	return nil
}

// replaySegment applies what one segment holds before limit, and makes it a sealed segment of the store.
func (r *recovery) replaySegment(v survey, limit uint64) error {
	f := r.files[v.id]
	v, err := r.surveyFile(v.id, f)
	if err != nil {
		return err
	}
	seg := &segment{id: v.id, pos: v.header.pos, prev: v.header.prev, size: r.sizes[v.id], file: f, sealed: true}
	if !v.sound {
		r.found(Damage{Segment: v.id, Size: segmentHead, What: "segment header", Torn: v.header.pos >= r.promised})
	}
	r.kinds[seg.id] = new([recordLast + 1]int)
	p := &replayer{r: r, seg: seg}
	sc := scanner{survey: v, limit: limit, record: p.record, gap: p.gap, batch: p.batch}
	sc.scan()
	seg.end = min(seg.position(int64(sc.end)), limit)
	r.end = max(r.end, seg.end)
	delete(r.files, v.id)
	r.s.segments = append(r.s.segments, seg)
	return nil
}

// replayer applies the records of one segment. What is atomic it holds back until the record that completes the group.
type replayer struct {
	r     *recovery
	seg   *segment
	rec   record
	group []held
}

// held is a record that waits for the rest of its group.
type held struct {
	pos    uint64
	offset int
	src    []byte
}

// record takes the next valid record.
func (p *replayer) record(pos uint64, offset int, src []byte) {
	if err := p.rec.parse(src[recordHead:]); err != nil {
		p.r.found(Damage{Segment: p.seg.id, Offset: int64(offset), Size: int64(len(src)), What: err.Error(), Torn: pos >= p.r.promised})
		return
	}
	p.r.report.Records++
	p.r.kinds[p.seg.id][p.rec.kind]++
	switch {
	case p.rec.kind == recordGroup:
		p.complete(pos, p.rec.members)
	case p.rec.flags&flagAtomic != 0:
		p.group = append(p.group, held{pos, offset, src})
	default:
		if len(p.group) > 0 { // of a batch that ended without completing it
			p.batch()
			_ = p.rec.parse(src[recordHead:]) // again: the group used it
		}
		p.apply(offset, src)
	}
}

// complete applies a group if all of it is there. If some is not although the group was confirmed, the rest is still what the
// client was promised.
func (p *replayer) complete(pos, members uint64) {
	if uint64(len(p.group)) == members || pos < p.r.promised {
		p.applyGroup()
	}
	p.group = p.group[:0]
}

// batch drops a group that its batch did not complete, unless it was confirmed and only its end is damaged.
func (p *replayer) batch() {
	if n := len(p.group); n > 0 && p.group[n-1].pos < p.r.promised {
		p.applyGroup()
	}
	p.group = p.group[:0]
}

// applyGroup applies what was held back.
func (p *replayer) applyGroup() {
	for _, h := range p.group {
		if p.rec.parse(h.src[recordHead:]) == nil {
			p.apply(h.offset, h.src)
		}
	}
}

// apply brings the parsed record into the index.
func (p *replayer) apply(offset int, src []byte) {
	x := p.r.s.index
	if p.rec.kind != recordPublish {
		x.change(&p.rec)
		return
	}
	for _, pair := range p.rec.pairs {
		p.r.s.seeQueue(pair.Queue)
	}
	p.rec.pairs = slices.DeleteFunc(p.rec.pairs, func(pair Pair) bool { return pair.Seq == math.MaxUint64 })
	x.publish(p.seg, entry{offset: int64(offset), size: len(src), body: len(p.rec.body), tag: p.rec.tag}, p.rec.pairs)
}

// gap reports a part without a valid record.
func (p *replayer) gap(g gap) {
	p.r.found(Damage{
		Segment: p.seg.id, Offset: int64(g.offset), Size: int64(g.size), What: "no valid record", Torn: g.pos >= p.r.promised,
	})
}

// summarize makes the states that Queues tells. Sizes of chunks of which only a part is live are counted from their entries.
func (s *Disk) summarize() {
	for id, l := range s.index.lanes {
		q := l.state(s.report.Clean)
		for _, c := range l.chunks {
			if c.live > 0 && c.live < c.n {
				q.Bytes += uint64(s.exactBytes(c) - c.liveBytes())
			}
			notes, err := s.notesOf(c)
			s.warn("read notes", err)
			q.Notes = append(q.Notes, notes...)
		}
		s.report.Queues++
		s.report.Messages += q.Messages
		s.recovered = append(s.recovered, q)
		s.seeQueue(id)
	}
	sort.Slice(s.recovered, func(i, j int) bool { return s.recovered[i].ID < s.recovered[j].ID })
}

// exactBytes adds up the sizes of a chunk's live messages.
func (s *Disk) exactBytes(c *chunk) (n int64) {
	entries, err := s.entriesOf(*c, nil)
	if err != nil {
		return c.liveBytes()
	}
	unpack(entries, c.first, func(e entry) bool {
		if c.alive(e.seq) {
			n += int64(e.body)
		}
		return true
	})
	return n
}

// sortSurveys brings segments into the order of the log. One that was left empty comes before the one that begins where it did.
func sortSurveys(list []survey) {
	slices.SortFunc(list, func(a, b survey) int {
		return cmp.Or(cmp.Compare(a.header.pos, b.header.pos), cmp.Compare(min(1, len(a.batches)), min(1, len(b.batches))), cmp.Compare(a.id, b.id))
	})
}

// readSome reads a file that may have become shorter; the rest stays zero.
func readSome(f file, b []byte) error {
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// isVersion says whether something is sound but of another version.
func isVersion(err error) bool { return errors.Is(err, ErrVersion) }
