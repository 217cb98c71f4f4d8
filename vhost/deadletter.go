package vhost

import (
	"math"

	"leveret/amqp"
	"leveret/queue"
)

const (
	headerDeath              = "x-death"
	headerDeadLetterExchange = "x-dead-letter-exchange"
	headerDeadLetterKey      = "x-dead-letter-routing-key"
)

// die makes a dead letter of a message and routes it; nil if there is no exchange to go to.
//
// [dead letter exchanges]: it goes with the dead letter key, else with all keys that it had, to whoever is bound; rights are not asked for.
func (f *forwarding) die(d *queue.Departure) amqp.Message {
	name, key, hasKey := f.destination(d.Message)
	x := f.vhost.Exchange(name)
	if x == nil {
		return nil
	}
	deaths := f.deaths(d)
	r := &f.routing
	if r.Keys = append(r.Keys[:0], key); !hasKey {
		r.Keys = append(append(r.Keys, carbonCopies(d.Message, f.index.Headers)...), d.Message.BlindKeys()...)
	}
	m := f.deadLetter(d, name, key, hasKey, deaths)
	if err := amqp.ScanProperties(m.Properties(), &f.index); err != nil {
		return nil
	}
	r.Headers, r.Message, r.Properties, r.Forwarded = f.index.Headers, m, &f.index, true
	f.vhost.Route(x, r)
	r.Headers, r.Message, r.Properties, r.Forwarded = nil, nil, nil, false
	if d.Reason != queue.Rejected {
		f.cutCycles(deaths)
	}
	return m
}

// destination is the exchange and the key that a dead message goes to. Its own headers count before its queue's settings.
func (f *forwarding) destination(m amqp.Message) (exchange, key []byte, hasKey bool) {
	exchange, key, hasKey = []byte(f.settings.DeadLetterExchange), m.RoutingKey(), f.settings.HasDeadLetterKey
	if hasKey {
		key = []byte(f.settings.DeadLetterKey)
	}
	if !m.OwnDeadLetter() {
		return exchange, key, hasKey
	}
	if own, ok := textField(f.index.Headers, headerDeadLetterExchange); ok {
		exchange = own
	}
	if own, ok := textField(f.index.Headers, headerDeadLetterKey); ok && len(own) <= math.MaxUint8 {
		key, hasKey = own, true
	}
	return exchange, key, hasKey
}

// textField is a header that is a string.
func textField(headers []byte, name string) (value []byte, ok bool) {
	if headers == nil {
		return nil, false
	}
	tag, value, ok := amqp.FindField(headers, name)
	if !ok || tag != 'S' || len(value) < 4 {
		return nil, false
	}
	return value[4:], true
}

// carbonCopies are the keys of a message's CC header, as long as it goes by them. headers are the encoded ones.
func carbonCopies(m amqp.Message, headers []byte) (keys [][]byte) {
	if headers == nil || m.OneKey() {
		return nil
	}
	if tag, _, ok := amqp.FindField(headers, "CC"); !ok || tag != 'A' {
		return nil
	}
	table, _, err := amqp.DecodeTable(headers)
	if err != nil {
		return nil
	}
	list, _ := table.Get("CC")
	items, _ := list.(amqp.Array)
	for _, item := range items {
		if key, ok := item.(string); ok {
			keys = append(keys, []byte(key))
		}
	}
	return keys
}

// deadLetter builds the message that a dead one becomes: published now, to the dead letter exchange, without an expiration, and with the
// headers that tell of its deaths.
func (f *forwarding) deadLetter(d *queue.Departure, exchange, key []byte, hasKey bool, deaths deaths) amqp.Message {
	old := d.Message
	body := old.Body()
	size := amqp.MessageHeadSize + 2 + len(exchange) + len(key) + len(old.Properties()) + len(body) + 256*(len(deaths)+2)
	m := amqp.Message(amqp.AppendMessageAddress(f.room(size)[:0], exchange, key))
	start := len(m)
	f.headers = appendDeathHeaders(f.headers[:0], &f.index, d, deaths)
	m = amqp.AppendProperties(m, old.Properties(), &f.index, f.headers, false)
	m.Redirect(old, len(m)-start, f.now)
	m.SetDied()
	if hasKey {
		m.SetOneKey()
	} else {
		m = amqp.AppendBlindKeys(m, old.BlindKeys()...)
	}
	return append(m, body...)
}

// cutCycles takes queues out of the routing that the message died in before, unless a consumer has rejected it since: nothing else would
// ever end that.
func (f *forwarding) cutCycles(deaths deaths) {
	kept := f.routing.Queues[:0]
	for _, q := range f.routing.Queues {
		if deaths.cycle(q.Name()) {
			f.vhost.noteCycle(f.source, q)
			f.cut = true
			continue
		}
		kept = append(kept, q)
	}
	clear(f.routing.Queues[len(kept):])
	f.routing.Queues = kept
}
