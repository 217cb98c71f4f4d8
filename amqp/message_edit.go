package amqp

import "encoding/binary"

// WithProperties is a copy of the message with other properties, which say the same of what the head holds (priority, delivery mode,
// expiration).
func (m Message) WithProperties(properties []byte) Message {
	start := m.propertiesAt()
	rest := m[start+len(m.Properties()):]
	n := make(Message, 0, start+len(properties)+len(rest))
	n = append(append(append(n, m[:start]...), properties...), rest...)
	n.SetPropertyLength(len(properties))
	return n
}

// ReplaceHeader appends the properties raw, whose index is idx, with another value of the first header of that name; without such a header
// they stay as they are.
func ReplaceHeader(dst, raw []byte, idx *PropertyIndex, name string, value any) []byte {
	at, field := locateField(idx.Headers, name)
	if field == nil {
		return append(dst, raw...)
	}
	replaced := AppendTable(nil, Table{{Name: name, Value: value}})[4:]
	table := idx.headersAt
	dst = append(dst, raw[:table]...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(idx.Headers)-4-len(field)+len(replaced)))
	dst = append(dst, raw[table+4:table+at]...)
	dst = append(dst, replaced...)
	return append(dst, raw[table+at+len(field):]...)
}
