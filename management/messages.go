package management

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"leveret/amqp"
	"leveret/queue"
	"leveret/server"
)

var messageRoutes = []route{
	{path: "/exchanges/{vhost}/{exchange}/publish", group: "Messages", operations: []operation{
		{http.MethodPost, vhostUser, (*call).publish, "publish a message and wait until it is safe",
			"routing_key* properties* payload* payload_encoding*", false},
	}},
	{path: "/queues/{vhost}/{queue}/get", group: "Messages", operations: []operation{
		{http.MethodPost, vhostUser, (*call).get, "take messages, and put them back or not", "ackmode* count* encoding* truncate", false},
	}},
}

// publish publishes one message. routed tells whether any queue got it.
func (c *call) publish() (reply, error) {
	// Before anything is read: the message itself is what there is no room for.
	if err := c.roomToPublish(); err != nil {
		return reply{}, err
	}
	name := c.exchange("exchange")
	if c.vhost.Exchange([]byte(name)) == nil {
		return reply{}, missing("exchange_not_found")
	}
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	p, err := publicationOf(o)
	if err != nil {
		return reply{}, err
	}
	// The rights of this moment, as a long-lived connection's are not known here.
	rights, allowed := c.user.Rights(c.vhost.Name())
	if !allowed {
		return reply{}, accessRefused()
	}
	p.User, p.Rights, p.VHost, p.Exchange = c.user, rights, c.vhost, name
	outcome, err := c.api.server.Publish(c.request.Context(), p)
	if err != nil {
		return reply{}, channelError(err)
	}
	// A queue that is full and refuses, for which a publisher over AMQP would get basic.nack.
	if outcome == server.Refused {
		return reply{}, badRequest("rejected Unable to publish message. Check queue limits.")
	}
	return ok(object{{"routed", outcome == server.Routed}})
}

// publicationOf reads a message.
func publicationOf(o object) (*server.Publication, error) {
	if err := o.require("routing_key", "properties", "payload", "payload_encoding"); err != nil {
		return nil, err
	}
	// Empty is a key as any other.
	key, err := o.text("routing_key", "")
	if err != nil {
		return nil, err
	}
	if len(key) > maxShortString {
		return nil, tooLong("routing_key", key)
	}
	p := &server.Publication{RoutingKey: key}
	given, _ := o.get("properties")
	properties, isObject := given.(object)
	if !isObject {
		return nil, badRequest("properties must be an object")
	}
	if p.Properties, err = propertiesOf(properties); err != nil {
		return nil, err
	}
	p.Body, err = payloadOf(o)
	return p, err
}

// payloadOf is the body of a message, decoded.
func payloadOf(o object) ([]byte, error) {
	// JSON has texts alone, so what is no UTF-8 comes in base64.
	given, _ := o.get("payload")
	payload, isText := given.(string)
	if !isText {
		return nil, badRequest("payload_not_string")
	}
	switch encoding, _ := o.get("payload_encoding"); encoding {
	case "string":
		return []byte(payload), nil
	case "base64":
		body, err := base64.StdEncoding.DecodeString(payload)
		if err != nil {
			return nil, invalid("not_base64", payload)
		}
		return body, nil
	default:
		return nil, invalid("unsupported_encoding", encoding)
	}
}

// propertiesOf reads the properties of a message; names that are none are passed over.
func propertiesOf(o object) (p amqp.Properties, err error) {
	for _, f := range o {
		// A property that is given and empty is there: the flag says so on the wire.
		if to, flag := textProperty(&p, f.name); to != nil {
			s, isText := f.value.(string)
			if !isText {
				return p, invalid("not_string", f.name)
			}
			if len(s) > maxShortString {
				return p, tooLong(f.name, s)
			}
			*to, p.Flags = s, p.Flags|flag
			continue
		}
		if err = numberProperty(&p, f); err != nil {
			return p, err
		}
	}
	return p, nil
}

