package amqp

import (
	"encoding/binary"
	"math"
)

// Message is one published message in the only encoding the broker has for it: in memory, in the log and in spill files alike.
//
//	offset  size  what
//	0       1     flags (persistent, has an expiration, says where it goes when it dies, has a priority, died before, has one key)
//	1       1     priority, 0 when the publisher set none
//	2       2     length of the blind keys
//	4       4     length of the properties
//	8       8     time of publishing, Unix milliseconds
//	16      8     expiration in milliseconds, when the flag says so
//	24            exchange (short string), routing key (short string), properties, blind keys (short strings), body
//
// Blind keys are the routing keys of a BCC header: nobody sees them, but a message that dies goes where they lead too.
//
// The properties are the bytes of the content header from the property flags on, as the publisher sent them. A Message is
// immutable once it was handed to a queue, and may be read from any goroutine; its slices alias it.
type Message []byte

// MessageHeadSize is the length in bytes of a message's fixed head, before the exchange name.
const MessageHeadSize = 24

const (
	messagePersistent    = 1 << 0
	messageHasExpiration = 1 << 1
	messageOwnDeadLetter = 1 << 2
	messageHasPriority   = 1 << 3
	messageDied          = 1 << 4
	messageOneKey        = 1 << 5
)

// AppendMessageAddress starts a message at the end of dst: an empty head, the exchange and the routing key, each at most 255 bytes.
// Properties and body are appended behind it, then SetProperties completes the head.
func AppendMessageAddress(dst, exchange, routingKey []byte) []byte {
	var head [MessageHeadSize]byte
	dst = append(dst, head[:]...)
	dst = append(dst, byte(len(exchange)))
	dst = append(dst, exchange...)
	dst = append(dst, byte(len(routingKey)))
	return append(dst, routingKey...)
}

// SetProperties fills in the head of a message under construction: the length of its properties, what the broker must know of them
// and the time of publishing in Unix milliseconds. Only the goroutine that builds the message may call it.
func (m Message) SetProperties(length int, index *PropertyIndex, published int64) {
	traits := byte(0)
	if index.DeliveryMode == Persistent {
		traits |= messagePersistent
	}
	if index.Has(FlagPriority) {
		traits |= messageHasPriority
	}
	m[0], m[1] = traits, index.Priority
	binary.LittleEndian.PutUint16(m[2:], 0) // in one go, as it is read: a processor waits when it reads what it has just written in parts
	binary.LittleEndian.PutUint32(m[4:], uint32(length))
	binary.LittleEndian.PutUint64(m[8:], uint64(published))
}

// Resend fills in the head of a message under construction that is another one, published anew: the length of its properties, which are the same, and
// the time in Unix milliseconds. Only the goroutine that builds it may call it.
func (m Message) Resend(from Message, properties int, now int64) {
	copy(m[:MessageHeadSize], from[:MessageHeadSize])
	m[0] &^= messageDied | messageOneKey
	m[2], m[3] = 0, 0
	binary.LittleEndian.PutUint32(m[4:], uint32(properties))
	binary.LittleEndian.PutUint64(m[8:], uint64(now))
}

// SetPublished changes the time of a message under construction, in Unix milliseconds. Only the goroutine that builds it may call it.
func (m Message) SetPublished(now int64) { binary.LittleEndian.PutUint64(m[8:], uint64(now)) }

// SetPropertyLength is for a copy of a message that got other properties: their length in bytes. Only the goroutine that builds it may call it.
func (m Message) SetPropertyLength(length int) { binary.LittleEndian.PutUint32(m[4:], uint32(length)) }

// Expires reports whether the publisher set an expiration.
func (m Message) Expires() bool { return m.Traits().Expires() }

// SetExpiration notes the expiration property, already parsed, in milliseconds. Only the goroutine that builds the message may call it.
func (m Message) SetExpiration(ms uint64) {
	m[0] |= messageHasExpiration
	binary.LittleEndian.PutUint64(m[16:], ms)
}

// SetOwnDeadLetter notes that a header of the message names the exchange that it goes to when it dies. Only the goroutine that builds
// the message may call it.
func (m Message) SetOwnDeadLetter() { m[0] |= messageOwnDeadLetter }

// OwnDeadLetter reports whether SetOwnDeadLetter was called.
func (m Message) OwnDeadLetter() bool { return m.Traits().OwnDeadLetter() }

// Redirect fills in the head of a message under construction that another one becomes: the length of its own properties, which have no expiration,
// and the time in Unix milliseconds; the rest is as it was. Only the goroutine that builds it may call it.
func (m Message) Redirect(from Message, properties int, now int64) {
	m[0], m[1], m[2], m[3] = from[0]&^messageHasExpiration, from[1], 0, 0
	binary.LittleEndian.PutUint32(m[4:], uint32(properties))
	binary.LittleEndian.PutUint64(m[8:], uint64(now))
	binary.LittleEndian.PutUint64(m[16:], 0)
}

