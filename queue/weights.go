package queue

import (
	"math"
	"sync/atomic"
)

// weights are what a queue shows of the bytes of its messages and of where they are. They are chosen so that nothing changes from turn to turn in a queue
// whose messages are alike, as what changes has to be published: sizes of one message instead of sums, and the numbers of those that are few.
type weights struct {
	odd        atomic.Int64  // unacked messages: in a queue that logs those that the store does not have, else those that it has
	here, lent atomic.Uint64 // bytes of the body of one unacked message in memory, and of one that is not; the bits of a float64
	awayBodies atomic.Int64  // of the ready messages' bodies, those not in memory

	transient       atomic.Int64 // of a queue that logs, ready messages that the store does not have
	transientBodies atomic.Int64

	// The runner's own.
	plain bool // as of the last turn none of these but here is anything but 0
	each  int  // bytes of one unacked message in memory, as here has them of its body alone; -1 if they are not alike
}

// publishWeights makes them visible, at the end of a turn. Transient messages of a durable queue that were put aside count as persistent ones do.
func (q *Queue) publishWeights() {
	w, lent := &q.stats.weights, q.lent.Len()
	here := q.unacked - lent
	alike := here == 0 || q.service.holding.bytes == w.each*here
	plain := !q.logging && lent == 0 && q.awayBodies == 0
	if plain && w.plain && alike {
		return
	}
	w.plain = plain
	setInt(&w.awayBodies, q.awayBodies)
	if q.logging {
		setInt(&w.odd, int64(here))
		setInt(&w.transient, int64(q.loose.count))
		setInt(&w.transientBodies, q.loose.bodies)
	} else {
		setInt(&w.odd, int64(lent))
	}
	if !alike {
		h := &q.service.holding
		if w.each = h.bytes / here; w.each*here != h.bytes {
			w.each = -1 // they differ in size: the next turn looks again
		}
		set(&w.here, math.Float64bits(max(0, float64(h.bytes)/float64(here)-float64(h.around))))
	}
	if lent > 0 {
		set(&w.lent, math.Float64bits(max(0, float64(q.lentBytes)/float64(lent)-float64(entryOverhead+q.service.holding.around))))
	}
}

// weigh fills in what follows from the weights and from the other figures. Any goroutine may call it.
func (w *weights) weigh(st *Stats, logging bool) {
	here := min(int(w.odd.Load()), st.Unacked)
	if !logging {
		here = st.Unacked - here
	}
	bytesHere := int64(math.Round(float64(here) * math.Float64frombits(w.here.Load())))
	bytesLent := int64(math.Round(float64(st.Unacked-here) * math.Float64frombits(w.lent.Load())))
	st.UnackedInMemory, st.UnackedBodies = here, bytesHere+bytesLent
	st.InMemoryBodies = max(0, st.Bodies-w.awayBodies.Load()) + bytesHere
	if logging {
		st.Persistent = max(0, st.Ready-int(w.transient.Load())) + st.Unacked - here
		st.PersistentBodies = max(0, st.Bodies-w.transientBodies.Load()) + bytesLent
	}
}
