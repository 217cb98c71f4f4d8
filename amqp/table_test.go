package amqp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"leveret/amqp"
)

// everyTag has each tag with values at the edges of its range.
var everyTag = amqp.Table{
	{"t", true}, {"t", false}, {"b", int8(-128)}, {"b", int8(127)}, {"B", uint8(255)}, {"s", int16(-32768)}, {"u", uint16(65535)},
	{"I", int32(math.MinInt32)}, {"i", uint32(math.MaxUint32)}, {"l", int64(math.MinInt64)}, {"l", int64(math.MaxInt64)},
	{"f", float32(1.5)}, {"d", 0.1}, {"d", math.Inf(-1)}, {"D", amqp.Decimal{Scale: 2, Value: 31415}},
	{"S", ""}, {"S", "text"}, {"S", "\x00\xff\xfe"}, {"x", []byte{}}, {"x", []byte{0, 1, 255}},
	{"A", amqp.Array{}}, {"A", amqp.Array{int32(1), "two", amqp.Array{true}, amqp.Table{{"k", int64(3)}}, nil}},
	{"T", amqp.Timestamp(1700000000)}, {"T", amqp.Timestamp(1 << 63)}, {"F", amqp.Table{}},
	{"F", amqp.Table{{"a", amqp.Table{{"b", nil}}}}}, {"V", nil}, {"", int32(1)}, {strings.Repeat("k", 255), "long name"},
}

func TestTableRoundTrip(t *testing.T) {
	wire := amqp.AppendTable([]byte("before"), everyTag)[len("before"):]
	back, rest, err := amqp.DecodeTable(append(wire, "behind"...))
	if err != nil || string(rest) != "behind" {
		t.Fatalf("rest %q, error %v", rest, err)
	}
	if !reflect.DeepEqual(back, everyTag) {
		t.Errorf("got %v, want %v", back, everyTag)
	}
	if again := amqp.AppendTable(nil, back); !bytes.Equal(again, wire) {
		t.Errorf("got %x, want %x", again, wire)
	}
}

// Tables that cost much more to read than to send are refused, whatever they hold; up to the limit every table passes.
func TestTablesOfManyValues(t *testing.T) {
	const most = amqp.MaxTableValues
	array := func(items string) string { return "\x01aA" + string(raw(items)) }
	for name, fields := range map[string]func(values int) string{
		"fields":      func(n int) string { return strings.Repeat("\x01at\x01", n) },
		"short names": func(n int) string { return strings.Repeat("\x00V", n) },
		"items":       func(n int) string { return array(strings.Repeat("V", n-1)) },
		"tables":      func(n int) string { return strings.Repeat("\x00F\x00\x00\x00\x00", n) },
		"in tables": func(n int) string {
			return strings.Repeat("\x00F\x00\x00\x00\x02\x00V", n/2) + strings.Repeat("\x00V", n%2)
		},
		"in arrays": func(n int) string {
			return strings.Repeat(array("V")+array("VV"), n/5) + strings.Repeat("\x00V", n%5)
		},
	} {
		if table, rest, err := amqp.DecodeTable(raw(fields(most))); err != nil || len(rest) != 0 || len(table) == 0 {
			t.Errorf("%s: %d values are refused: %v", name, most, err)
		}
		_, err := amqp.CheckTable(raw(fields(most + 1)))
		var refused *amqp.Error
		if !errors.As(err, &refused) || refused.Text != amqp.TooManyValues(most).Text {
			t.Errorf("%s: one more gives %v", name, err)
		}
		m := &amqp.QueueBind{}
		payload := append([]byte("\x00\x00\x01q\x01x\x00\x00"), raw(fields(most+1))...)
		if err := m.Decode(payload); !errors.As(err, &refused) || refused.Text != amqp.TooManyValues(most).Text || refused.Class != 50 {
			t.Errorf("%s: a method with it gives %v", name, err)
		}
		properties := append([]byte{0x20, 0}, raw(fields(most+1))...)
		if err := amqp.ScanPublished(properties, new(amqp.PropertyIndex)); !errors.As(err, &refused) || refused.Class != 60 {
			t.Errorf("%s: properties with it give %v", name, err)
		}
		// What the broker itself has grown stays readable.
		if err := amqp.ScanProperties(properties, new(amqp.PropertyIndex)); err != nil {
			t.Errorf("%s: properties of a message that is here: %v", name, err)
		}
		if table, _, err := amqp.DecodeTable(raw(fields(most + 1))); err != nil || len(table) == 0 {
			t.Errorf("%s: a table that is here: %v", name, err)
		}
	}
}

