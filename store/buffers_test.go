package store

import (
	"bytes"
	"fmt"
	"testing"
)

// A payload that grows over all sizes of buffers keeps what it held.
func TestPayloadGrows(t *testing.T) {
	var b Batch
	var want []string
	for i := range 2 * bufferSizes[len(bufferSizes)-1] >> 10 {
		want = append(want, fmt.Sprintf("%06d%s", i, bytes.Repeat([]byte{'x'}, 1<<10)))
		b.Publish([]byte(want[i]), uint32(i))
		b.To(7)
	}
	p := b.take()
	if len(p.recs) != len(want) || len(p.pairs) != len(want) {
		t.Fatalf("%d records and %d places, want %d", len(p.recs), len(p.pairs), len(want))
	}
	for i := range p.recs {
		if got := string(p.bodyOf(&p.recs[i])); got != want[i] || p.recs[i].tag != uint32(i) {
			t.Fatalf("record %d is %.10s with tag %d, want %.10s", i, got, p.recs[i].tag, want[i])
		}
	}
}

// Small batches that wait for the disk together hold small buffers, whatever was held before.
func TestSmallBatchesHoldSmallBuffers(t *testing.T) {
	body := make([]byte, 1<<10)
	fill := func(b *Batch, messages int) *payload {
		for range messages {
			b.Publish(body, 0)
			b.To(7)
		}
		p := b.take()
		b.forget()
		return p
	}
	var b Batch
	for range 100 {
		fill(&b, 1000).release()
		fill(&b, 1).release()
	}
	held := 0
	for range 1000 {
		held += cap(fill(&b, 1).buf)
	}
	if most := 1001 * 2 * bufferSizes[0]; held > most {
		t.Errorf("1000 small batches hold %d bytes, want %d at most", held, most)
	}
}

// A batch like the one before begins with a buffer that is large enough.
func TestBatchExpectsItsLike(t *testing.T) {
	var b Batch
	body := make([]byte, 1<<10)
	for round := range 3 {
		for range 256 {
			b.Publish(body, 0)
			b.To(7)
			if round > 0 && cap(b.p.buf) < 256<<10 {
				t.Fatalf("round %d begins with %d bytes", round, cap(b.p.buf))
			}
		}
		b.take().release()
		b.forget()
	}
}
