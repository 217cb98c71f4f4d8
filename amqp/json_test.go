package amqp_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"leveret/amqp"
)

func TestTableToJSON(t *testing.T) {
	table := amqp.Table{
		{Name: "z", Value: "text"}, {Name: "b", Value: []byte("bytes")}, {Name: "n", Value: int8(-1)}, {Name: "u", Value: uint32(7)},
		{Name: "l", Value: int64(math.MaxInt64)}, {Name: "f", Value: float32(1.5)}, {Name: "d", Value: 2.5}, {Name: "nan", Value: math.NaN()},
		{Name: "t", Value: true}, {Name: "when", Value: amqp.Timestamp(9)}, {Name: "dec", Value: amqp.Decimal{Scale: 2, Value: 314}},
		{Name: "void", Value: nil}, {Name: "list", Value: amqp.Array{int16(1), "x", amqp.Table{}}}, {Name: "in", Value: amqp.Table{{Name: "a", Value: "b"}}},
	}
	const want = `{"z":"text","b":"bytes","n":-1,"u":7,"l":9223372036854775807,"f":1.5,"d":2.5,"nan":"NaN","t":true,"when":9,"dec":3.14,` +
		`"void":null,"list":[1,"x",{}],"in":{"a":"b"}}`
	got, err := json.Marshal(table)
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if got, err := json.Marshal(struct{ T amqp.Table }{}); err != nil || string(got) != `{"T":{}}` {
		t.Errorf("no table: %s, %v", got, err)
	}
}

func TestTableFromJSON(t *testing.T) {
	for _, tt := range []struct {
		text string
		want amqp.Table
	}{
		{`{}`, amqp.Table{}},
		{`[]`, nil},
		{`null`, nil},
		{`{"b": 1, "a": -9223372036854775808}`, amqp.Table{{Name: "b", Value: int64(1)}, {Name: "a", Value: int64(math.MinInt64)}}},
		{`{"f": 1.0, "e": 1e2, "large": 9223372036854775808}`,
			amqp.Table{{Name: "f", Value: 1.0}, {Name: "e", Value: 100.0}, {Name: "large", Value: 9223372036854775808.0}}},
		{`{"s": "x", "t": false, "list": [1, []], "in": {"a": "b"}}`, amqp.Table{
			{Name: "s", Value: "x"}, {Name: "t", Value: false}, {Name: "list", Value: amqp.Array{int64(1), amqp.Array{}}},
			{Name: "in", Value: amqp.Table{{Name: "a", Value: "b"}}}}},
	} {
		var got amqp.Table
		if err := json.Unmarshal([]byte(tt.text), &got); err != nil || !amqp.EqualValue(got, tt.want) || len(got) != len(tt.want) {
			t.Errorf("%s: got %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

func TestWhatIsNoTableInJSON(t *testing.T) {
	for text, want := range map[string]string{
		`[1]`: "arguments must be an object", `"x"`: "arguments must be an object", `7`: "arguments must be an object",
		`{"a": null}`: "null_not_allowed", `{"a": [[null]]}`: "null_not_allowed",
		`{"` + strings.Repeat("k", 256) + `": 1}`:                          "the name of an argument is longer than 255 bytes",
		`{"a": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`: "arguments are nested too deeply",
		`{"a": 1e999}`: "value out of range",
		`{"a": "` + strings.Repeat("x", amqp.MaxTableSize) + `"}`: "FRAME_ERROR",
	} {
		var got amqp.Table
		if err := json.Unmarshal([]byte(text), &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
	var got amqp.Table
	if err := json.Unmarshal([]byte(`{"a": null}`), &got); !errors.Is(err, amqp.ErrNullInJSON) {
		t.Errorf("got %v", err)
	}
}

// FuzzTableJSON holds that whatever is read as a table can be encoded, written and read again as the same.
func FuzzTableJSON(f *testing.F) {
	f.Add(`{"a": [1, 1.5, true, "x", {"b": []}]}`)
	f.Add(`{"a": 1, "a": 2, "": -0.0}`)
	f.Fuzz(func(t *testing.T, text string) {
		var table, again amqp.Table
		if json.Unmarshal([]byte(text), &table) != nil {
			return
		}
		if _, err := amqp.CheckTable(amqp.AppendTable(nil, table)); err != nil {
			t.Fatalf("%q can't be encoded: %v", text, err)
		}
		raw, err := json.Marshal(table)
		if err != nil {
			t.Fatalf("%q can't be written: %v", text, err)
		}
		if err := json.Unmarshal(raw, &again); err != nil || len(again) != len(table) {
			t.Fatalf("%q was written as %s, which reads as %v, %v", text, raw, again, err)
		}
	})
}
