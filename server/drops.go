package server

import (
	"log/slog"
	"sync/atomic"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// drops tells the operator of messages that were dropped: one line a reason every dropInterval at most, with how many there were and one
// of them as an example.
type drops struct {
	examples [dropReasons]atomic.Pointer[dropped]
	told     Counters // what the log has said; of the goroutine that tends
	last     time.Time
}

// dropInterval is how often the log tells of drops.
const dropInterval = 10 * time.Second

// The reasons for which a publish is dropped.
const (
	dropUnroutable = iota // no queue for it, and not mandatory
	dropReplyLost         // a direct reply whose requester is gone
	dropQueueGone         // its queue was deleted at that moment
	dropRefused           // its queue is full, and one that refuses what comes then
	dropDuplicate         // an exchange or a queue that looks for duplicates has it already
	dropOverQuota         // the virtual host holds as much as it may
	dropReasons
)

// dropped is one dropped message, as attributes of the log.
type dropped []any

// note keeps an example, unless there is one that was not told of yet. It is cheap enough for each dropped message.
func (d *drops) note(c *connection, reason int, m amqp.Message) {
	if d.examples[reason].Load() == nil {
		d.examples[reason].Store(&dropped{
			"vhost", c.vhost.Name(), "exchange", string(m.Exchange()), "routing_key", string(m.RoutingKey()),
		})
	}
}

// noteRefused is note for messages that a queue refused.
func (d *drops) noteRefused(q *queue.Queue) {
	if d.examples[dropRefused].Load() == nil {
		o := q.Options()
		d.examples[dropRefused].Store(&dropped{"vhost", o.VHost, "queue", o.Name})
	}
}

// noteOverQuota is note for messages that a virtual host refused.
func (d *drops) noteOverQuota(vhost string) {
	if d.examples[dropOverQuota].Load() == nil {
		d.examples[dropOverQuota].Store(&dropped{"vhost", vhost})
	}
}

// tell logs what was dropped since the last time.
func (d *drops) tell(log *slog.Logger, now Counters, at time.Time) {
	if at.Sub(d.last) < dropInterval {
		return
	}
	d.last = at
	for reason, r := range [dropReasons]struct {
		text  string
		count uint64
	}{
		dropUnroutable: {"messages dropped: no queue is bound for them", now.Unroutable - d.told.Unroutable},
		dropReplyLost:  {"replies dropped: the requester is gone", now.ReplyLost - d.told.ReplyLost},
		dropQueueGone:  {"messages dropped: their queue was deleted as they came", now.QueueGone - d.told.QueueGone},
		dropDuplicate:  {"messages dropped: they were there before", now.Duplicates - d.told.Duplicates},
		dropRefused:    {"messages refused: their queue is full", now.Refused - d.told.Refused},
		dropOverQuota:  {"messages refused: the virtual host is full", now.OverQuota - d.told.OverQuota},
	} {
		if r.count == 0 {
			continue
		}
		attributes := []any{"count", r.count}
		if example := d.examples[reason].Swap(nil); example != nil {
			attributes = append(attributes, *example...)
		}
		log.Warn(r.text, attributes...)
	}
	d.told = now
}
