package queue

import "leveret/store"

// readLeaving starts to read messages that are on their way out, those behind the ones read last: if these have to stay, the others must not wait
// for them.
func (q *Queue) readLeaving(l *leaving) {
	if l.reading || q.broken {
		return
	}
	for range l.sets {
		r := l.turn
		wanted := rangesFrom(&l.sets[r], l.read[r], leavingMost)
		if len(wanted) == 0 { // the next time from the start, after those of other reasons
			l.turn, l.read[r] = (l.turn+1)%len(l.sets), 0
			wanted = rangesFrom(&l.sets[l.turn], l.read[l.turn], leavingMost)
		}
		if len(wanted) == 0 {
			continue
		}
		l.reading = true
		read := &leavingRead{reason: Reason(l.turn), wanted: wanted}
		q.reads.Go(func() {
			read.window, read.err = q.opts.Log.Read(q.store, read.wanted, leavingBytes)
			if q.post(read) {
				q.Run()
			}
		})
		return
	}
}

// firstRanges are the first numbers of a set, at most so many.
func firstRanges(s *Set, most uint64) []store.Range { return rangesFrom(s, 0, most) }

// rangesFrom is firstRanges for the numbers not below one.
func rangesFrom(s *Set, from, most uint64) (ranges []store.Range) {
	s.Each(from, func(r store.Range) bool {
		r.Last = r.First + min(r.Last-r.First, most-1)
		most -= r.Last - r.First + 1
		ranges = append(ranges, r)
		return most > 0
	})
	return ranges
}

// leavingRead is messages that were read to be forwarded.
type leavingRead struct {
	reason Reason
	wanted []store.Range
	window store.Window
	err    error
}

func (r *leavingRead) run(q *Queue) {
	l := q.leaving
	if q.closed || l == nil {
		return
	}
	l.reading = false
	if r.err != nil {
		q.broken = true
		q.untended.Store(true)
		return
	}
	l.read[r.reason] = r.window.Next
	set := &l.sets[r.reason]
	if r.reason == Due {
		q.sortByDue(r.window.Messages)
	}
	for _, m := range r.window.Messages {
		if !set.Remove(m.Seq) {
			continue
		}
		d := Departure{Seq: m.Seq, Message: m.Body, Reason: r.reason, logged: !m.Transient, stored: true}
		if !d.Message.Whole() {
			q.counted.Damaged++
			q.tell(m.Seq)
			continue
		}
		q.part(d)
	}
	for _, w := range r.wanted { // what was looked for and not found is damaged on disk
		for n, ok := set.From(w.First); ok && n <= w.Last && n < r.window.Next; n, ok = set.From(n + 1) {
			set.Remove(n)
			q.counted.Damaged++
			q.tell(n)
		}
	}
}
