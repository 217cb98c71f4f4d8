package amqp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Field tables in JSON, as definitions files and the management API write them:
//
//	to JSON      longstr, binary -> string, timestamp and integers of any width -> number, table -> object, void -> null
//	from JSON    string -> longstr, integer -> long, other number -> double, object -> table, array -> array, boolean -> bool
//
// So widths are lost on a round trip, which is why arguments are compared without them.

// ErrNullInJSON is the error of a null among arguments: it stands for no value that could be compared.
var ErrNullInJSON = errors.New("null_not_allowed")

// MarshalJSON writes the table as an object, with its fields in their order. A number that JSON can't write becomes a string.
func (t Table) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range t {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(plainValue(f.Value))
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// plainValue gives a field's value a type that JSON knows.
func plainValue(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case Array:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainValue(v[i])
		}
		return list
	case Decimal:
		return float64(v.Value) / math.Pow10(int(v.Scale))
	case float32:
		return plainValue(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	}
	return v // integers, Timestamp, bool, string, Table, nil
}

// UnmarshalJSON reads an object; null and an empty array, which some languages can't tell from an empty object, stand for none. The order of
// the fields is kept.
func (t *Table) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*t = nil
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decodeJSON(d, MaxTableDepth)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case Table:
		*t = v
		return v.checkSize(len(raw))
	case Array:
		if len(v) == 0 {
			*t = nil
			return nil
		}
	}
	return errors.New("arguments must be an object")
}

// checkSize refuses a table that could not be read back in its encoded form. That has less than four times the size of the JSON text.
func (t Table) checkSize(text int) error {
	if text < MaxTableSize/4 {
		return nil
	}
	_, err := CheckTable(AppendTable(nil, t))
	return err
}

// decodeJSON reads one value, nested at most depth deep.
func decodeJSON(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == 0 {
			return nil, errors.New("arguments are nested too deeply")
		}
		if token == '[' {
			return decodeJSONArray(d, depth-1)
		}
		return decodeJSONObject(d, depth-1)
	case json.Number:
		if n, err := token.Int64(); err == nil {
			return n, nil
		}
		return token.Float64()
	case nil:
		return nil, ErrNullInJSON
	}
	return token, nil // a bool or a string
}

func decodeJSONArray(d *json.Decoder, depth int) (any, error) {
	list := Array{}
	for d.More() {
		v, err := decodeJSON(d, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, unexpectedEnd(err)
}

func decodeJSONObject(d *json.Decoder, depth int) (any, error) {
	t := Table{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		if len(key) > math.MaxUint8 {
			return nil, fmt.Errorf("the name of an argument is longer than %d bytes", math.MaxUint8)
		}
		v, err := decodeJSON(d, depth)
		if err != nil {
			return nil, err
		}
		t = append(t, Field{key, v})
	}
	_, err := d.Token()
	return t, unexpectedEnd(err)
}

// unexpectedEnd makes the end of the input inside of a value an error that is not taken for a proper end.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