// BenchmarkDenseTable reads the tables that cost the most for their size, at the limit.
func BenchmarkDenseTable(b *testing.B) {
	for name, fields := range map[string]string{
		"fields": strings.Repeat("\x01at\x01", amqp.MaxTableValues), "items": "\x01aA" + string(raw(strings.Repeat("V", amqp.MaxTableValues-1))),
		"tables": strings.Repeat("\x00F\x00\x00\x00\x00", amqp.MaxTableValues),
	} {
		table := raw(fields)
		b.Run(name+"/check", func(b *testing.B) {
			for b.Loop() {
				if _, err := amqp.CheckTable(table); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := amqp.DecodeTable(table); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// raw is a table of the octets of its fields.
func raw(fields string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(fields))), fields...)
}

// Each tag's value stands for these octets and no others.
func TestTagsOnTheWire(t *testing.T) {
	cases := []struct {
		wire  string
		value any
	}{
		{"t\x01", true}, {"t\x00", false}, {"b\xff", int8(-1)}, {"B\xff", uint8(255)}, {"s\xff\xfe", int16(-2)}, {"u\xff\xfe", uint16(65534)},
		{"I\xff\xff\xff\xfe", int32(-2)}, {"i\xff\xff\xff\xfe", uint32(4294967294)}, {"l\xff\xff\xff\xff\xff\xff\xff\xfe", int64(-2)},
		{"f\x3f\xc0\x00\x00", float32(1.5)}, {"d\x3f\xf8\x00\x00\x00\x00\x00\x00", 1.5}, {"D\x02\x00\x00\x01\x3a", amqp.Decimal{Scale: 2, Value: 314}},
		{"T\x00\x00\x00\x00\x65\x53\xf1\x00", amqp.Timestamp(1700000000)}, {"S\x00\x00\x00\x02hi", "hi"}, {"x\x00\x00\x00\x02hi", []byte("hi")},
		{"A\x00\x00\x00\x02t\x01", amqp.Array{true}}, {"F\x00\x00\x00\x04\x01kt\x01", amqp.Table{{"k", true}}}, {"V", nil},
	}
	for _, c := range cases {
		wire := raw("\x01n" + c.wire)
		got, _, err := amqp.DecodeTable(wire)
		if want := (amqp.Table{{"n", c.value}}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, error %v, want %v", c.wire, got, err, want)
		}
		if again := amqp.AppendTable(nil, got); !bytes.Equal(again, wire) {
			t.Errorf("%q: written as %x, want %x", c.wire, again, wire)
		}
	}
}

func TestTagsThatAreReadDifferently(t *testing.T) {
	got, _, err := amqp.DecodeTable(raw("\x01aL\xff\xff\xff\xff\xff\xff\xff\xfb\x01bt\x02"))
	if want := (amqp.Table{{"a", int64(-5)}, {"b", true}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
}

// Not even the bits of a NaN change.
func TestFloatsKeepTheirBits(t *testing.T) {
	for _, value := range []string{
		"d\x7f\xf0\x00\x00\x00\x00\x00\x00", "d\x7f\xf8\x00\x00\x00\x00\x00\x01", "d\x7f\xf0\x00\x00\x00\x00\x00\x01", "d\xff\xf8\x00\x00\x00\x00\x12\x34",
		"f\x7f\x80\x00\x00", "f\xff\xc0\x00\x00", "f\x7f\xa0\x00\x01", "f\x80\x00\x00\x00",
	} {
		wire := raw("\x01n" + value)
		table, _, err := amqp.DecodeTable(wire)
		if got := amqp.AppendTable(nil, table); err != nil || !bytes.Equal(got, wire) {
			t.Errorf("%x became %x, error %v", wire, got, err)
		}
		m := amqp.QueueDeclare{Arguments: table}
		parsed, err := amqp.ParseText(string(amqp.AppendText(nil, &m)))
		if err != nil || !bytes.Equal(parsed.AppendTo(nil), m.AppendTo(nil)) {
			t.Errorf("as text %q: error %v", amqp.AppendText(nil, &m), err)
		}
	}
}

func TestMalformedTables(t *testing.T) {
	cases := []struct{ name, wire string }{
		{"nothing", ""}, {"length cut", "\x00\x00\x00"}, {"shorter than its length", "\x00\x00\x00\x05\x01at\x01"},
		{"4 GiB announced", "\xff\xff\xff\xff\x01at\x01"},
		{"unknown tag", string(raw("\x01aZ\x00"))}, {"spec's unsigned tag", string(raw("\x01aU\x00\x00"))},
		{"short value", string(raw("\x01al\x00\x00"))}, {"name only", string(raw("\x01a"))},
		{"name cut", string(raw("\x05ab"))}, {"tag only", string(raw("\x01at"))},
		{"string too long", string(raw("\x01aS\x00\x00\x00\x02x"))}, {"string of 4 GiB", string(raw("\x01aS\xff\xff\xff\xffx"))},
		{"string length cut", string(raw("\x01aS\x00\x00"))},
		{"inner table too long", string(raw("\x01aF\x00\x00\x00\x09"))}, {"inner array too long", string(raw("\x01aA\x00\x00\x00\x09"))},
		{"unknown tag in array", string(raw("\x01aA\x00\x00\x00\x01Z"))}, {"cut value in array", string(raw("\x01aA\x00\x00\x00\x02I\x00"))},
		{"cut name in inner table", string(raw("\x01aF\x00\x00\x00\x02\x05a"))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if table, _, err := amqp.DecodeTable([]byte(c.wire)); err == nil {
				t.Errorf("decoded to %v", table)
			} else if e := err.(*amqp.Error); e.Code != amqp.CodeFrameError {
				t.Errorf("got %v", err)
			}
			if n, err := amqp.CheckTable([]byte(c.wire)); err == nil {
				t.Errorf("checked as %d octets", n)
			}
		})
	}
}

// nested is a table with so many levels.
func nested(levels int, array bool) amqp.Table {
	var v any = int32(7)
	for range levels - 1 {
		if array {
			v = amqp.Array{v}
		} else {
			v = amqp.Table{{"n", v}}
		}
	}
	return amqp.Table{{"n", v}}
}

func TestTableDepth(t *testing.T) {
	for _, array := range []bool{false, true} {
		deepest := amqp.AppendTable(nil, nested(amqp.MaxTableDepth, array))
		if n, err := amqp.CheckTable(deepest); err != nil || n != len(deepest) {
			t.Errorf("%d levels: %d octets, error %v", amqp.MaxTableDepth, n, err)
		}
		if _, err := amqp.CheckTable(amqp.AppendTable(nil, nested(amqp.MaxTableDepth+1, array))); err == nil {
			t.Errorf("%d levels are accepted", amqp.MaxTableDepth+1)
		}
		if _, err := amqp.CheckTable(amqp.AppendTable(nil, nested(100000, array))); err == nil {
			t.Error("100000 levels are accepted")
		}
	}
}

func TestTableSize(t *testing.T) {
	most := amqp.Table{{"n", strings.Repeat("v", amqp.MaxTableSize-4-2-5)}}
	wire := amqp.AppendTable(nil, most)
	if n, err := amqp.CheckTable(wire); err != nil || n != amqp.MaxTableSize {
		t.Errorf("%d octets, error %v", n, err)
	}
	most[0].Name += "n"
	if _, err := amqp.CheckTable(amqp.AppendTable(nil, most)); err == nil {
		t.Error("one octet more is accepted")
	}
}

// A length of 4 GiB costs an error and no memory of that size.
func TestLengthsAllocateNothing(t *testing.T) {
	for _, wire := range []string{"\xff\xff\xff\xff", string(raw("\x01aS\xff\xff\xff\xff")), string(raw("\x01aA\xff\xff\xff\xff"))} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			if _, _, err := amqp.DecodeTable([]byte(wire)); err == nil {
				t.Errorf("%q decoded", wire)
			}
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%q allocates %d octets", wire, got)
		}
	}
}

func TestGetAndFindField(t *testing.T) {
	table := amqp.Table{{"a", int32(1)}, {"b", "text"}, {"a", int32(2)}, {"v", nil}}
	if v, ok := table.Get("a"); !ok || v != int32(1) {
		t.Errorf("a is %v, %t; the first of two counts", v, ok)
	}
	if v, ok := table.Get("v"); !ok || v != nil {
		t.Errorf("v is %v, %t", v, ok)
	}
	if v, ok := table.Get("c"); ok {
		t.Errorf("c is %v", v)
	}
	wire := amqp.AppendTable(nil, table)
	cases := []struct {
		name  string
		tag   byte
		value string
		ok    bool
	}{
		{"a", 'I', "\x00\x00\x00\x01", true}, {"b", 'S', "\x00\x00\x00\x04text", true}, {"v", 'V', "", true}, {"c", 0, "", false},
	}
	for _, c := range cases {
		tag, value, ok := amqp.FindField(wire, c.name)
		if tag != c.tag || string(value) != c.value || ok != c.ok {
			t.Errorf("%s: %q %q %t", c.name, tag, value, ok)
		}
	}
	for n := range wire {
		if _, _, ok := amqp.FindField(wire[:n], "missing"); ok {
			t.Errorf("found in a table cut to %d octets", n)
		}
	}
}

// A value of a type without a tag is a fault of the program, not of a peer.
func TestUnknownValueTypePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	amqp.AppendTable(nil, amqp.Table{{"n", struct{}{}}})
}

