package amqp

import "encoding/binary"

// PropertyIndex is what the broker must know of a message's properties, found in their encoded form. Its slices alias the scanned octets.
type PropertyIndex struct {
	// Flags of the properties that are there.
	Flags uint16
	// DeliveryMode and Priority are 0 when they are not there.
	DeliveryMode, Priority uint8
	// Timestamp is the timestamp property in seconds.
	Timestamp uint64
	// The values of properties that the broker looks at, nil when they are not there.
	Expiration, UserID, ReplyTo, CorrelationID, MessageID []byte
	// Headers is the encoded header table with its length, nil when there is none.
	Headers []byte

	// Where in the scanned octets the first value begins, and Headers, ReplyTo and Expiration do, or would.
	valuesAt, headersAt, replyToAt, expirationAt int
}

// Has tells whether all properties that the flags name are there.
func (i *PropertyIndex) Has(flags uint16) bool { return i.Flags&flags == flags }

// ScanProperties checks the properties of a content header, from the flags on, and notes in into what the broker must know. It does not
// allocate. The error is an *Error 501 with basic.publish's ids. [basic, content header properties]
func ScanProperties(raw []byte, into *PropertyIndex) error {
	return into.scanAll(cursor{rest: raw, grown: true}, raw)
}

// ScanPublished is ScanProperties for what a client sends: headers of more than MaxTableValues values are refused. Only there: what the broker
// adds on a message's later ways must not make it unreadable.
func ScanPublished(raw []byte, into *PropertyIndex) error {
	return into.scanAll(cursor{rest: raw}, raw)
}

func (i *PropertyIndex) scanAll(d cursor, raw []byte) error {
	*i = PropertyIndex{Flags: d.propertyFlags()}
	if i.Flags != 0 {
		i.scan(&d, len(raw))
	}
	return d.finish(MethodBasicPublish, raw)
}

// scan walks over the values in the order of the flags; size is that of the whole.
func (i *PropertyIndex) scan(d *cursor, size int) {
	flags := i.Flags
	i.valuesAt = size - len(d.rest)
	skipText(d, flags, FlagContentType)
	skipText(d, flags, FlagContentEncoding)
	i.headersAt = size - len(d.rest)
	if flags&FlagHeaders != 0 {
		i.Headers = d.rawTable()
	}
	if flags&FlagDeliveryMode != 0 {
		i.DeliveryMode = d.octet()
	}
	if flags&FlagPriority != 0 {
		i.Priority = d.octet()
	}
	i.CorrelationID = skipText(d, flags, FlagCorrelationID)
	i.replyToAt = size - len(d.rest) + 1
	i.ReplyTo = skipText(d, flags, FlagReplyTo)
	i.expirationAt = size - len(d.rest) + 1
	i.Expiration = skipText(d, flags, FlagExpiration)
	i.MessageID = skipText(d, flags, FlagMessageID)
	if flags&FlagTimestamp != 0 {
		i.Timestamp = d.longlong()
	}
	skipText(d, flags, FlagType)
	i.UserID = skipText(d, flags, FlagUserID)
	skipText(d, flags, FlagAppID)
	skipText(d, flags, FlagClusterID)
}

// skipText reads a short string that is there if its flag is set.
func skipText(d *cursor, flags, flag uint16) []byte {
	if flags&flag == 0 {
		return nil
	}
	return d.key()
}

// ReplaceReplyTo appends the properties raw, whose index is idx, with another reply-to. The message must have one.
func ReplaceReplyTo(dst, raw []byte, idx *PropertyIndex, replyTo string) []byte {
	dst = append(dst, raw[:idx.replyToAt-1]...)
	dst = appendShortstr(dst, replyTo)
	return append(dst, raw[idx.replyToAt+len(idx.ReplyTo):]...)
}

// RemoveHeader appends the properties raw, whose index is idx, without the first header of that name. A header table that becomes empty
// stays.
func RemoveHeader(dst, raw []byte, idx *PropertyIndex, name string) []byte {
	at, field := locateField(idx.Headers, name)
	if field == nil {
		return append(dst, raw...)
	}
	table := idx.headersAt
	dst = append(dst, raw[:table]...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(idx.Headers)-4-len(field)))
	dst = append(dst, raw[table+4:table+at]...)
	return append(dst, raw[table+at+len(field):]...)
}
