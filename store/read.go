package store

import (
	"errors"
	"math"
	"os"
	"slices"
)

// scanEntries is how many index entries Scan takes at a time where it has to merge.
const scanEntries = 4096

// Read implements Store.
func (s *Disk) Read(queue uint64, ranges []Range, limit int) (Window, error) {
	var w Window
	if err := s.ReadInto(&w, queue, ranges, limit, nil); err != nil {
		return Window{}, err
	}
	return w, nil
}

// ReadInto implements Store.
func (s *Disk) ReadInto(w *Window, queue uint64, ranges []Range, limit int, buffer func(size, messages int) []byte) error {
	*w = Window{Messages: w.Messages[:0], Lost: w.Lost[:0], Parts: w.Parts[:0]}
	if err := s.settleIn(queue, ranges); err != nil {
		return err
	}
	s.reading <- struct{}{}
	defer func() { <-s.reading }()
	r := s.newReader(queue, limit, buffer, w)
	err := r.show(ranges)
	return errors.Join(err, r.finish())
}

// Fetch implements Store.
func (s *Disk) Fetch(w *Window, queue uint64, places []Place, buffer func(size, messages int) []byte) error {
	*w = Window{Messages: w.Messages[:0], Lost: w.Lost[:0], Parts: w.Parts[:0]}
	s.reading <- struct{}{}
	defer func() { <-s.reading }()
	all := 1 // so that the limit is never reached
	for i := range places {
		all += places[i].body
	}
	r := s.newReader(queue, all, buffer, w)
	for i := range places {
		if !r.visit(places[i].location) {
			break
		}
	}
	return r.finish()
}

// show shows the reader what is wanted of it.
func (r *reader) show(ranges []Range) error {
	if !r.s.index.spills(r.queue) { // nothing to merge
		logged := walk{s: r.s, queue: r.queue, visit: r.visit}
		err := logged.run(ranges)
		r.w.Next = logged.next
		r.w.Lost = append(r.w.Lost, logged.lost...)
		return err
	}
	found, err := r.s.locate(r.queue, ranges, r.limit, math.MaxInt, r.w)
	for _, m := range found {
		if !r.visit(m) {
			break
		}
	}
	return err
}

// Scan implements Store.
func (s *Disk) Scan(queue uint64, ranges []Range, each func(Info) bool) error {
	if err := s.settleIn(queue, ranges); err != nil {
		return err
	}
	if !s.index.spills(queue) { // nothing to merge, as at a start, when there may be millions
		logged := walk{s: s, queue: queue, visit: func(m location) bool { return each(m.info()) }}
		return logged.run(ranges)
	}
	for len(ranges) > 0 {
		var w Window
		found, err := s.locate(queue, ranges, math.MaxInt, scanEntries, &w)
		if err != nil {
			return err
		}
		for _, m := range found {
			if !each(m.info()) {
				return nil
			}
		}
		ranges = rangesFrom(ranges, w.Next)
	}
	return nil
}

// info is what the index knows of the message.
func (m *location) info() Info {
	return Info{Seq: m.seq, Tag: m.tag, Size: m.body, Transient: m.seg.spilled, Place: Place{*m}}
}

// rangesFrom returns what of the ranges is at or above seq.
func rangesFrom(ranges []Range, seq uint64) []Range {
	for len(ranges) > 0 && ranges[0].Last < seq {
		ranges = ranges[1:]
	}
	if len(ranges) > 0 && ranges[0].First < seq {
		ranges = slices.Clone(ranges)
		ranges[0].First = seq
	}
	return ranges
}

// settleIn waits until the index has what was appended before the call, if it may concern the ranges.
func (s *Disk) settleIn(queue uint64, ranges []Range) error {
	if len(ranges) == 0 {
		return nil
	}
	s.log.mu.Lock()
	upto := s.log.published
	s.log.mu.Unlock()
	x := s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.applied < upto {
		if l := x.lanes[queue]; l != nil && l.next > ranges[len(ranges)-1].Last {
			break
		}
		if x.ended != nil {
			return x.ended
		}
		x.moved.Wait()
	}
	if errors.Is(x.ended, ErrClosed) {
		return ErrClosed
	}
	return nil
}

// readAt reads from the segment's file; os.ErrClosed when it is gone.
func (seg *segment) readAt(b []byte, offset int64) error {
	seg.mu.RLock()
	defer seg.mu.RUnlock()
	if seg.file == nil {
		return os.ErrClosed
	}
	_, err := seg.file.ReadAt(b, offset)
	return err
}