// textProperty is where a property that is a text goes, nil if the name is none of one.
func textProperty(p *amqp.Properties, name string) (*string, uint16) {
	switch name {
	case "content_type":
		return &p.ContentType, amqp.FlagContentType
	case "content_encoding":
		return &p.ContentEncoding, amqp.FlagContentEncoding
	case "correlation_id":
		return &p.CorrelationID, amqp.FlagCorrelationID
	case "reply_to":
		return &p.ReplyTo, amqp.FlagReplyTo
	case "expiration":
		return &p.Expiration, amqp.FlagExpiration
	case "message_id":
		return &p.MessageID, amqp.FlagMessageID
	case "type":
		return &p.Type, amqp.FlagType
	case "user_id":
		return &p.UserID, amqp.FlagUserID
	case "app_id":
		return &p.AppID, amqp.FlagAppID
	case "cluster_id":
		return &p.ClusterID, amqp.FlagClusterID
	}
	return nil, 0
}

// numberProperty sets a property that is no text. Numbers that do not fit are cut as the wire would.
func numberProperty(p *amqp.Properties, f field) (err error) {
	if f.name == "headers" {
		p.Headers, err = fieldTable(f.value)
		p.Flags |= amqp.FlagHeaders
		return err
	}
	var flag uint16
	switch f.name {
	case "delivery_mode":
		flag = amqp.FlagDeliveryMode
	case "priority":
		flag = amqp.FlagPriority
	case "timestamp":
		flag = amqp.FlagTimestamp
	default:
		return nil
	}
	number, _ := f.value.(json.Number)
	n, err := number.Int64()
	if err != nil {
		return invalid("not_int", f.name)
	}
	p.Flags |= flag
	switch flag {
	case amqp.FlagDeliveryMode:
		p.DeliveryMode = uint8(n)
	case amqp.FlagPriority:
		p.Priority = uint8(n)
	case amqp.FlagTimestamp:
		p.Timestamp = amqp.Timestamp(n)
	}
	return nil
}

// ackModes say what becomes of messages that were got.
var ackModes = map[string]queue.Outcome{
	"ack_requeue_true": queue.Requeue, "reject_requeue_true": queue.Requeue, "ack_requeue_false": queue.Ack, "reject_requeue_false": queue.Reject,
}

// getRequest is what a client wants of a get.
type getRequest struct {
	count    int64         // negative: all
	outcome  queue.Outcome // what becomes of what was got
	base64   bool          // also of what is a text
	truncate int64         // bytes of each payload, -1: all
}

// getRequestOf reads what a client wants. RabbitMQ asks for ackmode, count and encoding in every request, and has no defaults for them.
func getRequestOf(o object) (r getRequest, err error) {
	if err := o.require("ackmode", "count", "encoding"); err != nil {
		return r, err
	}
	if r.count, err = o.integer("count", 0); err != nil {
		return r, err
	}
	if r.truncate, err = o.integer("truncate", -1); err != nil {
		return r, err
	}
	// ack and reject differ where messages are not put back: what is rejected is dead-lettered.
	mode, _ := o.get("ackmode")
	outcome, known := ackModes[termText(mode)]
	if !known {
		return r, badRequest(fmt.Sprintf("Invalid ackmode value: %s. Valid values are: "+
			"ack_requeue_true, ack_requeue_false, reject_requeue_true, reject_requeue_false", termText(mode)))
	}
	r.outcome = outcome
	switch encoding, _ := o.get("encoding"); encoding {
	case "auto":
	case "base64":
		r.base64 = true
	default:
		return r, badRequest("Unsupported encoding. Please use auto or base64.")
	}
	return r, nil
}

