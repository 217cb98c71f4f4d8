package queue

import (
	"math"
	"sync/atomic"
)

// gate decides which messages of a batch a queue takes, before they get a number and before they are logged: what is refused costs no disk
// and does not come back. Only queues that may refuse have one. Guarded by the mailbox's mutex, but for full.
type gate struct {
	length, bytes int64 // most ready messages, and most bytes of their bodies; -1: no limit
	keep          bool  // what is refused is handed to the queue, to be dead-lettered
	full          atomic.Bool
	room          atomic.Int64 // bytes of bodies

	ready, bodies               int64 // as the runner last said
	working, workingBodies      int64 // what it has taken since
	waiting, waitingBodies      int64 // what is in the mailbox
	refusedLength, refusedBytes uint64
}

// Full reports that the queue would refuse a message with a body of so many bytes at the moment. It costs no lock: publishers ask before they log a
// message.
func (q *Queue) Full(body int) bool {
	g := q.mailbox.gate.Load()
	return g != nil && (g.full.Load() || int64(body) > g.room.Load())
}

// MayRefuse reports whether the queue refuses messages when it is full: a publisher has to keep track of whose they are then. It may change
// with the queue's settings.
func (q *Queue) MayRefuse() bool { return q.mailbox.gate.Load() != nil }

// limit sets what the gate lets in.
func (g *gate) limit(length, bytes int64, keep bool) {
	g.length, g.bytes, g.keep = length, bytes, keep
	g.look()
}

// count notes a batch that was in the mailbox before there was a gate.
func (g *gate) count(b *Batch) {
	for i := range b.messages {
		g.waiting++
		g.waitingBodies += int64(len(b.messages[i].message.Body()))
	}
}

// admit takes the messages out of the batch that the queue has no room for; the others keep their order. next is the number of the first.
//
// [queue length limit, overflow reject-publish]
func (g *gate) admit(b *Batch, r *Receipt, next uint64) {
	if b.Unrefusable {
		g.count(b)
		g.look()
		return
	}
	kept := 0
	for i := range b.messages {
		size := int64(len(b.messages[i].message.Body()))
		if g.hasRoom(size) {
			if kept < i {
				b.messages[kept] = b.messages[i]
				if i < len(b.tags) {
					b.tags[kept] = b.tags[i]
				}
			}
			if r.places != nil {
				r.places[i] = next + uint64(kept)
			}
			kept++
			g.waiting++
			g.waitingBodies += size
			continue
		}
		r.refuse(i, len(b.messages), next)
		g.turnAway(b, &b.messages[i], size)
	}
	clear(b.messages[kept:])
	b.messages = b.messages[:kept]
	b.tags = b.tags[:min(kept, len(b.tags))]
	g.look()
}

// refuse notes that the message at a position is not taken. Those before it were, up to the first that was not.
func (r *Receipt) refuse(position, length int, next uint64) {
	if r.places == nil {
		r.places = make([]uint64, length)
		for i := range position {
			r.places[i] = next + uint64(i)
		}
	}
	r.Refused = append(r.Refused, position)
}

// turnAway counts a refusal, and leaves the message to the queue if that has a use for it.
func (g *gate) turnAway(b *Batch, m *item, body int64) {
	if g.length >= 0 && g.used() >= g.length {
		g.refusedLength++
	} else {
		g.refusedBytes++
	}
	b.bytes -= len(m.message) + entryOverhead
	b.bodies -= int(body)
	if g.keep {
		b.refused = append(b.refused, *m)
	} else if m.chunk != nil {
		m.chunk.Release(1)
	}
}

func (g *gate) used() int64 { return g.ready + g.working + g.waiting }

func (g *gate) usedBodies() int64 { return g.bodies + g.workingBodies + g.waitingBodies }

func (g *gate) hasRoom(size int64) bool {
	return (g.length < 0 || g.used() < g.length) && (g.bytes < 0 || g.usedBodies()+size <= g.bytes)
}

// look publishes how much room there is. What is to be dead-lettered has to come as far as the mailbox.
func (g *gate) look() {
	room := int64(math.MaxInt64)
	if g.bytes >= 0 && !g.keep {
		room = g.bytes - g.usedBodies()
	}
	g.room.Store(room)
	g.full.Store(!g.keep && g.length >= 0 && g.used() >= g.length)
}

// turn is called when the runner takes the mailbox: what it took before is part of what it says now.
func (g *gate) turn(state *runnerState) {
	g.ready, g.bodies = int64(state.ready), state.bodies
	g.working, g.workingBodies = g.waiting, g.waitingBodies
	g.waiting, g.waitingBodies = 0, 0
	g.look()
}
