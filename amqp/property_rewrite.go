package amqp

import "encoding/binary"

// AppendProperties appends the properties raw, whose index is idx, with other headers and without an expiration. headers is a whole encoded
// table, with its length.
func AppendProperties(dst, raw []byte, idx *PropertyIndex, headers []byte) []byte {
	flags := idx.Flags&^FlagExpiration | FlagHeaders
	dst = binary.BigEndian.AppendUint16(dst, flags)
	if idx.Flags == 0 {
		return append(dst, headers...)
	}
	dst = append(dst, raw[idx.valuesAt:idx.headersAt]...)
	dst = append(dst, headers...)
	rest := idx.headersAt + len(idx.Headers)
	if !idx.Has(FlagExpiration) {
		return append(dst, raw[rest:]...)
	}
	dst = append(dst, raw[rest:idx.expirationAt-1]...)
	return append(dst, raw[idx.expirationAt+len(idx.Expiration):]...)
}
