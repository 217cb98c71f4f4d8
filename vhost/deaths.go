package vhost

import (
	"bytes"
	"slices"

	"leveret/amqp"
	"leveret/queue"
)

// death is one entry of the header x-death: how often a message died in a queue for a reason, and how it was the first time.
type death struct {
	count              int64
	reason, queue      string
	seconds            uint64 // Unix time of the first
	exchange           string
	keys               [][]byte
	originalExpiration []byte // nil if it had none
}

// deaths are a message's, the latest first, each queue and reason once.
type deaths []death

// deaths notes this death among those that the message has behind it. What a publisher wrote into x-death itself counts for nothing.
func (f *forwarding) deaths(d *queue.Departure) deaths {
	list := f.list[:0]
	if d.Message.Died() {
		list = appendDeaths(list, f.index.Headers)
	}
	name, reason := f.source.Name(), d.Reason.String()
	at := slices.IndexFunc(list, func(e death) bool { return e.queue == name && e.reason == reason })
	if at >= 0 {
		again := list[at]
		again.count++
		copy(list[1:], list[:at])
		list[0] = again
		f.list = list
		return list
	}
	e := death{
		count: 1, reason: reason, queue: name, seconds: uint64(f.now / 1000), exchange: string(d.Message.Exchange()),
		keys: append([][]byte{d.Message.RoutingKey()}, carbonCopies(d.Message, f.index.Headers)...),
	}
	if f.index.Has(amqp.FlagExpiration) {
		e.originalExpiration = f.index.Expiration
	}
	f.list = slices.Insert(list, 0, e)
	return f.list
}

// appendDeaths reads the header x-death as appendDeathHeaders writes it.
func appendDeaths(list deaths, headers []byte) deaths {
	table, _, err := amqp.DecodeTable(headers)
	if err != nil {
		return list
	}
	value, _ := table.Get(headerDeath)
	entries, _ := value.(amqp.Array)
	for _, entry := range entries {
		t, ok := entry.(amqp.Table)
		if !ok {
			continue
		}
		e := death{count: get[int64](t, "count"), reason: get[string](t, "reason"), queue: get[string](t, "queue"), exchange: get[string](t, "exchange")}
		e.seconds = uint64(get[amqp.Timestamp](t, "time"))
		for _, key := range get[amqp.Array](t, "routing-keys") {
			if key, ok := key.(string); ok {
				e.keys = append(e.keys, []byte(key))
			}
		}
		if original, ok := t.Get("original-expiration"); ok {
			text, _ := original.(string)
			e.originalExpiration = []byte(text)
		}
		list = append(list, e)
	}
	return list
}

// cycle reports whether a message that goes to a queue would do so for ever: it died there before, and nobody has rejected it since.
func (list deaths) cycle(queue string) bool {
	for i := range list {
		if list[i].reason == "rejected" {
			return false
		}
		if list[i].queue == queue {
			return true
		}
	}
	return false
}

// deathNames are the headers that appendDeathHeaders writes.
var deathNames = [][]byte{
	[]byte(headerDeath), []byte("x-first-death-reason"), []byte("x-first-death-queue"), []byte("x-first-death-exchange"),
	[]byte("x-last-death-reason"), []byte("x-last-death-queue"), []byte("x-last-death-exchange"),
}

// appendDeathHeaders appends the header table of a dead letter: the headers that the message had, and what tells of its deaths.
//
// [dead letter exchanges, effects on messages]
func appendDeathHeaders(dst []byte, index *amqp.PropertyIndex, d *queue.Departure, list deaths) []byte {
	dst, table := amqp.BeginTable(dst)
	if index.Headers != nil {
		dst = amqp.AppendFieldsExcept(dst, index.Headers, func(name []byte) bool {
			return slices.ContainsFunc(deathNames, func(own []byte) bool { return bytes.Equal(own, name) })
		})
	}
	dst, array := amqp.BeginArrayField(dst, headerDeath)
	for i := range list {
		dst = list[i].appendTo(dst)
	}
	amqp.EndTable(dst, array)
	first := [...]string{list[0].reason, list[0].queue, list[0].exchange}
	if d.Message.Died() {
		for i, name := range deathNames[1:4] {
			if value, ok := textField(index.Headers, string(name)); ok {
				first[i] = string(value)
			}
		}
	}
	last := [...]string{d.Reason.String(), list[0].queue, string(d.Message.Exchange())}
	for i, value := range [...]string{first[0], first[1], first[2], last[0], last[1], last[2]} {
		dst = amqp.AppendTextField(dst, string(deathNames[1+i]), value)
	}
	amqp.EndTable(dst, table)
	return dst
}

// appendTo appends the entry as an item of an array.
func (e *death) appendTo(dst []byte) []byte {
	dst, table := amqp.BeginTableValue(dst)
	if e.originalExpiration != nil {
		dst = amqp.AppendTextField(dst, "original-expiration", e.originalExpiration)
	}
	dst = amqp.AppendLongField(dst, "count", e.count)
	dst = amqp.AppendTextField(dst, "reason", e.reason)
	dst = amqp.AppendTextField(dst, "queue", e.queue)
	dst = amqp.AppendTimestampField(dst, "time", e.seconds)
	dst = amqp.AppendTextField(dst, "exchange", e.exchange)
	dst, keys := amqp.BeginArrayField(dst, "routing-keys")
	for _, key := range e.keys {
		dst = amqp.AppendTextValue(dst, key)
	}
	amqp.EndTable(dst, keys)
	amqp.EndTable(dst, table)
	return dst
}