// SetDied notes that the message was dead-lettered, and that its header x-death is the broker's own. Only the goroutine that builds the message
// may call it.
func (m Message) SetDied() { m[0] |= messageDied }

// Died reports whether SetDied was called.
func (m Message) Died() bool { return m[0]&messageDied != 0 }

// SetOneKey notes that the message goes by its routing key alone, whatever its CC header says. Only the goroutine that builds the message may call it.
func (m Message) SetOneKey() { m[0] |= messageOneKey }

// OneKey reports whether SetOneKey was called.
func (m Message) OneKey() bool { return m[0]&messageOneKey != 0 }

// AppendBlindKeys appends blind keys, at most 64 KiB of them, to a message under construction that ends with its properties and whose head is
// filled in.
func AppendBlindKeys(m Message, keys ...[]byte) Message {
	start := len(m)
	for _, key := range keys {
		if len(m)-start+1+len(key) > math.MaxUint16 {
			break
		}
		m = append(append(m, byte(len(key))), key...)
	}
	binary.LittleEndian.PutUint16(m[2:], uint16(len(m)-start))
	return m
}

// BlindKeys are the routing keys of the BCC header that the message came with; they alias it.
func (m Message) BlindKeys() (keys [][]byte) {
	rest := m.blind()
	for len(rest) > 0 && 1+int(rest[0]) <= len(rest) {
		keys = append(keys, rest[1:1+int(rest[0])])
		rest = rest[1+int(rest[0]):]
	}
	return keys
}

// blind is the blind keys as they stand in the message.
func (m Message) blind() []byte {
	at := m.bodyAt()
	return m[at-int(binary.LittleEndian.Uint16(m[2:])) : at]
}

// bodyAt is where the body begins.
func (m Message) bodyAt() int {
	return m.propertiesAt() + int(binary.LittleEndian.Uint32(m[4:])) + int(binary.LittleEndian.Uint16(m[2:]))
}

// Whole reports whether the lengths in a message that was read back fit what there is of it. Of one that is not, nothing else may be asked.
func (m Message) Whole() bool {
	at := MessageHeadSize
	for range 2 { // exchange and routing key
		if at >= len(m) {
			return false
		}
		at += 1 + int(m[at])
	}
	length := int(binary.LittleEndian.Uint32(m[4:]))
	return length >= 2 && length+int(binary.LittleEndian.Uint16(m[2:])) <= len(m)-at
}

// Persistent reports whether the publisher set delivery mode 2.
func (m Message) Persistent() bool { return m.Traits().Persistent() }

// HasPriority reports whether the publisher set a priority.
func (m Message) HasPriority() bool { return m[0]&messageHasPriority != 0 }

// Priority is the priority property, 0 when there is none.
func (m Message) Priority() uint8 { return m[1] }

// Published is the time at which the broker took the message, in Unix milliseconds.
func (m Message) Published() int64 { return int64(binary.LittleEndian.Uint64(m[8:])) }

// Expiration is the expiration property in milliseconds; ok is false when there is none.
func (m Message) Expiration() (ms uint64, ok bool) {
	return binary.LittleEndian.Uint64(m[16:]), m[0]&messageHasExpiration != 0
}

// Address is the exchange and the routing key as two short strings one behind the other, just as basic.deliver carries them.
func (m Message) Address() []byte { return m[MessageHeadSize:m.propertiesAt():m.propertiesAt()] }

// Exchange is the name of the exchange the message was published to.
func (m Message) Exchange() []byte {
	return m[MessageHeadSize+1 : MessageHeadSize+1+int(m[MessageHeadSize])]
}

// RoutingKey is the key the message was published with; any bytes.
func (m Message) RoutingKey() []byte {
	at := MessageHeadSize + 1 + int(m[MessageHeadSize])
	return m[at+1 : at+1+int(m[at])]
}

// Properties are the property flags and values as they stand in a content header.
func (m Message) Properties() []byte {
	at := m.propertiesAt()
	end := at + int(binary.LittleEndian.Uint32(m[4:]))
	return m[at:end:end]
}

// Body is the message's content.
func (m Message) Body() []byte {
	return m[m.bodyAt():]
}

// Split returns address, properties and body at once, which is cheaper than asking for each.
func (m Message) Split() (address, properties, body []byte) {
	at := m.propertiesAt()
	end := at + int(binary.LittleEndian.Uint32(m[4:]))
	return m[MessageHeadSize:at], m[at:end], m[end+int(binary.LittleEndian.Uint16(m[2:])):]
}

func (m Message) propertiesAt() int {
	at := MessageHeadSize + 1 + int(m[MessageHeadSize])
	return at + 1 + int(m[at])
}
