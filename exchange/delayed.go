package exchange

import (
	"encoding/binary"
	"math"
	"time"

	"leveret/amqp"
)

// The arguments and headers of delays. Those of the type x-delayed-message are the community plugin's, ArgDelayed is LavinMQ's.
const (
	DelayedType     = "x-delayed-message"
	ArgDelayedType  = "x-delayed-type"     // how a delayed message exchange routes
	ArgDelayed      = "x-delayed-exchange" // true makes any exchange delay
	HeaderDelay     = "x-delay"            // milliseconds
	HeaderDeliverAt = "x-deliver-at"       // Unix milliseconds, or a timestamp
)

// maxDelay is the longest delay that x-delay can ask for, in milliseconds: the plugin's limit. What asks for more gets this much.
const maxDelay = 1<<32 - 1

func init() {
	types[DelayedType] = newDelayed
}

// newDelayed makes the table of the type that a delayed message exchange routes by. That it delays is not the table's matter: see Settings.
func newDelayed(arguments amqp.Table) (table, error) {
	v, _ := arguments.Get(ArgDelayedType)
	name, _ := v.(string)
	if types[name] == nil || name == DelayedType {
		return nil, amqp.InvalidDelayedType()
	}
	return newTable(name, arguments)
}

// Delays reports whether an exchange that is declared so delays messages by itself, whatever the policies say.
func (o *Options) Delays() bool {
	v, _ := o.Arguments.Get(ArgDelayed)
	asked, _ := v.(bool)
	return asked || o.Type == DelayedType
}

// dueTime is when a message with these headers is to be routed, in Unix milliseconds; 0 is at once. A delay of zero or less, and anything
// that is no number, is none; beside x-delay the other header does not count.
func dueTime(headers []byte) int64 {
	if len(headers) == 0 {
		return 0
	}
	if tag, value, ok := amqp.FindField(headers, HeaderDelay); ok {
		n, ok := amqp.FieldInteger(tag, value)
		if !ok || n <= 0 {
			return 0
		}
		return time.Now().UnixMilli() + min(n, maxDelay)
	}
	tag, value, ok := amqp.FindField(headers, HeaderDeliverAt)
	if !ok {
		return 0
	}
	at, ok := amqp.FieldInteger(tag, value)
	if tag == 'T' {
		seconds := binary.BigEndian.Uint64(value)
		at, ok = int64(min(seconds, math.MaxInt64/1000))*1000, true
	}
	if !ok || at <= time.Now().UnixMilli() {
		return 0
	}
	return at
}

// Undelayed is the message as consumers get it after its delay: with the negative of what x-delay said, so that it does not wait
// a second time wherever it is sent on. A message that has no such header is returned as it is. The index is that of the properties.
func Undelayed(m amqp.Message, properties *amqp.PropertyIndex) amqp.Message {
	if properties.Headers == nil {
		return m
	}
	tag, value, ok := amqp.FindField(properties.Headers, HeaderDelay)
	if !ok {
		return m
	}
	negative := negated(tag, value)
	if negative == nil {
		return m
	}
	return m.WithProperties(amqp.ReplaceHeader(nil, m.Properties(), properties, HeaderDelay, negative))
}

// negated is the negative of an integer in its own type if that has one, else in the next wider; nil if it is none or not positive.
func negated(tag byte, value []byte) any {
	n, ok := amqp.FieldInteger(tag, value)
	if !ok || n <= 0 {
		return nil
	}
	switch tag {
	case 'b':
		return int8(-n)
	case 'B', 's':
		return int16(-n)
	case 'u', 'I':
		return int32(-n)
	}
	return -n
}
