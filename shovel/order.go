package shovel

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// mode is when a message is acknowledged at the source.
type mode string

const (
	onConfirm mode = "on-confirm" // when the target has confirmed it
	onPublish mode = "on-publish" // when it has been sent
	noAck     mode = "no-ack"     // before it is delivered
)

const (
	// RabbitMQ's defaults.
	defaultPrefetch  = 1000
	defaultReconnect = 5 * time.Second
	never            = "never"
	queueLength      = "queue-length"
	lifetimeUnit     = time.Second
)

// errProtocol is why a shovel can't run that is meant for something else than AMQP 0-9-1.
var errProtocol = errors.New("AMQP 1.0 is not spoken here")

// order is what a parameter tells a shovel to do.
type order struct {
	vhost, name string
	source      source
	target      target
	mode        mode
	prefetch    int           // messages under way at once
	reconnect   time.Duration // from the end of a session to the next; 0: there is no next
	ending      string        // queueLength, or empty
	count       int64         // messages to move; -1: no end by number
	lifetime    time.Duration // after which it has done its work whatever it has moved; 0: no end by time
}

// source is where messages come from: a queue, or an exchange by way of a queue of the shovel's own.
type source struct {
	uris          []string
	queue         string
	exchange, key string
	predeclared   bool          // there has to be one already
	queueArgs     amqp091.Table // of the queue that it declares, if it is not there
	consumerArgs  amqp091.Table
	consumer      string // its tag; empty: one of the broker's
}

// target is where messages go. What is not set stays as it was at the source.
type target struct {
	uris                []string
	queue               string
	exchange, key       *string // nil: the message's own
	predeclared         bool
	queueArgs           amqp091.Table
	properties          map[string]any // that replace the message's, by name
	forwards, timestamp bool           // headers to add
}

// values are the fields of a parameter, checked when it was set.
type values map[string]any

// parse reads a parameter. The virtual host has checked the types of its fields.
func parse(vhost, name string, parameter any) (*order, error) {
	object, _ := parameter.(map[string]any)
	v := values(object)
	o := &order{
		vhost: vhost, name: name,
		source: source{
			uris: v.uris("src-uri"), queue: v.text("src-queue"), exchange: v.text("src-exchange"), key: v.text("src-exchange-key"),
			predeclared: v.truth("src-predeclared"), queueArgs: v.table("src-queue-args"), consumerArgs: v.table("src-consumer-args"),
			consumer: v.text("src-consumer-name"),
		},
		target: target{
			uris: v.uris("dest-uri"), queue: v.text("dest-queue"), exchange: v.given("dest-exchange"), key: v.given("dest-exchange-key"),
			predeclared: v.truth("dest-predeclared"), queueArgs: v.table("dest-queue-args"),
			properties: v.object("dest-publish-properties", "publish-properties"),
			forwards:   v.truth("dest-add-forward-headers", "add-forward-headers"), timestamp: v.truth("dest-add-timestamp-header"),
		},
		mode:      mode(cmp.Or(v.text("ack-mode"), string(onConfirm))),
		prefetch:  int(v.number(defaultPrefetch, 0, math.MaxUint16, "src-prefetch-count", "prefetch-count")),
		reconnect: time.Duration(v.number(defaultReconnect.Seconds(), 0, math.MaxInt32, "reconnect-delay") * float64(time.Second)),
		count:     -1,
	}
	o.readEnding(v.first("src-delete-after", "delete-after"))
	o.lifetime = time.Duration(v.number(0, 0, math.MaxInt32, "src-delete-after-duration") * float64(lifetimeUnit))
	if v.text("src-protocol") == "amqp10" || v.text("dest-protocol") == "amqp10" {
		// The order goes along: List shows it, with why it does not run.
		return o, errProtocol
	}
	return o, nil
}

// readEnding reads when the shovel has done its work. To end at a number without acknowledgements would lose what was delivered beyond it, so
// they are there then.
func (o *order) readEnding(after any) {
	switch after := after.(type) {
	case int64:
		o.count = after
	case string:
		if after == queueLength {
			o.ending = queueLength
		}
	}
	if o.mode == noAck && (o.count >= 0 || o.ending != "") {
		o.mode = onPublish
	}
}

// first is the value of the first of the keys that is set: newer names stand before older ones.
func (v values) first(keys ...string) any {
	for _, key := range keys {
		if value, ok := v[key]; ok {
			return value
		}
	}
	return nil
}

// text is empty if it is not set: what that means is the same for all such fields.
func (v values) text(key string) string {
	s, _ := v[key].(string)
	return s
}

// given is a text that means something when it is empty, nil if it is not set.
func (v values) given(key string) *string {
	if s, ok := v[key].(string); ok {
		return &s
	}
	return nil
}

// truth is false if it is not set.
func (v values) truth(keys ...string) bool {
	b, _ := v.first(keys...).(bool)
	return b
}

// object is nil if it is not set.
func (v values) object(keys ...string) map[string]any {
	o, _ := v.first(keys...).(map[string]any)
	return o
}

// table is an object as a field table.
func (v values) table(key string) amqp091.Table { return table(v.object(key)) }

// number is a number between two bounds.
// What is beyond them is brought inside, and not refused: RabbitMQ takes any number.
func (v values) number(otherwise, least, most float64, keys ...string) float64 {
	n := otherwise
	switch value := v.first(keys...).(type) {
	case int64:
		n = float64(value)
	case float64:
		n = value
	}
	return min(max(n, least), most)
}

// uris are those to try, one or more.
// Which one is tried, is the session's to say.
func (v values) uris(key string) []string {
	var list []string
	switch value := v[key].(type) {
	case string:
		list = append(list, value)
	case []any:
		for _, item := range value {
			if s, ok := item.(string); ok {
				list = append(list, s)
			}
		}
	}
	return list
}

// table makes a field table of an object; nil of none.
func table(object map[string]any) amqp091.Table {
	if object == nil {
		return nil
	}
	t := make(amqp091.Table, len(object))
	for name, value := range object {
		t[name] = fieldValue(value)
	}
	return t
}

// fieldValue makes a value of a field table of one of JSON.
func fieldValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return table(value)
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = fieldValue(item)
		}
		return list
	}
	return value
}
