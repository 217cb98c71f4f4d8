package management

import (
	"encoding/json"
	"math"

	"leveret/amqp"
)

// tableObject is a field table as JSON shows it. Widths of integers are lost, as JSON knows none.
func tableObject(t amqp.Table) object {
	o := make(object, 0, len(t))
	for _, f := range t {
		o.add(f.Name, plainValue(f.Value))
	}
	return o
}

// plainValue is the value of a field as JSON shows it.
func plainValue(v any) any {
	switch v := v.(type) {
	case amqp.Table:
		return tableObject(v)
	case amqp.Array:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainValue(v[i])
		}
		return list
	case []byte:
		return string(v)
	// Unix seconds.
	case amqp.Timestamp:
		return uint64(v)
	case amqp.Decimal:
		// JSON has no decimals; a price of 0.1 is as near as a float gets.
		return float64(v.Value) / math.Pow10(int(v.Scale))
	case float32:
		return float64(v)
	case bool, string, nil, float64:
		return v
	}
	// What is left are the integers of all widths.
	n, _ := amqp.Integer(v)
	return n
}

// fieldTable makes a field table of what a client sent: an object, or an empty list, which some languages can't tell from one.
func fieldTable(v any) (amqp.Table, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		if len(v) == 0 {
			return nil, nil
		}
	case object:
		return objectTable(v)
	}
	return nil, badRequest("arguments must be an object")
}

// objectTable keeps the order of the fields, and those that are there twice: what that means is the virtual host's to say.
func objectTable(o object) (amqp.Table, error) {
	t := make(amqp.Table, 0, len(o))
	for _, f := range o {
		if len(f.name) > maxShortString {
			return nil, tooLong("key", f.name)
		}
		v, err := fieldValue(f.value)
		if err != nil {
			return nil, err
		}
		t = append(t, amqp.Field{Name: f.name, Value: v})
	}
	return t, nil
}

// fieldValue makes a field's value of a JSON value: integers become 64 bits wide. Null has no counterpart that a queue or exchange could
// compare, and is refused.
func fieldValue(v any) (any, error) {
	switch v := v.(type) {
	case bool, string:
		return v, nil
	case json.Number:
		// 64 bits hold what any client means; equivalence of arguments compares values, not widths.
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, badRequest("a number is out of range: " + v.String())
		}
		return f, nil
	case object:
		return objectTable(v)
	case []any:
		list := make(amqp.Array, 0, len(v))
		for _, item := range v {
			value, err := fieldValue(item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return nil, badRequest("null_not_allowed")
}
