package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
)

// Inspect prints what is in a store's folder: definitions by number, the checkpoint, queues, segments, and for each segment that
// would be replayed what is in it. The folder is locked meanwhile, and nothing in it is changed.
func Inspect(dir string, w io.Writer) error {
	return examine(dir, func(e *examination) error { return e.inspect(w) })
}

// Check reads everything that is live or would be replayed, and compares checksums and counts. It prints what is wrong and returns
// ErrCorrupt if confirmed data is. Nothing is changed.
func Check(dir string, w io.Writer) error {
	return examine(dir, func(e *examination) error { return e.check(w) })
}

// examination is a store that was recovered in memory, without writing.
type examination struct {
	s *Disk
	r *recovery
}

// examine recovers a folder in memory, with the steps that only read, and shows the result to look.
func examine(dir string, look func(*examination) error) (err error) {
	lock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	root, err := openRoot(dir, true)
	if err != nil {
		return err
	}
	o := DefaultOptions()
	o.AcceptDataLoss = true // the report says what is missing
	o.files = osFolder{filepath.Join(dir, "log")}
	s := newDisk(quiet(o), root)
	defer func() { err = errors.Join(err, s.closeExamined()) }()
	r := newRecovery(s)
	defer func() { err = errors.Join(err, r.closeFiles()) }()
	for _, step := range r.reading() {
		if err := step(); err != nil {
			return err
		}
	}
	for id, seg := range r.known {
		if !seg.moved {
			seg.file = r.files[id]
			delete(r.files, id)
		}
		s.segments = append(s.segments, seg)
	}
	byPosition(s.segments)
	s.summarize()
	return look(&examination{s, r})
}

// closeExamined closes what an examination opened.
func (s *Disk) closeExamined() (err error) {
	for _, seg := range s.segments {
		if f := seg.detach(); f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return errors.Join(err, s.root.closeFile())
}

// inspect prints in the order in which a start reads: root file, segments, queues, damage.
func (e *examination) inspect(w io.Writer) error {
	p := &printer{w: w}
	err := e.s.root.view(func(tx *bbolt.Tx) error {
		p.line("format version %d, closed in order %v", number(tx, keyVersion), number(tx, keyClean) == 1)
		p.line("checkpoint at %d, next queue id %d, next segment %d", e.r.ckpt, number(tx, keyQueue), number(tx, keySegment))
		p.line("definitions:")
		err := tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if bucket, ok := strings.CutPrefix(string(name), definitionsPrefix); ok {
				p.line("  %s: %d", bucket, b.Stats().KeyN)
			}
			return nil
		})
		p.line("survivors in the root file: %d", tx.Bucket(bucketBodies).Stats().KeyN)
		return err
	})
	p.line("segments:")
	for _, seg := range e.s.segments {
		p.line("  %d: position %d to %d, %d bytes, %d live, %s", seg.id, seg.pos, seg.end, seg.size, seg.refs, seg.describe())
		if n := e.r.kinds[seg.id]; n != nil {
			p.line("     records: %d messages, %d settlements, %d dropped queues, %d ends of atomic batches, %d groups of notes",
				n[recordPublish], n[recordSettle], n[recordDrop], n[recordGroup], n[recordNote])
		}
	}
	p.line("queues:")
	for _, q := range e.s.recovered {
		p.line("  %d: %d messages, %d bytes, next %d, live %s, %d notes", q.ID, q.Messages, q.Bytes, q.Next, describeRanges(q.Live), len(q.Notes))
	}
	p.damage(e.s.report.Damage)
	return errors.Join(err, p.err)
}

// check reads every live message.
func (e *examination) check(w io.Writer) error {
	p := &printer{w: w}
	p.damage(e.s.report.Damage)
	bad := slices.ContainsFunc(e.s.report.Damage, func(d Damage) bool { return !d.Torn })
	read := 0
	for _, id := range slices.Sorted(maps.Keys(e.s.index.lanes)) {
		l := e.s.index.lanes[id]
		for _, c := range l.chunks {
			n, lost, err := e.checkChunk(c)
			if err != nil {
				return err
			}
			read += n
			for _, r := range lost {
				bad = true
				p.line("queue %d: messages %d to %d in segment %d can't be read", id, r.First, r.Last, c.seg.id)
			}
			if n != c.live && len(lost) == 0 {
				bad = true
				p.line("queue %d: segment %d should have %d messages from %d on, it has %d", id, c.seg.id, c.live, c.first, n)
			}
		}
	}
	p.line("%d messages of %d queues read", read, len(e.s.recovered))
	if bad {
		return errors.Join(p.err, ErrCorrupt)
	}
	return p.err
}

// checkChunk reads the live messages of a chunk, and returns how many could be read and which not.
func (e *examination) checkChunk(c *chunk) (n int, lost []Range, err error) {
	if c.live == 0 {
		return 0, nil, nil
	}
	from, ranges := c.first, []Range{{c.first, c.last}}
	for from <= c.last {
		ranges[0].First = from
		var w Window
		r := e.s.newReader(c.queue, readAhead, nil, &w)
		if err := errors.Join(r.show(ranges), r.finish()); err != nil {
			return n, lost, err
		}
		n += len(w.Messages)
		lost = append(lost, w.Lost...)
		from = w.Next
	}
	return n, lost, nil
}

// describe says in words where a segment's messages are.
func (seg *segment) describe() string {
	switch {
	case seg.moved:
		return "moved into the root file"
	case seg.punched:
		return "partly given back"
	case seg.saved:
		return "saved by a checkpoint"
	}
	return "to be replayed"
}

// describeRanges shortens long lists.
func describeRanges(ranges []Range) string {
	const most = 5
	var b strings.Builder
	for i, r := range ranges {
		if i == most {
			fmt.Fprintf(&b, " and %d more ranges", len(ranges)-most)
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if r.First == r.Last {
			fmt.Fprintf(&b, "%d", r.First)
		} else {
			fmt.Fprintf(&b, "%d-%d", r.First, r.Last)
		}
	}
	return cmp.Or(b.String(), "none")
}

// printer keeps the first error of writing.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) damage(list []Damage) {
	for _, d := range list {
		p.line("%s", d)
	}
}
