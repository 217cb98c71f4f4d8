package vhost

import (
	"sync"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// forwardPause is how long a queue waits before it tries again to forward messages, while the log has much to write.
const forwardPause = 5 * time.Millisecond

// handovers are used again: dead letters come in floods, each of which needs one at a time.
var handovers = sync.Pool{New: func() any { return new(handover) }}

// Forward sends messages on that leave a queue: the dead ones to its dead letter exchange, those that are due to where they were published to.
// It satisfies queue.Forwarder.
//
// Deaths by length go on in every case: they make room. The others wait while the disk is low, and while a target has more in its mailbox than
// it should. All wait while the virtual host is being loaded: where they go may not be there yet.
func (v *VHost) Forward(q *queue.Queue, list []queue.Departure) (wait func()) {
	select {
	case <-v.loaded:
	default:
		for i := range list {
			list[i].Stays = true
		}
		return func() { <-v.loaded }
	}
	h := handovers.Get().(*handover)
	h.vhost = v
	h.logged.Atomic = true
	h.routing.Later, h.routing.Forwarded = false, false
	f := forwarding{handover: h, source: q, settings: q.Settings(), now: time.Now().UnixMilli()}
	h.taken = append(h.taken[:0], make([]int, len(list))...)
	f.held = v.opts.Store.Alarm()
	if !f.held && v.opts.Store.Pressure() {
		f.held = true
		f.wait = func() { <-time.After(forwardPause) }
	}
	for i := range list {
		d := &list[i]
		if f.held && d.Reason != queue.MaxLength {
			d.Stays = true
			continue
		}
		f.forward(d, i)
	}
	if h.logged.Len() > 0 {
		q.Leave(&h.logged, list)
	} else {
		h.logged.Reset()
	}
	h.send(func(id int) {
		h.taken[id]--
		d := &list[id]
		d.Stays = d.Stays || f.keeps(d)
		d.Lost = h.taken[id] == 0 && !d.Stays
	})
	h.vhost = nil
	handovers.Put(h)
	return f.wait
}

// forwarding is one call of Forward.
type forwarding struct {
	*handover
	source   *queue.Queue
	settings queue.Settings
	now      int64 // Unix ms
	held     bool  // nothing may go on but what makes room
	cut      bool  // the message at hand would go in circles, at one of its targets at least
	headers  []byte
	list     deaths
	wait     func()
}

// forward finds out where a message goes, and hands it over; or marks it as staying. One that goes nowhere is gone.
func (f *forwarding) forward(d *queue.Departure, id int) {
	if err := amqp.ScanProperties(d.Message.Properties(), &f.index); err != nil {
		d.Lost = true // it was checked when it came
		return
	}
	var m amqp.Message
	var k *queue.Chunk
	f.cut = false
	switch d.Reason {
	case queue.Due:
		m = f.due(d)
	case queue.Sent:
		m = f.sent(d)
	default:
		m = f.die(d)
	}
	if m == nil || len(f.routing.Queues) == 0 {
		d.Stays = f.keeps(d) && !f.cut // what goes in circles would do so whenever it is tried
		d.Lost = !d.Stays
		return
	}
	if f.pressed(d) {
		d.Stays = true
		return
	}
	if !f.routing.Claims.Take() {
		return // a queue that looks for duplicates got the same message meanwhile
	}
	k = f.keep(m)
	f.taken[id] = len(f.routing.Queues)
	f.unrefusable = f.keeps(d) && !d.Unsure
	f.add(m, k, id)
}

// keeps reports whether a message stays where it is until another queue has taken it.
func (f *forwarding) keeps(d *queue.Departure) bool {
	return d.Reason == queue.Sent || f.settings.AtLeastOnce && d.Reason != queue.Due
}

// due routes a message whose delay is over; nil if there is nowhere to go. Its age is counted anew.
func (f *forwarding) due(d *queue.Departure) amqp.Message {
	f.routing.Later = true // it may have to stay
	out, ok := f.vhost.RouteDue(f.source, d.Message, &f.routing)
	if !ok {
		return nil
	}
	m := append(amqp.Message(f.room(len(out))[:0]), out...)
	m.SetPublished(f.now)
	if amqp.ScanProperties(m.Properties(), &f.index) != nil {
		return nil
	}
	return m
}

// sent routes a message that somebody sends somewhere. What it went through before counts no more, so it does not look as if it went in circles.
func (f *forwarding) sent(d *queue.Departure) amqp.Message {
	x := f.vhost.Exchange([]byte(d.To.Exchange))
	if x == nil {
		return nil
	}
	_, properties, body := d.Message.Split()
	size := amqp.MessageHeadSize + 2 + len(d.To.Exchange) + len(d.To.Key) + len(properties) + len(body)
	m := amqp.Message(amqp.AppendMessageAddress(f.room(size)[:0], []byte(d.To.Exchange), []byte(d.To.Key)))
	m = append(m, properties...)
	m.Resend(d.Message, len(properties), f.now)
	m = append(m, body...)
	r := &f.routing
	r.Keys = append(r.Keys[:0], []byte(d.To.Key))
	r.Headers, r.Message, r.Properties, r.Forwarded = f.index.Headers, m, &f.index, true
	f.vhost.Route(x, r)
	r.Headers, r.Message, r.Properties = nil, nil, nil
	return m
}

// pressed reports whether a message has to wait for one of its targets.
func (f *forwarding) pressed(d *queue.Departure) bool {
	for _, q := range f.routing.Queues {
		if q.Crammed() && d.Reason != queue.MaxLength && q != f.source {
			f.wait = func() { q.WaitRoom(nil, 0) }
			return true
		}
		if f.keeps(d) && q.MayRefuse() {
			d.Unsure = true
			if q.Full(len(d.Message.Body())) {
				return true
			}
		}
	}
	return false
}
