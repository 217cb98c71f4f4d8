package amqp_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"leveret/amqp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// allMethods is every method that the protocol knows.
func allMethods() []amqp.Method {
	var methods []amqp.Method
	for class := range 100 {
		for number := range 130 {
			if m := amqp.NewMethod(amqp.MethodID(class<<16 | number)); m != nil {
				methods = append(methods, m)
			}
		}
	}
	return methods
}

// fill gives every field a value of its own: bits alternate, numbers use all their octets.
func fill(m amqp.Method) {
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(i%2 == 0)
		case reflect.String:
			f.SetString(fmt.Sprintf("text %d", i))
		case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			f.SetUint(0x0123456789abcdef >> (64 - f.Type().Bits()))
		case reflect.Slice:
			if f.Type() == reflect.TypeFor[amqp.Table]() {
				f.Set(reflect.ValueOf(amqp.Table{{Name: "x-max-length", Value: int32(i)}}))
			} else {
				f.SetBytes([]byte{0, 0xff, byte(i)})
			}
			if strings.Contains(v.Type().Field(i).Name, "Exchange") {
				f.SetBytes([]byte("an exchange")) // must be UTF-8 in basic.publish
			}
		}
	}
}

// Each method with all fields set has these octets on the wire, and this text.
func TestMethodsGolden(t *testing.T) {
	var out strings.Builder
	for _, m := range allMethods() {
		fill(m)
		fmt.Fprintf(&out, "%s\n\t%s\n", amqp.AppendText(nil, m), hex.EncodeToString(m.AppendTo(nil)))
	}
	golden(t, "testdata/methods.golden", out.String())
}

// golden compares a text with a file; -update writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wantLines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(wantLines) || line != wantLines[i] {
			t.Fatalf("%s:%d differs: got %q", path, i+1, line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has more lines than were made", path)
	}
}

func TestMethodsRoundTrip(t *testing.T) {
	methods := allMethods()
	if len(methods) != 66 {
		t.Fatalf("%d methods, want 66", len(methods))
	}
	for _, m := range methods {
		fill(m)
		wire := m.AppendTo(nil)
		back := amqp.NewMethod(m.ID())
		if err := back.Decode(wire); err != nil {
			t.Fatalf("%s: %v", m.ID(), err)
		}
		if !reflect.DeepEqual(m, back) {
			t.Errorf("%s: got %+v, want %+v", m.ID(), back, m)
		}
		parsed, err := amqp.ParseText(string(amqp.AppendText(nil, m)))
		if err != nil || !reflect.DeepEqual(m, parsed) {
			t.Errorf("%s as text: got %+v, error %v", m.ID(), parsed, err)
		}
	}
}

// Arguments that are cut anywhere, or followed by anything, are an error 501 with the method's ids.
func TestDecodeRefusesOtherLengths(t *testing.T) {
	for _, m := range allMethods() {
		fill(m)
		wire := m.AppendTo(nil)
		for n := range len(wire) {
			checkUndecodable(t, m.ID(), wire[:n])
		}
		checkUndecodable(t, m.ID(), append(wire, 0))
	}
}

func checkUndecodable(t *testing.T, id amqp.MethodID, wire []byte) {
	t.Helper()
	var e *amqp.Error
	if err := amqp.NewMethod(id).Decode(wire); !errors.As(err, &e) {
		t.Fatalf("%s of %d octets: error %v", id, len(wire), err)
	}
	if e.Code != amqp.CodeFrameError || e.Class != id.Class() || e.Method != id.Method() ||
		!strings.HasPrefix(e.Text, "FRAME_ERROR - cannot decode <<") {
		t.Errorf("%s of %d octets: %+v", id, len(wire), e)
	}
}

func TestNamesMustBeUTF8(t *testing.T) {
	bad := "\xff\xfe"
	for _, m := range []amqp.Method{
		&amqp.ConnectionOpen{VirtualHost: bad},
		&amqp.QueueDeclare{Queue: bad}, &amqp.QueueBind{Queue: bad}, &amqp.QueueBind{Exchange: bad}, &amqp.QueueBind{RoutingKey: bad},
		&amqp.QueueUnbind{RoutingKey: bad}, &amqp.QueueDelete{Queue: bad}, &amqp.QueuePurge{Queue: bad},
		&amqp.ExchangeDeclare{Exchange: bad}, &amqp.ExchangeDelete{Exchange: bad}, &amqp.ExchangeBind{Source: bad},
		&amqp.ExchangeBind{Destination: bad}, &amqp.ExchangeUnbind{RoutingKey: bad},
		&amqp.BasicConsume{Queue: bad}, &amqp.BasicGet{Queue: bad}, &amqp.BasicPublish{Exchange: []byte(bad)},
	} {
		var e *amqp.Error
		if err := amqp.NewMethod(m.ID()).Decode(m.AppendTo(nil)); !errors.As(err, &e) {
			t.Fatalf("%s: error %v", m.ID(), err)
		}
		if e.Text != "FRAME_ERROR - Malformed UTF-8 in shortstr" || e.Class != m.ID().Class() {
			t.Errorf("%s: %+v", m.ID(), e)
		}
	}
}

func TestOtherShortStringsMayHoldAnyOctets(t *testing.T) {
	bad := "\xff\xfe"
	for _, m := range []amqp.Method{
		&amqp.BasicPublish{Exchange: []byte{}, RoutingKey: []byte(bad)},
		&amqp.BasicConsume{ConsumerTag: bad}, &amqp.BasicCancel{ConsumerTag: bad}, &amqp.ChannelClose{ReplyText: bad},
	} {
		back := amqp.NewMethod(m.ID())
		if err := back.Decode(m.AppendTo(nil)); err != nil || !reflect.DeepEqual(m, back) {
			t.Errorf("%s: got %+v, error %v", m.ID(), back, err)
		}
	}
}

