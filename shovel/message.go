package shovel

import (
	"maps"
	"strings"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

const (
	// Headers of RabbitMQ's, by which people and loops are told where a message has been.
	forwardHeader   = "x-shovelled"
	timestampHeader = "x-shovelled-timestamp"
)

// address is where a message is published.
func (t *target) address(d *amqp091.Delivery) (exchange, key string) {
	// With neither queue nor exchange given, it goes to the exchange of the same name over there.
	exchange, key = d.Exchange, d.RoutingKey
	if t.queue != "" {
		return "", t.queue
	}
	if t.exchange != nil {
		exchange = *t.exchange
	}
	if t.key != nil {
		key = *t.key
	}
	return exchange, key
}

// publishing is a message as it is published: as it came, but for what the shovel is to change. forwarded is the entry for the header that
// tells the way, nil for none.
func (t *target) publishing(d *amqp091.Delivery, forwarded amqp091.Table, now time.Time) amqp091.Publishing {
	p := amqp091.Publishing{
		Headers: d.Headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: d.DeliveryMode, Priority: d.Priority,
		CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration, MessageId: d.MessageId, Timestamp: d.Timestamp, Type: d.Type,
		UserId: d.UserId, AppId: d.AppId, Body: d.Body,
	}
	for name, value := range t.properties {
		setProperty(&p, name, value)
	}
	if forwarded == nil && !t.timestamp {
		return p
	}
	// The delivery's own stay as they are: a message that is returned is published again from it.
	p.Headers = maps.Clone(p.Headers)
	if p.Headers == nil {
		p.Headers = amqp091.Table{}
	}
	if forwarded != nil {
		before, _ := p.Headers[forwardHeader].([]any)
		p.Headers[forwardHeader] = append([]any{forwarded}, before...)
	}
	if t.timestamp {
		p.Headers[timestampHeader] = now.Unix()
	}
	return p
}

// textProperties are the properties that are texts.
var textProperties = map[string]func(*amqp091.Publishing) *string{
	"content_type":     func(p *amqp091.Publishing) *string { return &p.ContentType },
	"content_encoding": func(p *amqp091.Publishing) *string { return &p.ContentEncoding },
	"correlation_id":   func(p *amqp091.Publishing) *string { return &p.CorrelationId },
	"reply_to":         func(p *amqp091.Publishing) *string { return &p.ReplyTo },
	"expiration":       func(p *amqp091.Publishing) *string { return &p.Expiration },
	"message_id":       func(p *amqp091.Publishing) *string { return &p.MessageId },
	"type":             func(p *amqp091.Publishing) *string { return &p.Type },
	"user_id":          func(p *amqp091.Publishing) *string { return &p.UserId },
	"app_id":           func(p *amqp091.Publishing) *string { return &p.AppId },
}

// setProperty replaces a property; a name or a type that is none of the protocol's is passed over.
func setProperty(p *amqp091.Publishing, name string, value any) {
	name = strings.ReplaceAll(name, "-", "_")
	switch value := value.(type) {
	case string:
		if text := textProperties[name]; text != nil {
			*text(p) = value
		}
	case map[string]any:
		if name == "headers" {
			p.Headers = table(value)
		}
	case int64:
		setNumber(p, name, value)
	}
}

// setNumber replaces a property that is a number; those of one octet are cut to it.
func setNumber(p *amqp091.Publishing, name string, n int64) {
	switch name {
	case "delivery_mode":
		p.DeliveryMode = uint8(n)
	case "priority":
		p.Priority = uint8(n)
	case "timestamp":
		p.Timestamp = time.Unix(n, 0)
	}
}

// forwarded is the entry that tells of the shovel's part in a message's way.
func (o *order) forwarded(node, from, to string) amqp091.Table {
	t := amqp091.Table{
		"shovelled-by": node, "shovel-type": "dynamic", "shovel-name": o.name, "shovel-vhost": o.vhost, "src-uri": from, "dest-uri": to,
	}
	// What was not given is left out.
	add := func(name, value string) {
		if value != "" {
			t[name] = value
		}
	}
	add("src-queue", o.source.queue)
	add("src-exchange", o.source.exchange)
	add("src-exchange-key", o.source.key)
	add("dest-queue", o.target.queue)
	if o.target.exchange != nil {
		t["dest-exchange"] = *o.target.exchange
	}
	if o.target.key != nil {
		t["dest-exchange-key"] = *o.target.key
	}
	return t
}
