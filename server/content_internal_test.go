package server

import (
	"bytes"
	"sync"
	"testing"

	"leveret/amqp"
)

// A message that does not fit into the rest of its chunk is begun anew in another. If all that was built in the old one has been consumed,
// the chunk is another publisher's at once; what was begun in it must have been copied by then. The race detector sees it best.
func TestBegunMessageIsCopiedBeforeItsChunkGoes(t *testing.T) {
	const messages, body = 2000, 9000
	var publishers sync.WaitGroup
	for g := range 4 {
		publishers.Go(func() {
			p, ch := new(publisher), new(channel)
			key := bytes.Repeat([]byte{byte('a' + g)}, 200)
			for range messages {
				m := amqp.AppendMessageAddress(p.room(ch), []byte("x"), key)
				ch.content.message = m
				if total := len(m) + body; total > cap(m) {
					m = p.move(ch, total, total)
				}
				ch.content.message = append(m, bytes.Repeat(key[:1], body)...)
				kept, k := p.keep(ch)
				if !bytes.Equal(kept.RoutingKey(), key) {
					t.Error("a message has another publisher's routing key")
					return
				}
				k.Hold(1)
				k.Release(1) // consumed
			}
		})
	}
	publishers.Wait()
}

// Memory for a body follows what has come, and is copied seldom for it: all the memory taken on the way is a small multiple of the body.
func TestBodyGrowsByDoubling(t *testing.T) {
	const size, part = 16 << 20, 128<<10 - 8
	content := &content{total: size, message: make([]byte, 0, trustedSize)}
	taken, before := 0, cap(content.message)
	for come := 0; come < size; {
		n := min(part, size-come)
		m := content.grown(n)
		if cap(m) != before {
			taken += cap(m)
			before = cap(m)
		}
		if len(m) != come || cap(m) > min(size, 2*max(trustedSize, come+n)) {
			t.Fatalf("%d octets are reserved after %d of %d have come", cap(m), come, size)
		}
		content.message = m[:come+n]
		come += n
	}
	if taken > 3*size {
		t.Errorf("%d octets were taken for a body of %d", taken, size)
	}
}
