package store

import (
	"fmt"
	"time"
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
