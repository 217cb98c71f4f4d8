package store

import (
	"math"
	"slices"
	"testing"
)

// segmentOf is a segment file with one batch of records.
func segmentOf(id uint64, pos uint64, records []byte, size int) []byte {
	data := make([]byte, max(size, segmentHead+batchHead+len(records)))
	copy(data, segmentHeader{id: id, pos: pos, salt: 7}.encode())
	batchHeader{segment: id, pos: pos, salt: 7, size: uint32(len(records))}.encode(data[segmentHead:])
	copy(data[segmentHead+batchHead:], records)
	return data
}

// recordsOfBatch lays a batch out as the log would at a position.
func recordsOfBatch(b *Batch, pos uint64) (records []byte) {
	for i := range b.Pairs() {
		b.Pairs()[i].Seq = uint64(i + 1)
	}
	p := b.take()
	b.forget()
	p.place(pos)
	p.parts(func(part []byte) { records = append(records, part...) })
	return records
}

func sampleBatch() *Batch {
	var b Batch
	b.Publish([]byte("first"), 0)
	b.To(1)
	b.To(2)
	b.Publish([]byte("second"), 9)
	b.To(1)
	b.Settle(3, []Range{{1, 2}, {5, 5}})
	return &b
}

// sampleNotes is a record of notes for the messages of sampleBatch.
func sampleNotes(pos uint64) []byte {
	l := newLog()
	l.lazily(recordNote, func(p *payload) {
		p.appendNotes(1, []Note{{Seq: 1, Data: []byte("a")}, {Seq: 2, Data: []byte("b")}, {Seq: 1, Data: []byte("c")}, {Seq: 9}})
	})
	l.pending[0].place(pos)
	return l.pending[0].buf
}

// replayBytes recovers one segment file in memory.
func replayBytes(data []byte) (*Disk, error) {
	files := newFaultFS()
	files.names[segmentName(1)] = &faultFile{fs: files, name: segmentName(1), data: data, dirty: map[int]bool{}}
	o := crashOptions(files, 0)
	o.AcceptDataLoss = true
	s := newDisk(quiet(o), &root{})
	r := newRecovery(s)
	for _, step := range []func() error{r.openFiles, r.surveyAll, r.checkMissing, r.replayAll} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// FuzzRecover takes any bytes for a segment file, or for the records of a sound batch. Recovery must come to an end, twice to the
// same, and what it found must be readable.
func FuzzRecover(f *testing.F) {
	records := recordsOfBatch(sampleBatch(), 1000+batchHead)
	f.Add(segmentOf(1, 1000, records, 4096), false)
	f.Add(records, true)
	f.Add(append(slices.Clone(records[:20]), records...), true)
	f.Add([]byte{}, false)
	f.Add(append(recordsOfBatch(sampleBatch(), 1000+batchHead), sampleNotes(1000+batchHead+uint64(len(records)))...), true)
	f.Fuzz(func(t *testing.T, data []byte, wrap bool) {
		if wrap {
			data = segmentOf(1, 1000, data, 0)
		}
		s, err := replayBytes(data)
		if err != nil {
			return
		}
		again, err := replayBytes(slices.Clone(data))
		if err != nil || again.report.Records != s.report.Records || len(again.report.Damage) != len(s.report.Damage) {
			t.Fatalf("second recovery: %v, %+v, first %+v", err, again.report, s.report)
		}
		s.summarize()
		for _, q := range s.recovered {
			found := uint64(0)
			for i, n := range q.Notes {
				if !s.index.live(q.ID, n.Seq, false) || i > 0 && n.Seq <= q.Notes[i-1].Seq || len(n.Data) > MaxNote {
					t.Fatalf("queue %d: note %+v", q.ID, n)
				}
			}
			w, err := s.Read(q.ID, []Range{{0, math.MaxUint64}}, math.MaxInt)
			if err != nil || len(w.Lost) > 0 {
				t.Fatalf("queue %d: lost %v, %v", q.ID, w.Lost, err)
			}
			found += uint64(len(w.Messages))
			if found != q.Messages {
				t.Fatalf("queue %d: %d messages, %d counted", q.ID, found, q.Messages)
			}
		}
	})
}

// FuzzRecord decodes any bytes behind a sound checksum.
func FuzzRecord(f *testing.F) {
	records := recordsOfBatch(sampleBatch(), 0)
	for at := 0; at < len(records); {
		n := checkRecord(records[at:], uint64(at))
		if n == 0 {
			f.Fatal("the sample is not valid")
		}
		f.Add(records[at+recordHead : at+n])
		at += n
	}
	f.Add(sampleNotes(0)[recordHead:])
	f.Fuzz(func(t *testing.T, src []byte) {
		var r record
		if err := r.parse(src); err != nil {
			return
		}
		if len(r.body) > len(src) || len(r.pairs)*9 > len(src) || len(r.ranges)*2 > len(src) || len(r.notes)*2 > len(src) {
			t.Fatalf("%d bytes decode to %+v", len(src), r)
		}
	})
}

// FuzzEntries unpacks any bytes as index entries.
func FuzzEntries(f *testing.F) {
	var c chunk
	c.add(entry{seq: 5, offset: 100, size: 60, body: 40}, 60)
	c.add(entry{seq: 9, offset: 300, size: 60, body: 40, tag: 3}, 60)
	f.Add(c.entries)
	f.Fuzz(func(t *testing.T, packed []byte) {
		n := 0
		unpack(packed, 1, func(e entry) bool {
			n++
			return e.size >= e.body && n <= len(packed)
		})
	})
}
