package amqp

import "encoding/binary"

// AppendProperties appends the properties raw, whose index is idx, with other headers, and without an expiration unless that is to be kept.
// headers is a whole encoded table, with its length.
func AppendProperties(dst, raw []byte, idx *PropertyIndex, headers []byte, expiration bool) []byte {
	flags := idx.Flags | FlagHeaders
	if !expiration {
		flags &^= FlagExpiration
	}
	dst = binary.BigEndian.AppendUint16(dst, flags)
	if idx.Flags == 0 {
		return append(dst, headers...)
	}
	dst = append(dst, raw[idx.valuesAt:idx.headersAt]...)
	dst = append(dst, headers...)
	rest := idx.headersAt + len(idx.Headers)
	if expiration || !idx.Has(FlagExpiration) {
		return append(dst, raw[rest:]...)
	}
	dst = append(dst, raw[rest:idx.expirationAt-1]...)
	return append(dst, raw[idx.expirationAt+len(idx.Expiration):]...)
}

// WithHeaders returns a copy of a message with other headers. index is that of its properties, headers a whole encoded table.
func (m Message) WithHeaders(index *PropertyIndex, headers []byte) Message {
	address, properties, body := m.Split()
	n := append(make(Message, 0, len(m)+len(headers)), m[:MessageHeadSize+len(address)]...)
	start := len(n)
	n = AppendProperties(n, properties, index, headers, true)
	n.SetPropertyLength(len(n) - start)
	n = append(n, m.blind()...)
	return append(n, body...)
}
