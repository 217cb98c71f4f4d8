package queue

import (
	"leveret/amqp"
	"leveret/store"
)

const (
	// pieceBits is how many slots of the timeline, as a power of two, are read together. Larger pieces would take more memory, and more of the
	// processor at once.
	pieceBits = 3
	// fetchUnits is how long before it is due, in units, a piece is read.
	fetchUnits = 24
	// nearbyMost is about how many places are kept. What is more is read when it is due, in the order in which the log has it: that many can't be
	// on time anyway.
	nearbyMost = 128 << 10
)

// nearby are the places, in the log, of messages that are due within the next seconds and are not in memory. To find them takes a look through the
// index of the whole queue, once for all that are due in one second; to read them does not, so that is left until shortly before they are due.
// Owned by whoever runs the queue.
type nearby struct {
	places   map[uint32][]nearbyOne // by piece
	count    int                    // of these
	fetches  map[uint32]*fetch      // that are under way, by piece
	promised int                    // for how many bytes of them there is to be room
}

// nearbyOne is a message that is due soon.
type nearbyOne struct {
	tag   uint32
	place store.Place
}

// add notes a message that stands in a slot of level 0.
func (y *nearby) add(slot uint32, p nearbyOne) {
	if y.places == nil {
		y.places = make(map[uint32][]nearbyOne)
	}
	y.places[slot>>pieceBits] = append(y.places[slot>>pieceBits], p)
	y.count++
}

// comes reports whether messages of a slot of level 0 are being read, or are about to be.
func (y *nearby) comes(slot uint32) bool {
	return len(y.places) > 0 && y.places[slot>>pieceBits] != nil || y.fetches[slot>>pieceBits] != nil
}

// fetch is a read of messages that are due soon. The places do not change meanwhile: two goroutines look at them.
type fetch struct {
	piece    uint32
	places   []nearbyOne
	promised int
	read     []soon // in order
	err      error
}

// soon is a message that was read because it is due soon.
type soon struct {
	n uint64
	entry
}

// fetchDue begins to read the pieces whose time comes near, and has the queue run again when it is time for the next one.
func (q *Queue) fetchDue() {
	d := q.delays
	for piece, places := range d.nearby.places {
		if begin := piece<<pieceBits - fetchUnits; int32(begin-d.unit) > 0 {
			q.wakeAt(dueTime(begin, q.now()))
		} else if d.nearby.fetches[piece] == nil {
			q.fetch(piece, places)
		}
	}
}

// fetch begins to read a piece, as far as there is room for it. The rest is read when it is due.
func (q *Queue) fetch(piece uint32, places []nearbyOne) {
	y := &q.delays.nearby
	delete(y.places, piece)
	y.count -= len(places)
	f := &fetch{piece: piece, places: places}
	room := q.soonRoom()
	for i := range places {
		if f.promised += places[i].place.Size() + entryOverhead; f.promised > room {
			f.places = places[:i]
			break
		}
	}
	if len(f.places) == 0 {
		return
	}
	if y.fetches == nil {
		y.fetches = make(map[uint32]*fetch)
	}
	y.fetches[piece] = f
	y.promised += f.promised
	q.reads.Go(func() {
		f.err = f.readAll(q)
		if q.post(f) {
			q.Run()
		}
	})
}

// readAll reads the messages. It waits for the disk.
func (f *fetch) readAll(q *Queue) error {
	places := make([]store.Place, len(f.places))
	for i := range f.places {
		places[i] = f.places[i].place
	}
	var w store.Window
	var p packing
	if err := q.opts.Log.Fetch(&w, q.store, places, p.buffer); err != nil {
		return err
	}
	f.read = make([]soon, 0, len(w.Messages))
	messages := w.Messages
	for i, k := range p.chunks {
		for _, m := range messages[:w.Parts[i]] {
			e := entry{message: m.Body, chunk: k, tag: m.Tag, logged: !m.Transient, spilled: m.Transient}
			if !amqp.Message(m.Body).Whole() {
				continue // it is looked at again when it is due
			}
			if k != nil {
				k.Hold(1)
			}
			f.read = append(f.read, soon{m.Seq, e})
		}
		messages = messages[w.Parts[i]:]
	}
	p.retire()
	return nil
}

func (f *fetch) run(q *Queue) {
	d := q.delays
	y := &d.nearby
	if q.closed || q.stopped || y.fetches[f.piece] != f { // or a purge has dropped them all
		return
	}
	delete(y.fetches, f.piece)
	y.promised -= f.promised
	for i := range f.read {
		if m := &f.read[i]; d.waits(m.n, f.piece) {
			q.keepSoon(m.n, m.entry)
		} else {
			q.releases.add(m.chunk)
		}
	}
	q.delaysDue()
}

// waits reports whether a message waits in one of the slots of a piece.
func (d *delays) waits(n uint64, piece uint32) bool {
	for slot := piece << pieceBits; slot>>pieceBits == piece; slot++ {
		if s := d.slots[0][slot]; s != nil && s.Has(n) {
			return true
		}
	}
	return false
}
