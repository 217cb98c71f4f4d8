package vhost

import (
	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
)

// recall gives messages that an exchange has kept to a destination that was bound just now, in their order. What others publish meanwhile may
// come in between. A queue that is full loses what it refuses.
func (v *VHost) recall(d exchange.Destination, messages []amqp.Message) {
	if len(messages) == 0 {
		return
	}
	h := handovers.Get().(*handover)
	h.vhost = v
	r := &h.routing
	for i, m := range messages {
		if r.Describe(m) != nil {
			continue // it was checked when it came
		}
		h.index = r.index
		switch d := d.(type) {
		case *queue.Queue:
			r.Queues = append(r.Queues[:0], d)
		case *exchange.Exchange:
			r.Forwarded = true
			v.Route(d, r)
		}
		if len(r.Queues) > 0 {
			h.add(m, nil, i)
		}
	}
	h.send(func(int) {})
	*r, h.vhost = Routing{}, nil
	handovers.Put(h)
}
