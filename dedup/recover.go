package dedup

import (
	"encoding/binary"
	"fmt"
	"time"

	"leveret/store"
)

// readBytes is how many bytes of records are read at once.
const readBytes = 1 << 20

// Recover makes a window with the keys that the log has kept, what has expired or is too much aside. It waits for the disk.
func Recover(opts Options, state store.QueueState) (*Window, error) {
	w := New(opts)
	if w.opts.Log == nil {
		return w, nil
	}
	if state.Next > 0 {
		w.seq = state.Next - 1
	}
	for left := state.Live; len(left) > 0; {
		read, err := w.opts.Log.Read(w.opts.ID, left, readBytes)
		if err != nil {
			return nil, fmt.Errorf("read the keys of window %d: %w", w.opts.ID, err)
		}
		now := time.Now().UnixMilli()
		for _, m := range read.Messages {
			w.restore(m, now)
		}
		left = from(left, read.Next)
	}
	w.tell(w.settled)
	w.settled = nil
	return w, nil
}

// restore takes in a key from the log. What can't be read is forgotten.
func (w *Window) restore(m store.Message, now int64) {
	if len(m.Body) != recordSize {
		w.settled.add(m.Seq)
		return
	}
	e := entry{key: Key(m.Body[:len(Key{})]), expires: int64(binary.LittleEndian.Uint64(m.Body[len(Key{}):])), seq: m.Seq}
	if e.expired(now) {
		w.settled.add(m.Seq)
		return
	}
	w.trim(now, 1)
	w.push(e)
}

// from cuts off what lies below next.
func from(ranges []store.Range, next uint64) []store.Range {
	for i, r := range ranges {
		if r.Last >= next {
			rest := append([]store.Range(nil), ranges[i:]...)
			rest[0].First = max(r.First, next)
			return rest
		}
	}
	return nil
}
