package queue

import (
	"slices"

	"leveret/store"
)

// splitNumbers is about how many messages of a slot the store is asked for at once.
const splitNumbers = 64 << 10

// splitUp is a slot of the timeline while the store is asked when exactly its messages are due. The set does not change meanwhile: two goroutines
// look at it.
type splitUp struct {
	timeline             // of those that were found
	set      *Set        // all messages of the slot
	room     int         // how many places are wanted
	places   []nearbyOne // of those that are due soon, in order
	err      error

	gone Set // those that were dropped meanwhile; owned by whoever runs the queue
}

// split puts the messages of a slot into those of lower levels: at once those in memory, and those that the store has when it has told when they
// are due. Of those that are due soon it tells the places too.
func (q *Queue) split(slot *Set) {
	d := q.delays
	if q.splitHere(slot); slot.Len() == 0 {
		return
	}
	s := &splitUp{set: slot, room: nearbyMost - d.nearby.count}
	s.unit = d.unit
	d.splits = append(d.splits, s)
	q.reads.Go(func() {
		s.err = s.look(q)
		if q.post(s) {
			q.Run()
		}
	})
}

// splitHere is split for those messages that are in memory.
func (q *Queue) splitHere(slot *Set) {
	d := q.delays
	if q.window.Len() == 0 && len(d.soon) == 0 {
		return
	}
	var here []uint64
	slot.Each(0, func(r store.Range) bool {
		for n, e, ok := q.window.NextFrom(r.First); ok && n <= r.Last; n, e, ok = q.window.NextFrom(n + 1) {
			d.add(n, e.tag)
			here = append(here, n)
		}
		return true
	})
	for n, e := range d.soon {
		if slot.Has(n) {
			d.add(n, e.tag)
			here = append(here, n)
		}
	}
	for _, n := range here {
		slot.Remove(n)
	}
}

// look asks the store. It waits for the disk.
func (s *splitUp) look(q *Queue) error {
	for from := uint64(0); ; {
		wanted := rangesFrom(s.set, from, splitNumbers)
		if len(wanted) == 0 {
			return nil
		}
		from = wanted[len(wanted)-1].Last + 1
		if err := q.scanPlaces(wanted, s.found); err != nil {
			return err
		}
	}
}

// found takes what the store tells of a message.
func (s *splitUp) found(i store.Info) {
	s.add(i.Seq, i.Tag)
	if level, _ := s.slotOf(i.Tag); level == 0 && len(s.places) < s.room && i.Place != (store.Place{}) {
		s.places = append(s.places, nearbyOne{i.Tag, i.Place})
	}
}

func (s *splitUp) run(q *Queue) {
	d := q.delays
	if q.closed || q.stopped {
		return
	}
	at := slices.Index(d.splits, s)
	if at < 0 {
		return // a purge has dropped them all
	}
	d.splits = slices.Delete(d.splits, at, at+1)
	d.unit = uint32(q.now() >> unitBits)
	if s.err != nil { // they are not lost: this is tried again
		s.each(func(r store.Range) bool {
			before := d.set(1, (d.unit+2*leadUnits)>>levelBits)
			d.count -= before.Len()
			before.AddRange(r)
			d.count += before.Len()
			return true
		})
		return
	}
	s.gone.Each(0, func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			s.timeline.remove(n)
		}
		return true
	})
	q.loseUnfound(s)
	d.merge(&s.timeline)
	for _, p := range s.places {
		if level, slot := d.slotOf(p.tag); level == 0 && !s.gone.Has(p.place.Seq()) {
			d.nearby.add(slot, p)
		}
	}
	q.delaysDue()
}

// loseUnfound gives up those that the store does not have, or not so that they can be read.
func (q *Queue) loseUnfound(s *splitUp) {
	if s.count == s.left() {
		return
	}
	var found Set
	s.timeline.each(func(some *Set) {
		some.Each(0, func(r store.Range) bool {
			found.AddRange(r)
			return true
		})
	})
	s.each(func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			if !found.Has(n) {
				q.lose(n)
			}
		}
		return true
	})
}

// left is how many of the messages still wait.
func (s *splitUp) left() int { return s.set.Len() - s.gone.Len() }

// each calls each for the messages that still wait.
func (s *splitUp) each(each func(store.Range) bool) {
	s.set.Each(0, func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			if !s.gone.Has(n) && !each(store.Range{First: n, Last: n}) {
				return false
			}
		}
		return true
	})
}

// from is the first message not below n that still waits.
func (s *splitUp) from(n uint64) (first uint64, ok bool) {
	for first, ok = s.set.From(n); ok && s.gone.Has(first); first, ok = s.set.From(first + 1) {
	}
	return first, ok
}

// remove takes a message out; false: it is not there.
func (s *splitUp) remove(n uint64) bool {
	if !s.set.Has(n) || s.gone.Has(n) {
		return false
	}
	s.gone.Add(n)
	return true
}
