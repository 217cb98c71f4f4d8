package store

import "testing"

// written returns up to where the first segment's file was written, and its size.
func (l *life) written() (end, size int64) {
	l.writer.turn.Lock()
	defer l.writer.turn.Unlock()
	return l.writer.seg.overwrites, l.writer.seg.size
}

// Small batches in a new file bring zeros along for those that follow.
func TestZerosAhead(t *testing.T) {
	large := func(o *Options) { o.SegmentSize, o.BatchSize = 2<<20, 1<<20 }
	l := begin(t, t.TempDir(), newFaultFS(), large)
	l.confirmed(l.send(1, 1, 100))
	first, size := l.written()
	if first < zerosAhead || first > zerosAhead+1000 {
		t.Fatalf("after a small batch %d bytes were written", first)
	}
	l.confirmed(l.send(1, 10, 100))
	if end, _ := l.written(); end != first {
		t.Fatalf("what fits into the zeros wrote on to %d", end)
	}
	l.confirmed(l.send(1, 1, 2*smallBatch))
	if end, _ := l.written(); end <= first-zerosAhead+2*smallBatch || end >= first+zerosAhead {
		t.Fatalf("a large batch wrote up to %d", end)
	}
	for end := int64(0); end < size; end, _ = l.written() {
		l.confirmed(l.send(1, 1, 50_000))
	}
	if end, _ := l.written(); end != size {
		t.Fatalf("%d bytes were written into a file of %d", end, size)
	}
	n := l.next[1]
	l = l.kill()
	defer l.end()
	l.has(1, Range{1, n})
}

// A file that was a segment before needs no zeros.
func TestNoZerosInAUsedFile(t *testing.T) {
	files := newFaultFS()
	l := begin(t, t.TempDir(), files, nil)
	defer l.end()
	l.until("a segment is used again", func() bool {
		lsn := l.send(1, 1, 9000)
		l.Settle(1, []Range{{1, l.next[1]}})
		l.confirmed(lsn)
		l.applied()
		return l.reused()
	})
}

// reused reports whether the segment that is written was another one before: all of a new one is written only when it is full.
func (l *life) reused() bool {
	l.writer.turn.Lock()
	defer l.writer.turn.Unlock()
	return l.writer.seg.overwrites == l.writer.seg.size && l.writer.pos < l.writer.seg.pos+uint64(l.writer.seg.size)/2
}
