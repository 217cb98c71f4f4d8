package amqp_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
)

// Tables that are written field by field are the same octets as those that are encoded whole.
func TestAppendFields(t *testing.T) {
	want := amqp.AppendTable(nil, amqp.Table{
		{Name: "text", Value: "value"}, {Name: "count", Value: int64(-5)}, {Name: "time", Value: amqp.Timestamp(1 << 40)},
		{Name: "list", Value: amqp.Array{"a", amqp.Table{{Name: "in", Value: "side"}, {Name: "keys", Value: amqp.Array{"k"}}}}},
		{Name: "any", Value: true}, {Name: "none", Value: amqp.Array{}},
	})
	b, table := amqp.BeginTable(nil)
	b = amqp.AppendTextField(b, "text", "value")
	b = amqp.AppendLongField(b, "count", -5)
	b = amqp.AppendTimestampField(b, "time", 1<<40)
	b, list := amqp.BeginArrayField(b, "list")
	b = amqp.AppendTextValue(b, []byte("a"))
	b, item := amqp.BeginTableValue(b)
	b = amqp.AppendTextField(b, "in", []byte("side"))
	b, keys := amqp.BeginArrayField(b, "keys")
	b = amqp.AppendTextValue(b, "k")
	amqp.EndTable(b, keys)
	amqp.EndTable(b, item)
	amqp.EndTable(b, list)
	b = amqp.AppendField(b, amqp.Field{Name: "any", Value: true})
	b, none := amqp.BeginArrayField(b, "none")
	amqp.EndTable(b, none)
	amqp.EndTable(b, table)
	if !bytes.Equal(b, want) {
		t.Errorf("got  %q\nwant %q", b, want)
	}
}

// A copy of any table without some of its fields is the table of the others, in their order.
func TestAppendFieldsExcept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := genTable(2).Draw(t, "table")
		skipped := map[string]bool{}
		var kept amqp.Table
		for _, f := range all {
			if rapid.Bool().Draw(t, "skip") {
				skipped[f.Name] = true
			}
		}
		for _, f := range all {
			if !skipped[f.Name] {
				kept = append(kept, f)
			}
		}
		b, table := amqp.BeginTable([]byte("dst"))
		b = amqp.AppendFieldsExcept(b, amqp.AppendTable(nil, all), func(name []byte) bool { return skipped[string(name)] })
		amqp.EndTable(b, table)
		if want := amqp.AppendTable([]byte("dst"), kept); !bytes.Equal(b, want) {
			t.Fatalf("got %q, want %q", b, want)
		}
	})
}
