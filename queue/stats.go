package queue

import "sync/atomic"

// Totals counts what a queue did since it was made.
type Totals struct {
	Published     uint64 // messages taken
	Delivered     uint64 // to consumers that acknowledge
	DeliveredAuto uint64 // to consumers that do not
	Got           uint64 // by basic.get, to be acknowledged
	GotAuto       uint64 // by basic.get without acknowledgement
	GetEmpty      uint64 // basic.get on an empty queue
	Redelivered   uint64 // of all deliveries, those of a message that came back
	Acked         uint64
	Requeued      uint64
	Rejected      uint64 // settled without requeue
	Purged        uint64
	Damaged       uint64 // found unreadable on disk
	DiskWrites    uint64 // of those taken, the ones that the log has
	DiskReads     uint64 // messages read back from disk

	DeadLettered [reasons]uint64 // that went to another queue, or left for one, by reason
	Dropped      [reasons]uint64 // that died for good, by reason
}

// Stats is a queue's figures as of its last turn.
type Stats struct {
	Counts
	Totals
	ReadyBytes int   // of message data and bookkeeping
	Bodies     int64 // bytes in the bodies of ready messages; of those that are on disk alone, about

	UnackedBodies    int64 // bytes in the bodies of unacked messages, about
	Persistent       int   // messages that survive a restart, ready and unacked
	PersistentBodies int64 // and the bytes in their bodies, about
	UnackedInMemory  int   // unacked messages that are in memory
	InMemoryBodies   int64 // bytes in the bodies of messages that are, ready and unacked, about
	HeadTimestamp    int64 // what the next message says of its time, Unix s, as of the last second; 0: nothing

	// Head is when the next message to be delivered was published, Unix ms; 0 if there is none, or none has been in memory since the start. While it
	// is on disk alone it is that of the last one that was not, until the next Tend has it read.
	Head int64

	InMemory    int // ready messages that are in memory
	Pending     int // messages that wait for their time: delayed ones, and those that are to be tried again
	Leaving     int // messages on their way to other queues that they can't go to yet
	MostUnacked int // that one consumer holds, as of the last second
	Paused      bool
}

// Utilisation is the share of time in which the queue could deliver what it had: whole while nothing waits for a consumer.
func (s *Stats) Utilisation() float64 {
	if s.Consumers == 0 || s.Ready > 0 {
		return 0
	}
	return 1
}

// stats is written by the runner once a turn and read by anyone; a reader may see the fields of two neighbouring turns.
type stats struct {
	ready, unacked, consumers, readyBytes, bodies, head atomic.Int64
	inMemory, pending, leaving, mostUnacked             atomic.Int64
	headTimestamp                                       atomic.Int64
	weights                                             weights
	timings                                             atomic.Pointer[timings]
	paused                                              atomic.Bool

	active atomic.Pointer[Consumer] // the single active consumer

	deadLettered, dropped [reasons]atomic.Uint64

	published, delivered, deliveredAuto, got, gotAuto, getEmpty, redelivered, acked, requeued, rejected, purged, damaged atomic.Uint64
	diskWrites, diskReads                                                                                                atomic.Uint64
}

// Stats returns the figures of the last turn, without asking the queue.
func (q *Queue) Stats() Stats {
	s := &q.stats
	st := Stats{
		Counts: Counts{Ready: int(s.ready.Load()), Unacked: int(s.unacked.Load()), Consumers: int(s.consumers.Load())},
		Totals: Totals{
			Published: s.published.Load(), Delivered: s.delivered.Load(), DeliveredAuto: s.deliveredAuto.Load(),
			Got: s.got.Load(), GotAuto: s.gotAuto.Load(), GetEmpty: s.getEmpty.Load(), Redelivered: s.redelivered.Load(),
			Acked: s.acked.Load(), Requeued: s.requeued.Load(), Rejected: s.rejected.Load(), Purged: s.purged.Load(), Damaged: s.damaged.Load(),
			DiskWrites: s.diskWrites.Load(), DiskReads: s.diskReads.Load(),
		},
		ReadyBytes: int(s.readyBytes.Load()), Bodies: s.bodies.Load(), Head: s.head.Load(),
	}
	st.InMemory, st.Pending, st.Leaving = int(s.inMemory.Load()), int(s.pending.Load()), int(s.leaving.Load())
	s.weights.weigh(&st, q.logging)
	st.HeadTimestamp = s.headTimestamp.Load()
	st.MostUnacked, st.Paused = int(s.mostUnacked.Load()), s.paused.Load()
	for r := range reasons {
		st.DeadLettered[r], st.Dropped[r] = s.deadLettered[r].Load(), s.dropped[r].Load()
	}
	return st
}

// publishStats makes the runner's figures visible; called at the end of a turn.
func (q *Queue) publishStats() {
	s, t := &q.stats, &q.counted
	q.showActive()
	setInt(&s.ready, int64(q.ready()))
	setInt(&s.unacked, int64(q.unacked))
	setInt(&s.consumers, int64(len(q.consumers.all)))
	setInt(&s.readyBytes, int64(q.resident()+q.awayBytes))
	setInt(&s.inMemory, int64(q.window.Marked()))
	setInt(&s.pending, int64(q.pending()))
	setInt(&s.leaving, int64(q.leaving.len()))
	setInt(&s.bodies, q.bodies())
	q.publishWeights()
	setInt(&s.head, q.headPublished())
	set(&s.published, t.Published)
	set(&s.delivered, t.Delivered)
	set(&s.deliveredAuto, t.DeliveredAuto)
	set(&s.got, t.Got)
	set(&s.gotAuto, t.GotAuto)
	set(&s.getEmpty, t.GetEmpty)
	set(&s.redelivered, t.Redelivered)
	set(&s.acked, t.Acked)
	set(&s.requeued, t.Requeued)
	set(&s.rejected, t.Rejected)
	set(&s.purged, t.Purged)
	set(&s.damaged, t.Damaged)
	if q.logging {
		set(&s.diskWrites, t.DiskWrites)
	}
	set(&s.diskReads, t.DiskReads)
	if q.departed {
		q.departed = false
		for r := range reasons {
			s.deadLettered[r].Store(t.DeadLettered[r])
			s.dropped[r].Store(t.Dropped[r])
		}
	}
}

// countDropped counts a message that is lost, or that nobody wanted to have as a dead letter.
func (q *Queue) countDropped(r Reason) {
	q.counted.Dropped[r]++
	q.departed = true
}

func (q *Queue) countDeadLettered(r Reason) {
	q.counted.DeadLettered[r]++
	q.departed = true
}

// headPublished is when the next message was published, 0 if there is none; of one that is on disk alone the nearest that is known is the time of the
// last that was not. If it is another than at the last Tend, or is to be read, the next one looks at it.
func (q *Queue) headPublished() int64 {
	if q.ready() == 0 {
		return 0
	}
	n, e, ok := q.first()
	if (!ok || n != q.tended) && !q.untended.Load() {
		q.untended.Store(true)
	}
	if !ok {
		return q.stats.head.Load()
	}
	return e.message.Published()
}

// set and setInt avoid the bus traffic of storing what is there already: most figures stand still in a turn.
func set(a *atomic.Uint64, v uint64) {
	if a.Load() != v {
		a.Store(v)
	}
}

func setInt(a *atomic.Int64, v int64) {
	if a.Load() != v {
		a.Store(v)
	}
}

// mostUnacked is how many messages the consumer holds that holds the most.
func (q *Queue) mostUnacked() (most int) {
	for _, c := range q.consumers.all {
		most = max(most, c.unacked)
	}
	return most
}
