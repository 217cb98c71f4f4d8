package amqp_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
)

func TestInteger(t *testing.T) {
	for _, v := range []any{int8(7), uint8(7), int16(7), uint16(7), int32(7), uint32(7), int64(7)} {
		if n, ok := amqp.Integer(v); !ok || n != 7 {
			t.Errorf("%T: %d, %t", v, n, ok)
		}
	}
	for _, v := range []any{true, float32(7), float64(7), "7", []byte("7"), amqp.Timestamp(7), amqp.Decimal{Value: 7}, nil, amqp.Array{}} {
		if n, ok := amqp.Integer(v); ok {
			t.Errorf("%T is the integer %d", v, n)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		value any
		want  float64
		ok    bool
	}{
		{int8(-3), -3, true}, {uint32(7), 7, true}, {float32(0.5), 0.5, true}, {1.25, 1.25, true},
		{amqp.Decimal{Scale: 2, Value: 125}, 1.25, true}, {amqp.Decimal{Value: 3}, 3, true}, {amqp.Decimal{Scale: 255, Value: 1}, 1e-255, true},
		{"1", 0, false}, {true, 0, false}, {nil, 0, false}, {amqp.Timestamp(1), 0, false},
	} {
		if got, ok := amqp.Number(c.value); ok != c.ok || got != c.want {
			t.Errorf("%#v: %v, %v, want %v, %v", c.value, got, ok, c.want, c.ok)
		}
	}
}

func TestTypeNameAndFormat(t *testing.T) {
	cases := []struct {
		value        any
		name, format string
	}{
		{true, "bool", "true"}, {int8(-1), "byte", "-1"}, {uint8(1), "unsignedbyte", "1"}, {int16(1), "short", "1"}, {uint16(1), "unsignedshort", "1"},
		{int32(1), "signedint", "1"}, {uint32(1), "unsignedint", "1"}, {int64(1), "long", "1"}, {float32(1.5), "float", "1.5"},
		{1.5, "double", "1.5"}, {amqp.Decimal{Scale: 2, Value: 314}, "decimal", "D:314/2"}, {"dlx", "longstr", "dlx"},
		{[]byte{0, 20}, "binary", "<<0,20>>"}, {[]byte{}, "binary", "<<>>"}, {amqp.Timestamp(5), "timestamp", "5"},
		{amqp.Table{{"a", int32(1)}}, "table", "F:{a=I:1}"}, {amqp.Array{true}, "array", "A:[t:1]"}, {nil, "void", "undefined"},
	}
	for _, c := range cases {
		if got := amqp.TypeName(c.value); got != c.name {
			t.Errorf("%v: type %q, want %q", c.value, got, c.name)
		}
		if got := amqp.FormatValue(c.value); got != c.format {
			t.Errorf("%v: printed %q, want %q", c.value, got, c.format)
		}
	}
}

func TestEqualValue(t *testing.T) {
	cases := []struct {
		name string
		a, b any
		want bool
	}{
		{"integers of two widths", int8(1), uint32(1), true},
		{"other integers", int8(1), uint32(2), false},
		{"sign matters", int8(-1), uint8(255), false},
		{"integer and float", int32(1), float64(1), false},
		{"integer and bool", int32(1), true, false},
		{"integer and string", int32(1), "1", false},
		{"integer and timestamp", int64(1), amqp.Timestamp(1), false},
		{"floats of two widths", float32(1.5), 1.5, true},
		{"other floats", 1.5, 1.25, false},
		{"not a number", math.NaN(), math.NaN(), true},
		{"string and octets", "ab", []byte("ab"), true},
		{"other strings", "ab", "ac", false},
		{"octets and nothing", nil, []byte{}, false},
		{"nothing", nil, nil, true},
		{"bools", true, true, true},
		{"other bools", true, false, false},
		{"timestamps", amqp.Timestamp(1), amqp.Timestamp(1), true},
		{"decimals", amqp.Decimal{Scale: 1, Value: 10}, amqp.Decimal{Scale: 0, Value: 1}, false},
		{"arrays", amqp.Array{int8(1), "a"}, amqp.Array{int32(1), "a"}, true},
		{"array order", amqp.Array{"a", "b"}, amqp.Array{"b", "a"}, false},
		{"array length", amqp.Array{"a"}, amqp.Array{"a", "a"}, false},
		{"array and table", amqp.Array{}, amqp.Table{}, false},
		{"bool and array", true, amqp.Array{}, false},
		{"table order", amqp.Table{{"a", true}, {"b", true}}, amqp.Table{{"b", true}, {"a", true}}, true},
		{"table values", amqp.Table{{"a", true}}, amqp.Table{{"a", false}}, false},
		{"table names", amqp.Table{{"a", true}}, amqp.Table{{"b", true}}, false},
		{"table length", amqp.Table{{"a", true}}, amqp.Table{}, false},
		{"duplicate names", amqp.Table{{"a", true}, {"a", true}}, amqp.Table{{"a", true}, {"b", true}}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if amqp.EqualValue(c.a, c.b) != c.want || amqp.EqualValue(c.b, c.a) != c.want {
				t.Errorf("EqualValue(%v, %v) and its reverse must be %t", c.a, c.b, c.want)
			}
		})
	}
}

