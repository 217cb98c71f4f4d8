package queue

import (
	"hash/crc32"
	"strconv"

	"leveret/amqp"
)

// Processors have an instruction for this one. It must stay what it is, as tags are kept in the log.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// hashTag is the tag of a message with that key: 0 for the empty one. Two keys in four thousand million share a tag, and are one then.
func hashTag(key []byte) uint32 {
	if len(key) == 0 {
		return 0
	}
	switch h := crc32.Checksum(key, castagnoli); h {
	case 0, UnknownTag:
		return 1
	default:
		return h
	}
}

// tagger makes what computes a message's tag from its key.
func (k Keying) tagger() tagger {
	switch k.Source {
	case ByUser:
		return func(_ amqp.Message, o *Origin) uint32 { return hashTag([]byte(o.User)) }
	case ByConnection:
		return func(_ amqp.Message, o *Origin) uint32 { return hashTag(strconv.AppendUint(nil, o.Connection, 10)) }
	case ByProperty:
		if k.Name == "routing-key" {
			return func(m amqp.Message, _ *Origin) uint32 { return hashTag(m.RoutingKey()) }
		}
		return func(m amqp.Message, _ *Origin) uint32 { return hashTag(k.property(m)) }
	}
	return func(m amqp.Message, o *Origin) uint32 { return hashTag(k.header(m, o.Index)) }
}

// header is the value of a header as the client encoded it, with its type: the number 1 and the text "1" are two keys.
func (k Keying) header(m amqp.Message, index *amqp.PropertyIndex) []byte {
	var own amqp.PropertyIndex
	if index == nil {
		if amqp.ScanProperties(m.Properties(), &own) != nil {
			return nil
		}
		index = &own
	}
	if index.Headers == nil {
		return nil
	}
	_, value, _ := amqp.FindField(index.Headers, k.Name)
	return value
}

// property is the value of a property. All of them are decoded, which costs more than a header does: who publishes fast has the key in a header or in the
// routing key.
func (k Keying) property(m amqp.Message) []byte {
	p, err := amqp.DecodeProperties(m.Properties())
	if err != nil {
		return nil
	}
	switch k.Name {
	case "correlation-id":
		return []byte(p.CorrelationID)
	case "message-id":
		return []byte(p.MessageID)
	case "reply-to":
		return []byte(p.ReplyTo)
	case "type":
		return []byte(p.Type)
	case "app-id":
		return []byte(p.AppID)
	case "user-id":
		return []byte(p.UserID)
	case "content-type":
		return []byte(p.ContentType)
	case "content-encoding":
		return []byte(p.ContentEncoding)
	}
	return nil
}
