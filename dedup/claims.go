package dedup

import (
	"encoding/binary"
	"time"

	"leveret/store"
)

// Claim is a key that a message brings to a window.
type Claim struct {
	window *Window
	key    Key
	ttl    int64
	at     uint64 // where it stands in the window, once it is taken
	pair   int    // its place among the pairs of the log's batch, once it is logged
}

// Claims are the keys that one message brings to the windows on its way. They belong to one goroutine.
type Claims []Claim

// Meet shows the window a message, by its encoded headers. It reports whether this is a duplicate; if it is not and has a key, that is
// added to the claims, and nothing is remembered before Take.
func (c *Claims) Meet(w *Window, headers []byte) (duplicate bool) {
	key, ttl, ok := w.key(headers)
	if !ok {
		return false
	}
	if w.knows(key) {
		return true
	}
	*c = append(*c, Claim{window: w, key: key, ttl: ttl})
	return false
}

// Take makes the windows remember the keys: all of them, or, when one of them has become known since Meet, none. It allocates only what the
// windows need.
func (c Claims) Take() bool {
	for i := range c {
		at, ok := c[i].window.take(c[i].key, c[i].ttl)
		if !ok {
			c[:i].Release()
			return false
		}
		c[i].at, c[i].pair = at, -1
	}
	return true
}

// Release makes the windows forget keys that were taken: the message did not come to be sent.
func (c Claims) Release() {
	for i := range c {
		c[i].window.forget(c[i].key, c[i].at)
	}
}

// recordSize is the length of a key's record: the key, and when it expires.
const recordSize = len(Key{}) + 8

// Log appends the records of the keys to a batch of the log, to be called behind the message's own record. The callback of the batch's Append
// has to call Number for the same claims.
func (c Claims) Log(b *store.Batch) {
	for i := range c {
		w := c[i].window
		if w.opts.Log == nil {
			continue
		}
		var record [recordSize]byte
		copy(record[:], c[i].key[:])
		if c[i].ttl > 0 {
			binary.LittleEndian.PutUint64(record[len(Key{}):], uint64(time.Now().UnixMilli()+c[i].ttl))
		}
		b.Publish(record[:], 0)
		b.To(w.opts.ID)
		c[i].pair = len(b.Pairs()) - 1
	}
}

// Number gives the records of the keys their numbers, in the callback of the batch's Append.
func (c Claims) Number(pairs []store.Pair) {
	for i := range c {
		if c[i].pair >= 0 {
			pairs[c[i].pair].Seq = c[i].window.number(c[i].at)
		}
	}
}
