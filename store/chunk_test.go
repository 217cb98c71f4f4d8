package store

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A chunk against a plain map of what is live.
func TestChunkAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &chunk{seg: &segment{id: 1}, queue: 1}
		live := map[uint64]entry{}
		seq, offset := rapid.Uint64Range(0, 500).Draw(t, "start"), int64(segmentHead)
		add := func(t *rapid.T) {
			step := rapid.SampledFrom([]uint64{1, 1, 1, 2, 63, 64, 65, chunkGap}).Draw(t, "step")
			if c.n > 0 && !c.fits(seq+step) {
				t.Skip("full")
			}
			seq += step
			e := entry{seq: seq, offset: offset, body: rapid.IntRange(0, 5000).Draw(t, "body"), tag: rapid.Uint32Range(0, 1).Draw(t, "tag")}
			e.size = e.body + 20
			offset += int64(e.size) + rapid.Int64Range(0, 3).Draw(t, "others")
			c.add(e, int64(e.size))
			live[seq] = e
		}
		add(t)
		t.Repeat(map[string]func(*rapid.T){
			"add":      add,
			"add more": add,
			"settle": func(t *rapid.T) {
				first := rapid.Uint64Range(0, seq+10).Draw(t, "first")
				r := Range{first, first + rapid.Uint64Range(0, 100).Draw(t, "length")}
				want := 0
				for s := range live {
					if r.First <= s && s <= r.Last {
						delete(live, s)
						want++
					}
				}
				if got := c.settle(r); got != want {
					t.Fatalf("settled %d in %v, want %d", got, r, want)
				}
				if c.live == 0 {
					t.Skip("dead")
				}
			},
			"": func(t *rapid.T) { checkChunk(t, c, live) },
		})
	})
}

func checkChunk(t *rapid.T, c *chunk, live map[uint64]entry) {
	if c.live != len(live) {
		t.Fatalf("%d live, want %d", c.live, len(live))
	}
	loaded := &chunk{seg: c.seg, queue: c.queue, first: c.first, floor: c.first}
	key := c.key().encode()
	seal := func(v []byte) []byte {
		if v == nil {
			return nil
		}
		crc := valueCRC(key, v)
		return append(slices.Clone(v), byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24))
	}
	if err := loaded.load(key, seal(c.encodeSummary()), seal(c.encodeLive())); err != nil {
		t.Fatal(err)
	}
	entries := c.entries
	for _, c := range []*chunk{c, loaded} {
		var ranges []Range
		ok := unpack(entries, c.first, func(e entry) bool {
			if want, there := live[e.seq]; c.alive(e.seq) != there || there && want != e {
				t.Fatalf("entry %+v live %v, want %+v", e, c.alive(e.seq), want)
			}
			if c.alive(e.seq) {
				ranges = joinRange(ranges, Range{e.seq, e.seq})
			}
			return true
		})
		if !ok || fmt.Sprint(c.ranges(nil)) != fmt.Sprint(ranges) {
			t.Fatalf("unpacked %v; ranges %v, want %v", ok, c.ranges(nil), ranges)
		}
	}
}
