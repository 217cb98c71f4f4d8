package vhost

import (
	"context"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// replayStep is how many messages are looked at in one go.
const replayStep = 256

// Replay says which messages of a queue are sent where.
type Replay struct {
	// To is where they go. Nil sends a dead letter back to the queue that it died in last; a message that never died stays.
	To *queue.Destination
	// Wanted chooses the messages; nil takes all.
	Wanted func(queue.Peeked) bool
	// Limit is how many messages are sent at most; 0 is no limit.
	Limit int
	// Rate is how many messages are sent a second at most; 0 is no limit.
	Rate int
	// DryRun sends nothing.
	DryRun bool
}

// Replayed is what came of a Replay.
type Replayed struct {
	Examined int // messages that were looked at
	Matched  int // and wanted
	Sent     int // and sent, or would have been in a dry run
	Homeless int // wanted, but without a queue to go to: none is known, or it is not there
	// Unroutable were sent and stayed where they were: the exchange led nowhere, or no queue had room. A dry run does not find them.
	Unroutable int
}

// Replay sends messages of a queue, a dead letter queue say, to where they died or elsewhere, in their order. What comes into the queue meanwhile is not
// looked at. Each message leaves the queue when it has got where it goes, in one record of the log. It blocks until it is done, or ctx ends.
func (v *VHost) Replay(ctx context.Context, q *queue.Queue, r Replay) (Replayed, error) {
	var done Replayed
	counts, err := q.Counts()
	if err != nil {
		return done, err
	}
	var from uint64
	for done.Examined < counts.Ready && (r.Limit == 0 || done.Sent < r.Limit) {
		step := min(replayStep, counts.Ready-done.Examined)
		if r.Rate > 0 {
			step = min(step, r.Rate)
		}
		messages, next, err := q.Peek(from, 0, step)
		if err != nil || len(messages) == 0 {
			return done, err
		}
		begun := time.Now()
		sent, err := v.replayStep(q, &r, &done, messages)
		if err != nil {
			return done, err
		}
		if from = next; from == 0 {
			return done, nil
		}
		if err := pace(ctx, r.Rate, sent, begun); err != nil {
			return done, err
		}
	}
	return done, nil
}

// replayStep sends the wanted ones of some messages.
func (v *VHost) replayStep(q *queue.Queue, r *Replay, done *Replayed, messages []queue.Peeked) (sent int, err error) {
	var chosen []queue.Peeked
	for _, m := range messages {
		done.Examined++
		if r.Wanted != nil && !r.Wanted(m) {
			continue
		}
		done.Matched++
		if r.Limit > 0 && done.Sent+len(chosen) == r.Limit {
			continue
		}
		if to, ok := r.destination(m.Message); !ok || to.Exchange == "" && !v.HasQueue(to.Key) {
			done.Homeless++
			continue
		}
		chosen = append(chosen, m)
	}
	sent, back := len(chosen), 0
	if !r.DryRun && sent > 0 {
		sent, back, err = q.Send(chosen, func(m amqp.Message) queue.Destination {
			to, _ := r.destination(m)
			return to
		})
	}
	done.Sent, done.Unroutable = done.Sent+sent, done.Unroutable+back
	return sent, err
}

// destination is where a message goes; false: nowhere.
func (r *Replay) destination(m amqp.Message) (queue.Destination, bool) {
	if r.To != nil {
		return *r.To, true
	}
	var index amqp.PropertyIndex
	if amqp.ScanProperties(m.Properties(), &index) != nil || index.Headers == nil {
		return queue.Destination{}, false
	}
	deaths := appendDeaths(nil, index.Headers)
	if len(deaths) == 0 {
		return queue.Destination{}, false
	}
	return queue.Destination{Key: deaths[0].queue}, true
}

// pace waits until what was sent since begun keeps to the rate.
func pace(ctx context.Context, rate, sent int, begun time.Time) error {
	wait := time.Duration(0)
	if rate > 0 {
		wait = time.Duration(sent)*time.Second/time.Duration(rate) - time.Since(begun)
	}
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
