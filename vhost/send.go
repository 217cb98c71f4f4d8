package vhost

import (
	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
)

// replay gives messages that an exchange has kept to a destination that was bound just now, in their order. What others publish meanwhile may
// come in between.
func (v *VHost) replay(d exchange.Destination, messages []amqp.Message) {
	if q, ok := d.(*queue.Queue); ok {
		for len(messages) > 0 {
			n := min(len(messages), queue.BatchMessages)
			v.push(q, messages[:n], 0)
			messages = messages[n:]
		}
		return
	}
	x := d.(*exchange.Exchange)
	r := Routing{Routing: exchange.Routing{Forwarded: true}}
	for _, m := range messages {
		if r.Describe(m) != nil {
			continue
		}
		v.Route(x, &r)
		for _, q := range r.Queues {
			v.push(q, []amqp.Message{m}, r.Due)
		}
	}
}

// push hands messages over to a queue, by way of the log those that belong there. There are no more of them than a batch holds; due is for a queue
// of delayed ones.
func (v *VHost) push(q *queue.Queue, messages []amqp.Message, due int64) {
	b := queue.NewBatch()
	var logged store.Batch
	var positions []int // in the batch, of the logged ones
	for i, m := range messages {
		tag := tagOf(q, m, due)
		if q.Tagged() {
			b.AddTagged(m, nil, tag)
		} else {
			b.Add(m, nil)
		}
		if q.Durable() && m.Persistent() {
			logged.Publish(m, tag)
			logged.To(q.Options().ID)
			positions = append(positions, i)
		}
	}
	var r queue.Receipt
	push := func() {
		r = q.Push(b)
		pairs := logged.Pairs()
		for i, position := range positions {
			pairs[i].Seq = r.Place(position)
		}
	}
	if len(positions) > 0 {
		v.opts.Store.Append(&logged, push)
	} else {
		push()
	}
	if r.Run {
		go q.Run()
	}
}

// tagOf is what the queue's order must know of a message that no connection brought.
func tagOf(q *queue.Queue, m amqp.Message, due int64) uint32 {
	if !q.Tagged() {
		return 0
	}
	var index amqp.PropertyIndex
	if err := amqp.ScanProperties(m.Properties(), &index); err != nil {
		return 0
	}
	return q.Tag(m, &queue.Origin{Index: &index, Due: due})
}
