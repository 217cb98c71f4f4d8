package server

import (
	"slices"

	"leveret/amqp"
	"leveret/dedup"
)

// This file sees to the keys by which exchanges and queues recognize duplicates. Messages that bring none, which is nearly all of them, do not
// come here.

// claimed is a message whose keys are in windows, and that one of its queues may yet refuse.
type claimed struct {
	first, end int // its keys in publisher.claims
	target     *target
	position   int // in the target's batch
}

// together makes sure that the message at hand and its keys survive a crash both or not at all: it begins an atomic batch. It returns the route
// with the targets that are in use then.
func (c *connection) together(r *route) *route {
	p := &c.publisher
	if p.logged.Atomic {
		return r
	}
	if p.logged.Len() > 0 {
		c.handOver()
		r = p.routes.renew(r)
	}
	p.logged.Atomic = true
	return r
}

// claim sees to the keys of a message that was gathered for taken of its queues: they are logged behind it, if it is. When a queue refuses the
// message, now or as it is handed over, they are released: the publisher is told, and sends it again.
func (p *publisher) claim(r *route, logged bool, taken int) {
	if taken < len(r.targets) {
		r.claims.Release()
		return
	}
	first := len(p.claims)
	p.claims = append(p.claims, r.claims...)
	if logged {
		p.claims[first:].Log(&p.logged)
	}
	for _, t := range r.targets {
		if t.refuses {
			p.claimed = append(p.claimed, claimed{first, len(p.claims), t, t.batch.Len() - 1})
		}
	}
}

// unclaim releases the keys of messages that a target's queue refused.
func (p *publisher) unclaim(t *target, refused []int) {
	for _, m := range p.claimed {
		if m.target == t && slices.Contains(refused, m.position) {
			p.claims[m.first:m.end].Release()
		}
	}
}

// numberClaims gives the keys their numbers in the log. Called at the end of push.
func (p *publisher) numberClaims() {
	p.claims.Number(p.logged.Pairs())
	clear(p.claims)
	clear(p.claimed)
	p.claims, p.claimed = p.claims[:0], p.claimed[:0]
	p.logged.Atomic = false // the log knows by now; if nothing was logged, the next batch begins anew
}

// duplicate counts a message that an exchange or a queue knows already. It is confirmed, when what the log holds now is durable, and
// the original with it.
func (c *connection) duplicate(m amqp.Message) {
	c.counted.Duplicates++
	c.server.drops.note(c, dropDuplicate, m)
	c.publisher.behind = true
}

// takeClaims makes the windows remember the keys of a publish that is committed. It reports false if another was faster: this one is a duplicate.
func (c *connection) takeClaims(claims dedup.Claims, m amqp.Message) bool {
	if claims.Take() {
		return true
	}
	c.duplicate(m)
	return false
}
