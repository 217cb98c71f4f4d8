package store

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// logImage is one segment file with batches of numbered messages of queue 1, three a batch.
type logImage struct {
	data    []byte
	batches []int // offsets of the headers
	records []int // offsets of the records
	end     int
}

// makeImage lays out batches; each header promises that the batches before it are synced.
func makeImage(pos uint64, batches int, atomic bool) *logImage {
	m := &logImage{data: make([]byte, 8192), end: segmentHead}
	copy(m.data, segmentHeader{id: 1, pos: pos, salt: 7}.encode())
	start, seq := pos, uint64(0)
	for range batches {
		b := Batch{Atomic: atomic}
		for range 3 {
			b.Publish(slices.Repeat([]byte{byte(seq)}, 100), 0)
			b.To(1)
		}
		for i := range b.Pairs() {
			seq++
			b.Pairs()[i].Seq = seq
		}
		p := b.take()
		pos = start + uint64(m.end-segmentHead)
		p.place(pos + batchHead)
		m.batches = append(m.batches, m.end)
		batchHeader{segment: 1, pos: pos, synced: pos, salt: 7, size: uint32(p.length())}.encode(m.data[m.end:])
		m.end += batchHead
		for i := range p.recs {
			m.records = append(m.records, m.end+p.recs[i].off)
		}
		m.end += copy(m.data[m.end:], p.buf)
	}
	return m
}

// replayed describes what recovery makes of the image: the live sequences, and a word for each damage.
func (m *logImage) replayed(t *testing.T) string {
	t.Helper()
	s, err := replayBytes(m.data)
	if err != nil {
		t.Fatal(err)
	}
	var ranges []Range
	if l := s.index.lanes[1]; l != nil {
		for _, c := range l.chunks {
			ranges = c.ranges(ranges)
		}
	}
	var damage []string
	for _, d := range s.report.Damage {
		word := "damaged"
		if d.Torn {
			word = "torn"
		}
		damage = append(damage, fmt.Sprintf("%s:%d", word, d.Offset))
	}
	return describeRanges(ranges) + " " + strings.Join(damage, " ")
}

// What recovery keeps, skips, and how it calls it, for each sort of damage. There are four batches of three messages.
func TestReplayOfDamagedSegments(t *testing.T) {
	for _, c := range []struct {
		name   string
		atomic bool
		damage func(m *logImage)
		want   func(m *logImage) string
	}{
		{"none", false, func(*logImage) {}, func(*logImage) string { return "1-12 " }},
		{"a body in the middle",
			false,
			func(m *logImage) { m.data[m.records[4]+30] ^= 1 },
			func(m *logImage) string { return fmt.Sprintf("1-4 6-12 damaged:%d", m.records[4]) }},
		{"a length in the middle",
			false,
			func(m *logImage) { m.data[m.records[4]] ^= 4 },
			func(m *logImage) string { return fmt.Sprintf("1-4 6-12 damaged:%d", m.records[4]) }},
		{"a length that grows beyond the file",
			false,
			func(m *logImage) { m.data[m.records[4]+3] ^= 0x40 },
			func(m *logImage) string { return fmt.Sprintf("1-4 6-12 damaged:%d", m.records[4]) }},
		{"a batch header in the middle costs nothing",
			false,
			func(m *logImage) { m.data[m.batches[1]+9] ^= 1 },
			func(m *logImage) string { return fmt.Sprintf("1-12 damaged:%d", m.batches[1]) }},
		{"the segment header costs nothing",
			false,
			func(m *logImage) { m.data[17] ^= 1 },
			func(*logImage) string { return "1-12 damaged:0" }},
		{"a body of the last batch, which nothing promises",
			false,
			func(m *logImage) { m.data[m.records[10]+30] ^= 1 },
			func(m *logImage) string { return fmt.Sprintf("1-10 12 torn:%d", m.records[10]) }},
		{"the last batch's header",
			false,
			func(m *logImage) { m.data[m.batches[3]+9] ^= 1 },
			func(m *logImage) string { return fmt.Sprintf("1-12 torn:%d", m.batches[3]) }},
		{"the last batch without its end",
			false,
			func(m *logImage) { clear(m.data[m.records[11]+20:]) },
			func(m *logImage) string { return fmt.Sprintf("1-11 torn:%d", m.records[11]) }},
		{"two batches on one lost sector",
			false,
			func(m *logImage) { clear(m.data[m.records[5]:m.records[6]]) },
			func(m *logImage) string {
				return fmt.Sprintf("1-5 7-12 damaged:%d damaged:%d", m.records[5], m.batches[2])
			}},
		{"an atomic batch whose last record is torn never was",
			true,
			func(m *logImage) { clear(m.data[m.records[15]:]) },
			func(m *logImage) string { return fmt.Sprintf("1-9 torn:%d", m.records[15]) }},
		{"an atomic batch with a torn member never was",
			true,
			func(m *logImage) { m.data[m.records[13]+30] ^= 1 },
			func(m *logImage) string { return fmt.Sprintf("1-9 torn:%d", m.records[13]) }},
		{"a confirmed atomic batch loses only what is damaged",
			true,
			func(m *logImage) { m.data[m.records[5]+30] ^= 1 },
			func(m *logImage) string { return fmt.Sprintf("1-4 6-12 damaged:%d", m.records[5]) }},
		{"a confirmed atomic batch whose end is damaged",
			true,
			func(m *logImage) { m.data[m.records[7]+9] ^= 1 },
			func(m *logImage) string { return fmt.Sprintf("1-12 damaged:%d", m.records[7]) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := makeImage(0, 4, c.atomic)
			c.damage(m)
			if got, want := m.replayed(t), c.want(m); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		})
	}
}

