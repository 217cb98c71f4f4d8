package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// The layout on disk, byte for byte: whoever changes it has to change formatVersion too.
func TestLayout(t *testing.T) {
	records := recordsOfBatch(sampleBatch(), 4096)
	want := "" +
		"1b000000" + "6e87612e" + "0100" + "05" + "6669727374" + "02" + "0102" + "0100000000000000" + "0200000000000000" +
		"17000000" + "02839a0f" + "0101" + "09000000" + "06" + "7365636f6e64" + "01" + "01" + "0300000000000000" +
		"08000000" + "ec640a3e" + "0200" + "03" + "02" + "0101" + "0500"
	if got := hex.EncodeToString(records); got != want {
		t.Errorf("records\n%s, want\n%s", got, want)
	}
	header := segmentHeader{id: 3, pos: 4, prev: 2, salt: 5}.encode()
	if got, err := parseSegmentHeader(header); err != nil || got != (segmentHeader{id: 3, pos: 4, prev: 2, salt: 5}) {
		t.Errorf("segment header %+v, %v", got, err)
	}
	if string(header[:8]) != "LVRVLOG1" || len(header) != segmentHead {
		t.Errorf("segment header %q", header)
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pos := rapid.Uint64().Draw(t, "position")
		var b Batch
		var want []string
		describe := func(r record) string {
			return fmt.Sprintf("%d %d %x %v %d %v", r.kind, r.tag, r.body, r.pairs, r.queue, r.ranges)
		}
		for range rapid.IntRange(1, 6).Draw(t, "records") {
			if rapid.Bool().Draw(t, "settle") {
				first := rapid.Uint64Range(0, 1<<50).Draw(t, "first")
				r := record{kind: recordSettle, queue: rapid.Uint64().Draw(t, "queue"), ranges: []Range{{first, first + 7}}}
				b.Settle(r.queue, r.ranges)
				want = append(want, describe(r))
				continue
			}
			size := rapid.SampledFrom([]int{0, 1, 200, MostCopied, MostCopied + 1, 100_000}).Draw(t, "size")
			r := record{kind: recordPublish, tag: rapid.Uint32Range(0, 2).Draw(t, "tag"), body: bytes.Repeat([]byte{1}, size)}
			b.Publish(r.body, r.tag)
			for range rapid.IntRange(0, 3).Draw(t, "pairs") {
				pair := Pair{Queue: rapid.Uint64().Draw(t, "queue"), Seq: uint64(len(b.Pairs()) + 1)}
				b.To(pair.Queue)
				r.pairs = append(r.pairs, pair)
			}
			want = append(want, describe(r))
		}
		records := recordsOfBatch(&b, pos)
		for at := 0; at < len(records); {
			n := checkRecord(records[at:], pos+uint64(at))
			if n == 0 {
				t.Fatalf("record at %d is not valid", at)
			}
			if checkRecord(records[at:at+n], pos+uint64(at)+1) != 0 {
				t.Fatal("valid at another position too")
			}
			var r record
			if err := r.parse(records[at+recordHead : at+n]); err != nil || describe(r) != want[0] {
				t.Fatalf("got %.200s (%v), want %.200s", describe(r), err, want[0])
			}
			want, at = want[1:], at+n
		}
		if len(want) > 0 {
			t.Fatalf("%d records are missing", len(want))
		}
	})
}

func TestUnknownRecordsAreRefusedByName(t *testing.T) {
	for name, c := range map[string]struct {
		src  []byte
		want error
	}{
		"kind":                  {[]byte{9, 0}, ErrVersion},
		"replication flag":      {[]byte{recordSettle, 0x80, 1, 0}, ErrVersion},
		"short":                 {[]byte{recordPublish, 0, 5, 1}, ErrCorrupt},
		"more than its fields":  {[]byte{recordDrop, 0, 1, 1}, ErrCorrupt},
		"too many pairs":        {[]byte{recordPublish, 0, 0, 255, 255, 3}, ErrCorrupt},
		"too many ranges":       {[]byte{recordSettle, 0, 1, 255, 255, 3}, ErrCorrupt},
		"a number without end":  {bytes.Repeat([]byte{255}, 20), ErrVersion},
		"nothing but the flags": {[]byte{recordDrop, 0}, ErrCorrupt},
	} {
		var r record
		if err := r.parse(c.src); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHeadersAreChecked(t *testing.T) {
	head := make([]byte, batchHead)
	h := batchHeader{segment: 1, pos: 2, synced: 3, size: 4, records: 5, salt: 6}
	h.encode(head)
	if got, ok := parseBatchHeader(head); !ok || got != h {
		t.Fatalf("got %+v, %v", got, ok)
	}
	segment := segmentHeader{id: 1}.encode()
	for i := range head {
		head[i] ^= 1
		if _, ok := parseBatchHeader(head); ok {
			t.Errorf("byte %d of a batch header is not checked", i)
		}
		head[i] ^= 1
	}
	for i := range segment {
		segment[i] ^= 1
		if _, err := parseSegmentHeader(segment); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d of a segment header is not checked", i)
		}
		segment[i] ^= 1
	}
}
