package perf

import (
	"fmt"
	"sync/atomic"
	"time"
)

// window is the messages of one producer that are not confirmed yet. The producer enters messages, its reader settles them; each side
// has fields that the other only reads, so that there is no lock.
//
//	          lowest                    entered
//	  settled |  open and settled mixed | free
//	----------+-------------------------+---------> delivery tags
//	          |<-- reach, < len(ring) ->|
//
// A slot is used again only after lowest has passed it, which the producer learns by an atomic load: so what the reader did with the slot
// is behind it. In the other direction the store of entered, before the write to the socket, does the same.
type window struct {
	size uint64
	ring []slot // by delivery tag; a power of two, and several times the size, as confirms may come in any order
	room chan struct{}

	entered  atomic.Uint64 // the last tag that was published; by the producer
	settled  atomic.Uint64 // how many are confirmed, either way; by the reader
	lowest   atomic.Uint64 // the lowest tag that is not; by the reader
	confirms confirms      // by the reader
}

type slot struct {
	at      int64 // when it was published; by the producer
	settled bool  // by the reader
}

// confirms is what the reader has counted. Its owner guards it.
type confirms struct {
	acked, nacked uint64
	latency       histogram
	keep          bool // which were acked
	tags          spans
}

func newWindow(size int) *window {
	n := 1
	for n < 4*size {
		n *= 2
	}
	w := &window{size: uint64(size), ring: make([]slot, n), room: make(chan struct{}, 1)}
	w.lowest.Store(1)
	return w
}

// free is how many messages may be published now.
func (w *window) free() uint64 {
	entered := w.entered.Load()
	outstanding := entered - w.settled.Load()
	reach := entered - w.lowest.Load() + 1 // how far the ring is in use
	if outstanding >= w.size || reach >= uint64(len(w.ring)) {
		return 0
	}
	return min(w.size-outstanding, uint64(len(w.ring))-reach)
}

// enter takes messages in, which are about to be written: n of them, published at a time and then each a step later. There must be room.
func (w *window) enter(n uint64, at, step int64) {
	last := w.entered.Load() + n
	for tag := last - n + 1; tag <= last; tag++ {
		w.ring[tag&uint64(len(w.ring)-1)].at = at
		at += step
	}
	w.entered.Store(last)
}

// settle takes a confirm: of one tag, or of all up to it.
func (w *window) settle(tag uint64, multiple, ack bool, now int64) error {
	lowest, entered := w.lowest.Load(), w.entered.Load()
	if tag == 0 || tag > entered {
		return fmt.Errorf("the broker confirmed delivery tag %d, of %d published", tag, entered)
	}
	first := tag
	if multiple {
		first = lowest
	}
	// Tags between were perhaps confirmed alone before; the slot knows.
	for t := first; t <= tag; t++ {
		w.settleOne(t, lowest, ack, now)
	}
	for lowest <= entered && w.ring[lowest&uint64(len(w.ring)-1)].settled {
		w.ring[lowest&uint64(len(w.ring)-1)].settled = false
		lowest++
	}
	w.lowest.Store(lowest)
	select {
	case w.room <- struct{}{}:
	default: // the producer has one wake-up before it already
	}
	return nil
}

func (w *window) settleOne(tag, lowest uint64, ack bool, now int64) {
	s := &w.ring[tag&uint64(len(w.ring)-1)]
	if tag < lowest || s.settled {
		return // confirmed before: what brokers must not do, but it counts once
	}
	s.settled = true
	w.settled.Add(1)
	if !ack {
		w.confirms.nacked++
		return
	}
	w.confirms.acked++
	if w.confirms.keep {
		w.confirms.tags.add(tag)
	}
	w.confirms.latency.add(time.Duration(now-s.at), 1)
}