// A recycled file has whole batches of its last use behind the new ones, and records at the very same offsets.
func TestOldBytesOfARecycledFileAreNotRead(t *testing.T) {
	old := makeImage(100_000, 6, false)
	m := makeImage(0, 3, false)
	fresh := slices.Clone(old.data)
	copy(fresh, segmentHeader{id: 1, salt: 8}.encode())
	for i, at := range m.batches {
		pos := uint64(at - segmentHead)
		var b Batch
		b.Publish(make([]byte, 100), 0)
		b.To(1)
		b.Pairs()[0].Seq = uint64(100 + i)
		p := b.take()
		p.place(pos + batchHead)
		// The header says that the batch is as long as the old one, but only its first record reached the disk.
		size := m.end - at - batchHead
		if i+1 < len(m.batches) {
			size = m.batches[i+1] - at - batchHead
		}
		batchHeader{segment: 1, pos: pos, salt: 8, size: uint32(size)}.encode(fresh[at:])
		copy(fresh[at+batchHead:], p.buf)
	}
	m.data = fresh
	if got := m.replayed(t); !strings.HasPrefix(got, "100-102 torn") {
		t.Fatalf("got %q", got)
	}
}

// What stands behind the position at which the next segment begins was abandoned by a writer whose disk refused.
func TestRecordsBehindTheNextSegmentAreVoid(t *testing.T) {
	m := makeImage(0, 4, false)
	var seqs []uint64
	limit := uint64(m.batches[2] - segmentHead)
	sc := scanner{
		survey: surveySegment(1, m.data), limit: limit,
		record: func(_ uint64, _ int, src []byte) {
			var r record
			if r.parse(src[recordHead:]) == nil {
				seqs = append(seqs, r.pairs[0].Seq)
			}
		},
		gap:   func(g gap) { t.Errorf("gap %+v", g) },
		batch: func() {},
	}
	sc.scan()
	if !slices.Equal(seqs, []uint64{1, 2, 3, 4, 5, 6}) || sc.end != m.batches[2] {
		t.Fatalf("messages %v up to %d", seqs, sc.end)
	}
}

func TestSurveyIgnoresForeignHeaders(t *testing.T) {
	m := makeImage(0, 2, false)
	for name, change := range map[string]func(h *batchHeader){
		"segment":  func(h *batchHeader) { h.segment++ },
		"salt":     func(h *batchHeader) { h.salt++ },
		"position": func(h *batchHeader) { h.pos++ },
		"size":     func(h *batchHeader) { h.size = math.MaxUint32 },
	} {
		data := slices.Clone(m.data)
		h, ok := parseBatchHeader(data[m.batches[1]:])
		if !ok {
			t.Fatal("no header")
		}
		change(&h)
		h.encode(data[m.batches[1]:])
		if v := surveySegment(1, data); len(v.batches) != 1 {
			t.Errorf("%s: %d batches", name, len(v.batches))
		}
	}
	if v := surveySegment(2, m.data); v.begun {
		t.Error("a file of another id counts as begun")
	}
}
