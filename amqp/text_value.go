package amqp

import (
	"math"
	"strconv"
)

// appendTableText appends a table as text.
func appendTableText(dst []byte, t Table) []byte {
	dst = append(dst, '{')
	for i := range t {
		if i > 0 {
			dst = append(dst, ' ')
		}
		if bareName(t[i].Name) {
			dst = append(dst, t[i].Name...)
		} else {
			dst = strconv.AppendQuote(dst, t[i].Name)
		}
		dst = appendValueText(append(dst, '='), t[i].Value)
	}
	return append(dst, '}')
}

// bareName tells whether a name may stand without quotes.
func bareName(name string) bool {
	for i := range len(name) {
		if !bareOctet(name[i]) {
			return false
		}
	}
	return name != ""
}

func bareOctet(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// appendValueText appends a value as text, its tag before it.
func appendValueText(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return append(dst, 't', ':', '0'+bit(v, 0))
	case string:
		return strconv.AppendQuote(append(dst, "S:"...), v)
	case []byte:
		return strconv.AppendQuote(append(dst, "x:"...), string(v))
	case float32:
		return appendFloatText(append(dst, "f:"...), float64(v), uint64(math.Float32bits(v)), 32)
	case float64:
		return appendFloatText(append(dst, "d:"...), v, math.Float64bits(v), 64)
	case Decimal:
		dst = strconv.AppendUint(append(dst, "D:"...), uint64(v.Value), 10)
		return strconv.AppendUint(append(dst, '/'), uint64(v.Scale), 10)
	case Timestamp:
		return strconv.AppendUint(append(dst, "T:"...), uint64(v), 10)
	case Table:
		return appendTableText(append(dst, "F:"...), v)
	case Array:
		dst = append(dst, "A:["...)
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = appendValueText(dst, item)
		}
		return append(dst, ']')
	case nil:
		return append(dst, 'V')
	}
	n, _ := Integer(v)
	return strconv.AppendInt(append(dst, appendInteger(nil, v)[0], ':'), n, 10)
}

// appendFloatText appends a float so that it reads back exactly; what is not finite is shown by its bits.
func appendFloatText(dst []byte, v float64, bits uint64, width int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendUint(append(dst, "0x"...), bits, 16)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, width)
}