// Whatever is accepted decodes, encodes to the same length (only a bool's octet and the tag L may change) and is stable from then on; the
// check and the decoder agree.
func FuzzTable(f *testing.F) {
	f.Add(amqp.AppendTable(nil, everyTag))
	f.Add(amqp.AppendTable(nil, nested(10, true)))
	f.Add(raw("\x01aL\xff\xff\xff\xff\xff\xff\xff\xfb"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		n, checkErr := amqp.CheckTable(wire)
		table, rest, err := amqp.DecodeTable(wire)
		if (err == nil) != (checkErr == nil) {
			t.Fatalf("the check says %v, the decoder %v", checkErr, err)
		}
		if err != nil {
			return
		}
		if len(rest) != len(wire)-n {
			t.Fatalf("%d octets are left of %d, the check counts %d", len(rest), len(wire), n)
		}
		first := amqp.AppendTable(nil, table)
		back, _, err := amqp.DecodeTable(first)
		if err != nil || len(first) != n || !bytes.Equal(amqp.AppendTable(nil, back), first) {
			t.Fatalf("%x became %x, error %v", wire, first, err)
		}
		for _, field := range table {
			want, _ := table.Get(field.Name)
			tag, _, ok := amqp.FindField(wire, field.Name)
			if !ok || tag == 'V' != (want == nil) {
				t.Fatalf("field %q: tag %q, found %t, value %v", field.Name, tag, ok, want)
			}
		}
	})
}
