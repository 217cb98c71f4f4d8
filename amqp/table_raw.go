package amqp

import "encoding/binary"

// This file looks at encoded tables without decoding them: most of what passes through the broker is checked once and forwarded as it came.

// fieldSizes is how many octets a value has, its tag included; 0 is an unknown tag.
var fieldSizes = [256]uint8{
	't': 2, 'b': 2, 'B': 2, 's': 3, 'u': 3, 'I': 5, 'i': 5, 'l': 9, 'L': 9, 'f': 5, 'd': 9, 'D': 6, 'T': 9, 'V': 1,
	'S': lengthFollows, 'x': lengthFollows, 'A': lengthFollows, 'F': lengthFollows,
}

// lengthFollows marks the tags that are followed by a length of four octets.
const lengthFollows = 255

// CheckTable tells how many octets the table at the front of src has, its length field included, after checking every octet of it. It does
// not allocate. The error is an *Error 501.
func CheckTable(src []byte) (n int, err error) {
	n, wrong := checkTable(src, MaxTableValues)
	if wrong != faultNone {
		return 0, wrong.of(src)
	}
	return n, nil
}

// checkTable is CheckTable for a table that may hold so many values.
func checkTable(src []byte, values int) (int, fault) {
	n := lengthOfBlock(src)
	if n < 0 || n > MaxTableSize {
		return 0, faultMalformed
	}
	switch {
	case validFields(src[4:n], MaxTableDepth, &values):
		return n, faultNone
	case values < 0:
		return 0, faultTooManyValues
	}
	return 0, faultMalformed
}

// lengthOfBlock is the size of a length field and what it announces, -1 if src does not hold that much.
func lengthOfBlock(src []byte) int {
	if len(src) < 4 {
		return -1
	}
	if n := uint64(binary.BigEndian.Uint32(src)) + 4; n <= uint64(len(src)) {
		return int(n)
	}
	return -1
}

// validFields checks the fields of a table; depth is how many levels are left, and left how many values, which is below 0 when there are too many.
func validFields(src []byte, depth int, left *int) bool {
	for len(src) > 0 {
		if *left--; *left < 0 {
			return false
		}
		name := 1 + int(src[0])
		if name >= len(src) {
			return false
		}
		src = src[name:]
		n := valueSize(src)
		if n < 0 || !validInside(src[:n], depth, left) {
			return false
		}
		src = src[n:]
	}
	return true
}

// validItems checks the values of an array; depth and left as in validFields.
func validItems(src []byte, depth int, left *int) bool {
	for len(src) > 0 {
		if *left--; *left < 0 {
			return false
		}
		n := valueSize(src)
		if n < 0 || !validInside(src[:n], depth, left) {
			return false
		}
		src = src[n:]
	}
	return true
}

// validInside checks what an array or table in a table holds; other values are valid.
func validInside(value []byte, depth int, left *int) bool {
	switch value[0] {
	case 'F':
		return depth > 1 && validFields(value[5:], depth-1, left)
	case 'A':
		return depth > 1 && validItems(value[5:], depth-1, left)
	}
	return true
}

// valueSize is the size of the tag and value at the front of src, which is not empty; -1 if the tag is unknown or the value is cut short.
func valueSize(src []byte) int {
	size := int(fieldSizes[src[0]])
	if size == lengthFollows {
		n := lengthOfBlock(src[1:])
		if n < 0 {
			return -1
		}
		return 1 + n
	}
	if size == 0 || size > len(src) {
		return -1
	}
	return size
}

// FindField looks a field up in an encoded table (with its length) that CheckTable has passed. value is as on the wire, behind the tag, and
// aliases the table; of duplicate names the first counts. It does not allocate.
func FindField(table []byte, name string) (tag byte, value []byte, ok bool) {
	_, field := locateField(table, name)
	if field == nil {
		return 0, nil, false
	}
	value = field[1+int(field[0]):]
	return value[0], value[1:], true
}

// locateField finds the first field with that name: its offset in the table, and its octets from the name's length to the value's end. It is
// nil if there is none.
func locateField(table []byte, name string) (offset int, field []byte) {
	for at := 4; at < len(table); {
		key := 1 + int(table[at])
		if at+key >= len(table) {
			return 0, nil
		}
		n := valueSize(table[at+key:])
		if n < 0 {
			return 0, nil
		}
		end := at + key + n
		if string(table[at+1:at+key]) == name {
			return at, table[at:end:end]
		}
		at = end
	}
	return 0, nil
}

// EachField calls f for each field of an encoded table (with its length) that CheckTable has passed, in order, until f returns false. name
// and value alias the table; value is as on the wire, behind the tag. It does not allocate.
func EachField(table []byte, f func(name []byte, tag byte, value []byte) bool) {
	for at := 4; at < len(table); {
		key := 1 + int(table[at])
		if at+key >= len(table) {
			return
		}
		n := valueSize(table[at+key:])
		if n < 0 {
			return
		}
		value := table[at+key : at+key+n : at+key+n]
		if !f(table[at+1:at+key], value[0], value[1:]) {
			return
		}
		at += key + n
	}
}