// genValue makes values of every type, nested a few levels deep.
func genValue(depth int) *rapid.Generator[any] {
	choices := []*rapid.Generator[any]{
		rapid.Bool().AsAny(), rapid.Int8().AsAny(), rapid.Uint8().AsAny(), rapid.Int16().AsAny(), rapid.Uint16().AsAny(),
		rapid.Int32().AsAny(), rapid.Uint32().AsAny(), rapid.Int64().AsAny(), rapid.Float32().AsAny(), rapid.Float64().AsAny(),
		rapid.String().AsAny(), rapid.SliceOf(rapid.Byte()).AsAny(), rapid.Just[any](nil),
		rapid.Map(rapid.Uint64(), func(n uint64) any { return amqp.Timestamp(n) }),
		rapid.Map(rapid.Uint32(), func(n uint32) any { return amqp.Decimal{Scale: uint8(n), Value: n} }),
	}
	if depth > 0 {
		choices = append(choices,
			rapid.Map(rapid.SliceOfN(genValue(depth-1), 0, 3), func(items []any) any { return amqp.Array(items) }),
			genTable(depth-1).AsAny())
	}
	return rapid.OneOf(choices...)
}

func genTable(depth int) *rapid.Generator[amqp.Table] {
	return rapid.Custom(func(t *rapid.T) amqp.Table {
		table := amqp.Table{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			name := rapid.StringN(0, 10, 255).Draw(t, "name")
			table = append(table, amqp.Field{Name: name, Value: genValue(depth).Draw(t, "value")})
		}
		return table
	})
}

// A table survives the wire and the text, equals itself, and equals itself in another order as long as no name comes twice.
func TestTableProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := genTable(3).Draw(t, "table")
		back, _, err := amqp.DecodeTable(amqp.AppendTable(nil, table))
		if err != nil || !amqp.EqualTable(table, back) {
			t.Fatalf("%v came back as %v, error %v", table, back, err)
		}
		m := &amqp.QueueDeclare{Arguments: table}
		parsed, err := amqp.ParseText(string(amqp.AppendText(nil, m)))
		if err != nil || string(parsed.AppendTo(nil)) != string(m.AppendTo(nil)) {
			t.Fatalf("text %s: error %v", amqp.AppendText(nil, m), err)
		}
		names := map[string]bool{}
		for _, f := range table {
			names[f.Name] = true
		}
		shuffled := amqp.Table(rapid.Permutation(table).Draw(t, "shuffled"))
		if len(names) == len(table) && !amqp.EqualTable(table, shuffled) {
			t.Fatalf("%v differs from %v", table, shuffled)
		}
	})
}