// Longer texts than a short string holds are cut, so that what is sent can always be read.
func TestLongShortStringsAreCut(t *testing.T) {
	m := amqp.ChannelClose{ReplyText: strings.Repeat("x", 300)}
	var back amqp.ChannelClose
	if err := back.Decode(m.AppendTo(nil)); err != nil || len(back.ReplyText) != 255 {
		t.Errorf("%d octets, error %v", len(back.ReplyText), err)
	}
}

func TestBitsAreReadAsBits(t *testing.T) {
	var m amqp.BasicNack
	if err := m.Decode([]byte{0, 0, 0, 0, 0, 0, 0, 7, 0b11111110}); err != nil {
		t.Fatal(err)
	}
	if m.DeliveryTag != 7 || m.Multiple || !m.Requeue {
		t.Errorf("got %+v", m)
	}
}

// The slices of hot methods end where the field ends: appending to one does not write into the next frame.
func TestAliasesAreCapped(t *testing.T) {
	wire := (&amqp.BasicPublish{Exchange: []byte("x"), RoutingKey: []byte("key")}).AppendTo(nil)
	before := bytes.Clone(wire)
	var m amqp.BasicPublish
	if err := m.Decode(wire); err != nil {
		t.Fatal(err)
	}
	_ = append(m.Exchange, "overwrite"...)
	_ = append(m.RoutingKey, "overwrite"...)
	if !bytes.Equal(wire, before) {
		t.Errorf("the input changed to %q", wire)
	}
}

// What is not said to alias the input does not change with it.
func TestDecodedMethodsOwnTheirValues(t *testing.T) {
	for _, m := range allMethods() {
		if m.ID().Content() {
			continue // these alias their input
		}
		fill(m)
		wire := m.AppendTo(nil)
		back := amqp.NewMethod(m.ID())
		if err := back.Decode(wire); err != nil {
			t.Fatal(err)
		}
		for i := range wire {
			wire[i] = 0xaa
		}
		if !reflect.DeepEqual(m, back) {
			t.Errorf("%s changed with its input: %+v", m.ID(), back)
		}
	}
}

// A struct that is decoded into again keeps nothing of the method before.
func TestDecodeReplacesEveryField(t *testing.T) {
	for _, m := range allMethods() {
		fill(m)
		empty := amqp.NewMethod(m.ID())
		wire := empty.AppendTo(nil)
		if err := m.Decode(wire); err != nil {
			t.Fatal(err)
		}
		if again := m.AppendTo(nil); !bytes.Equal(again, wire) {
			t.Errorf("%s: %x, want %x", m.ID(), again, wire)
		}
	}
}

func TestMethodFacts(t *testing.T) {
	cases := []struct {
		id                            amqp.MethodID
		name                          string
		sync, content, client, server bool
	}{
		{amqp.MethodBasicPublish, "basic.publish", false, true, true, false},
		{amqp.MethodBasicDeliver, "basic.deliver", false, true, false, true},
		{amqp.MethodBasicAck, "basic.ack", false, false, true, true},
		{amqp.MethodQueueDeclare, "queue.declare", true, false, true, false},
		{amqp.MethodQueueDeclareOk, "queue.declare-ok", false, false, false, true},
		{amqp.MethodConnectionClose, "connection.close", true, false, true, true},
		{99<<16 | 10, "99.10", false, false, false, false},
		{0, "0.0", false, false, false, false},
	}
	for _, c := range cases {
		if c.id.String() != c.name || c.id.Synchronous() != c.sync || c.id.Content() != c.content ||
			c.id.FromClient() != c.client || c.id.FromServer() != c.server {
			t.Errorf("%s: sync %t, content %t, client %t, server %t", c.id, c.id.Synchronous(), c.id.Content(), c.id.FromClient(),
				c.id.FromServer())
		}
	}
	for _, m := range allMethods() {
		if !m.ID().FromClient() && !m.ID().FromServer() {
			t.Errorf("nobody sends %s", m.ID())
		}
		if m.ID().Synchronous() && m.ID().Content() {
			t.Errorf("%s is synchronous and has content", m.ID())
		}
	}
}

// Whatever decodes encodes to octets that decode to the same method, and its text reads back as the same.
func FuzzDecodeMethod(f *testing.F) {
	for _, m := range allMethods() {
		fill(m)
		f.Add(uint32(m.ID()), m.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, id uint32, wire []byte) {
		m := amqp.NewMethod(amqp.MethodID(id))
		if m == nil || m.Decode(wire) != nil {
			return
		}
		first := m.AppendTo(nil)
		back := amqp.NewMethod(m.ID())
		if err := back.Decode(first); err != nil {
			t.Fatalf("%s does not decode again: %v", m.ID(), err)
		}
		if second := back.AppendTo(nil); !bytes.Equal(first, second) {
			t.Fatalf("%s: %x, then %x", m.ID(), first, second)
		}
		parsed, err := amqp.ParseText(string(amqp.AppendText(nil, m)))
		if err != nil || !bytes.Equal(parsed.AppendTo(nil), first) {
			t.Fatalf("%s as text %q: %v", m.ID(), amqp.AppendText(nil, m), err)
		}
	})
}