// get takes messages from a queue, and settles them when it has all. So those that are put back come back to their places.
func (c *call) get() (reply, error) {
	name := c.path("queue")
	if findQueue(c.vhost, name) == nil {
		return reply{}, missing("queue_not_found")
	}
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	r, err := getRequestOf(o)
	if err != nil {
		return reply{}, err
	}
	q, err := c.readable(name)
	if err != nil {
		return reply{}, channelError(err)
	}
	messages, err := c.take(q, r)
	if err != nil {
		return reply{}, channelError(err)
	}
	// What was put back is not gone, and no act.
	if r.outcome != queue.Requeue && len(messages) > 0 {
		c.audit("queue.messages.taken", "vhost", c.vhost.Name(), "name", name, "messages", len(messages))
	}
	return ok(messages)
}

// maxGot bounds how many messages one call takes, whatever it asks for.
const maxGot = 50_000

// take gets messages one by one, as basic.get would, until there are enough or no more.
func (c *call) take(q *queue.Queue, r getRequest) ([]object, error) {
	// It stands for a consumer: what a queue wants of one, and no connection.
	basket := new(basket)
	// With automatic acks there is nothing to settle afterwards; else all are settled together, at the end, so that none is got twice.
	auto := r.outcome == queue.Ack
	settlement := queue.NewSettlement(nil, r.outcome)
	messages := []object{}
	most := r.count
	if most < 0 {
		most = maxGot // a negative count is for all
	}
	var failed error
	for int64(len(messages)) < min(most, maxGot) {
		found, err := q.Get(basket, basket, auto)
		// A queue that was deleted meanwhile has given what it had.
		if err != nil && !errors.Is(err, queue.ErrClosed) {
			failed = err
		}
		if !found {
			break
		}
		if !auto {
			settlement.Add(basket.seq)
		}
		messages = append(messages, basket.show(r))
	}
	// The queue asks its caller to run it if nobody does.
	if !auto && q.Settle(settlement) {
		q.Run()
	}
	return messages, failed
}

// show is a message that was got.
func (b *basket) show(r getRequest) object {
	body := b.message.Body()
	o := object{
		{"payload_bytes", len(body)}, {"redelivered", b.redelivered}, {"exchange", string(b.message.Exchange())},
		{"routing_key", string(b.message.RoutingKey())}, {"message_count", b.remaining}, {"properties", messageProperties(b.message)},
	}
	if r.truncate >= 0 && r.truncate < int64(len(body)) {
		// It may end within a letter; the rest is shown in base64 then. payload_bytes is the length of the whole.
		body = body[:r.truncate]
	}
	return appendPayload(o, body, r.base64)
}

// appendPayload adds a message's body: as text if it is one, else in base64.
func appendPayload(o object, body []byte, encode bool) object {
	// JSON's texts are UTF-8; replacing what is none would hand out another message.
	if encode || !utf8.Valid(body) {
		return append(o, field{"payload", base64.StdEncoding.EncodeToString(body)}, field{"payload_encoding", "base64"})
	}
	return append(o, field{"payload", string(body)}, field{"payload_encoding", "string"})
}

// messageProperties shows the properties of a message that are there.
func messageProperties(m amqp.Message) object {
	o := object{}
	p, err := amqp.DecodeProperties(m.Properties())
	if err != nil {
		return o // they were checked when it was published
	}
	// In RabbitMQ's order, which people compare by eye.
	for _, name := range textProperties {
		if text, flag := textProperty(&p, name); p.Has(flag) {
			o.add(name, *text)
		}
	}
	if p.Has(amqp.FlagDeliveryMode) {
		o.add("delivery_mode", uint16(p.DeliveryMode))
	}
	if p.Has(amqp.FlagPriority) {
		o.add("priority", uint16(p.Priority))
	}
	if p.Has(amqp.FlagTimestamp) {
		o.add("timestamp", uint64(p.Timestamp))
	}
	if p.Has(amqp.FlagHeaders) {
		o.add("headers", p.Headers)
	}
	return o
}

// textProperties are the properties that are texts, in the order in which they are shown.
var textProperties = []string{
	"content_type", "content_encoding", "correlation_id", "reply_to", "expiration", "message_id", "type", "user_id", "app_id", "cluster_id",
}
