package queue

import (
	"sync"

	"leveret/amqp"
)

// Destination is where a message is sent on purpose: an exchange and a routing key.
type Destination struct{ Exchange, Key string }

// Discard removes messages by their numbers that are ready or wait for their time, and returns how many that were: what a consumer holds, or is gone,
// is not touched. Any goroutine may call it; it blocks until the queue has answered.
func (q *Queue) Discard(numbers []uint64) (count int, err error) {
	p := &pull{numbers: numbers}
	q.call(p, &p.done)
	return p.count, p.err
}

// Send sends ready messages, as Peek returned them, somewhere else; each leaves the queue when it has got there. It returns how many have, or are on
// their way, and how many came back, as no queue took them; the others were not ready any more. Any goroutine may call it; it blocks until the queue
// has answered.
func (q *Queue) Send(messages []Peeked, to func(amqp.Message) Destination) (sent, back int, err error) {
	p := &pull{numbers: make([]uint64, len(messages)), messages: messages, to: make([]Destination, len(messages))}
	for i := range messages {
		p.numbers[i] = messages[i].Seq
		p.to[i] = to(messages[i].Message)
	}
	q.call(p, &p.done)
	return p.count - p.back, p.back, p.err
}

// pull takes messages out of the queue by their numbers.
type pull struct {
	numbers  []uint64
	messages []Peeked // nil: they are dropped
	to       []Destination

	count int
	back  int  // of these, how many came back,
	over  bool // before the call was over
	err   error
	done  sync.WaitGroup
}

func (p *pull) run(q *Queue) {
	if q.closed {
		p.err = ErrClosed
	} else {
		p.take(q)
	}
	if q.closed || p.messages == nil {
		p.done.Done()
		return
	}
	q.post(pulled{p}) // the runner is right here
}

// pulled ends a Send, in the turn after the one in which the messages were handed over.
type pulled struct{ *pull }

func (p pulled) run(*Queue) {
	p.over = true
	p.done.Done()
}

// take takes the messages out of the queue.
func (p *pull) take(q *Queue) {
	for i, n := range p.numbers {
		if p.messages == nil {
			if q.discard(n) {
				p.count++
				q.counted.Purged++
			}
			continue
		}
		if d, ok := q.takeReady(n); ok {
			d.Message, d.Reason, d.To, d.pull = p.messages[i].Message, Sent, &p.to[i], p
			d.redelivered = p.messages[i].Redelivered
			q.releases.add(d.chunk)
			d.chunk = nil // the message is a copy
			l := q.leavers()
			l.list = append(l.list, d)
			p.count++
		}
	}
}

// takeReady takes a ready message out.
func (q *Queue) takeReady(n uint64) (d Departure, ok bool) {
	if e := q.window.At(n); e != nil && q.window.IsMarked(n) {
		d = Departure{Seq: n, Message: e.message, chunk: e.chunk, tag: e.tag, logged: e.logged, stored: e.stored()}
		q.depart(n, e.tag)
		q.weigh(e, -e.size())
		q.window.Remove(n)
		return d, true
	}
	if !q.away.Remove(n) {
		return d, false
	}
	q.unweighAway(n, q.wasReturned(n))
	if q.order != nil {
		q.order.forget(n)
	}
	return Departure{Seq: n, stored: true, logged: q.logging}, true
}

// putBack makes a message ready again that could not be sent.
func (q *Queue) putBack(d *Departure) {
	if !d.pull.over {
		d.pull.back++
	}
	if q.order != nil && d.tag == 0 {
		d.tag = q.tagger(d.Message, &Origin{}) // of one that was on disk
	}
	if d.stored {
		q.giveBack(d.Seq, len(d.Message)+entryOverhead, d.tag)
		if !d.redelivered {
			q.returned.Remove(d.Seq)
		}
		return
	}
	e := entry{message: d.Message, tag: d.tag, redelivered: d.redelivered}
	q.window.Put(d.Seq, e, true)
	q.weigh(&e, e.size())
	q.enter(d.Seq, e.tag, false)
}

// discard drops a message that is ready or waits for its time.
func (q *Queue) discard(n uint64) bool {
	if d, ok := q.takeReady(n); ok {
		q.gone(&d)
		return true
	}
	if q.retries.set.Remove(n) {
		q.dropPending(n)
		return true
	}
	return q.dropDelayed(n)
}
