package amqp

import "encoding/binary"

// Field tables may be written field by field, without a Table and without allocating: BeginTable, then fields, then EndTable. What stands
// between BeginArray and EndArray are values.

// BeginTable opens a table at the end of dst and returns where, for EndTable.
func BeginTable(dst []byte) (out []byte, at int) { return append(dst, 0, 0, 0, 0), len(dst) }

// EndTable closes the table, or the array, that was opened at a place.
func EndTable(dst []byte, at int) { binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4)) }

// AppendTextField appends a field with a long string.
func AppendTextField[T string | []byte](dst []byte, name string, value T) []byte {
	return AppendTextValue(appendShortstr(dst, name), value)
}

// AppendTextValue appends a long string with its tag, as an array holds it.
func AppendTextValue[T string | []byte](dst []byte, value T) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, 'S'), uint32(len(value)))
	return append(dst, value...)
}

// AppendLongField appends a field with a 64-bit integer.
func AppendLongField(dst []byte, name string, value int64) []byte {
	return binary.BigEndian.AppendUint64(append(appendShortstr(dst, name), 'l'), uint64(value))
}

// AppendTimestampField appends a field with a timestamp in seconds.
func AppendTimestampField(dst []byte, name string, seconds uint64) []byte {
	return binary.BigEndian.AppendUint64(append(appendShortstr(dst, name), 'T'), seconds)
}

// BeginArrayField opens a field that is an array, to be closed by EndTable.
func BeginArrayField(dst []byte, name string) (out []byte, at int) {
	return BeginTable(append(appendShortstr(dst, name), 'A'))
}

// BeginTableValue opens a table that is an array's item.
func BeginTableValue(dst []byte) (out []byte, at int) { return BeginTable(append(dst, 'F')) }

// AppendField appends a field of any type that tables have.
func AppendField(dst []byte, f Field) []byte {
	return appendValue(appendShortstr(dst, f.Name), f.Value)
}

// AppendFieldsExcept appends the fields of an encoded table, with its length, that CheckTable has passed, but for those that the function wants
// skipped.
func AppendFieldsExcept(dst, table []byte, skip func(name []byte) bool) []byte {
	for at := 4; at < len(table); {
		key := 1 + int(table[at])
		if at+key >= len(table) {
			return dst
		}
		n := valueSize(table[at+key:])
		if n < 0 {
			return dst
		}
		if !skip(table[at+1 : at+key]) {
			dst = append(dst, table[at:at+key+n]...)
		}
		at += key + n
	}
	return dst
}
