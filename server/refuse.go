package server

import (
	"slices"

	"leveret/amqp"
	"leveret/queue"
)

// origin is whose a message is: the channel that published it, and the publish's tag, 0 without confirms.
type origin struct {
	channel *channel
	tag     uint64
}

// refusal is a message that a full queue did not take. The publisher is told, even if other queues have it. Without a queue it was the
// virtual host that was full, and no queue has the message.
//
// [queue length limit, overflow reject-publish]
type refusal struct {
	origin
	queue *queue.Queue
}

// origin is that of the publish at hand.
func (ch *channel) origin() origin {
	if ch.confirming {
		return origin{ch, ch.published}
	}
	return origin{channel: ch}
}

// refuse notes that the publish at hand was refused for a target.
func (p *publisher) refuse(ch *channel, t *target) {
	p.refusals = append(p.refusals, refusal{ch.origin(), t.queue})
}

// refuseForAll notes that the publish at hand was refused by the virtual host.
func (p *publisher) refuseForAll(ch *channel) {
	p.refusals = append(p.refusals, refusal{origin: ch.origin()})
}

// refuseAt notes what a target's queue refused of its batch, by the places there.
func (p *publisher) refuseAt(t *target, positions []int) {
	for _, at := range positions {
		p.refusals = append(p.refusals, refusal{t.origins[at], t.queue})
	}
	clear(t.origins)
	t.origins = t.origins[:0]
}

// noteRefusals tells the channels what was refused of this batch, before it is confirmed.
func (c *connection) noteRefusals() {
	p := &c.publisher
	if len(p.refusals) == 0 {
		return
	}
	for _, r := range p.refusals {
		if r.queue == nil {
			c.counted.OverQuota++
			c.server.drops.noteOverQuota(c.vhost.Name())
		} else {
			c.counted.Refused++
			c.server.drops.noteRefused(r.queue)
		}
		switch ch := r.channel; {
		case ch.tx != nil:
			ch.tx.partial = true
		case r.tag > 0:
			ch.refusedTags = append(ch.refusedTags, r.tag)
		}
	}
	clear(p.refusals)
	p.refusals = p.refusals[:0]
}

// takeRefused returns the tags that were refused since the last call, ascending and each once; valid until the next refusal.
func (ch *channel) takeRefused() []uint64 {
	tags := ch.refusedTags
	slices.Sort(tags)
	ch.refusedTags = tags[:0]
	return slices.Compact(tags)
}

// tag computes the tag of a message for each of its queues that wants one. It returns the one that the log keeps, for all durable queues.
func (c *connection) tag(m amqp.Message, r *route) uint32 {
	o := &c.publisher.origin
	o.User, o.Connection, o.Index, o.Due = c.user.Name(), c.id, &c.publisher.index, r.due
	logged, known := uint32(0), false
	for _, t := range r.targets {
		if !t.tagged {
			continue
		}
		t.tag = t.queue.Tag(m, o)
		if !t.durable && !t.keepsAll {
			continue
		}
		if known && t.tag != logged {
			logged = queue.UnknownTag
			continue
		}
		logged, known = t.tag, true
	}
	return logged
}
