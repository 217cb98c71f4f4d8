package amqp_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
)

// allProperties has each of the 14 properties.
func allProperties() amqp.Properties {
	return amqp.Properties{
		Flags:       0xfffc,
		ContentType: "a/b", ContentEncoding: "gzip", Headers: amqp.Table{{Name: "BCC", Value: amqp.Array{"k"}}, {Name: "h", Value: int32(1)}},
		DeliveryMode: 2, Priority: 5, CorrelationID: "corr", ReplyTo: "reply", Expiration: "60000", MessageID: "mid",
		Timestamp: 1 << 63, Type: "ty", UserID: "guest", AppID: "app", ClusterID: "cl",
	}
}

func TestPropertiesRoundTrip(t *testing.T) {
	all := allProperties()
	for flag := uint16(1 << 15); flag > 2; flag >>= 1 {
		checkProperties(t, all, flag) // each alone
		checkProperties(t, all, ^flag&0xfffc)
	}
	checkProperties(t, all, 0xfffc)
	checkProperties(t, all, 0)
	checkProperties(t, amqp.Properties{}, 0xfffc)
}

// checkProperties takes the properties that the flags name over the wire and over their text.
func checkProperties(t *testing.T, p amqp.Properties, flags uint16) {
	t.Helper()
	p.Flags = flags
	wire := p.AppendTo(nil)
	back, err := amqp.DecodeProperties(wire)
	if err != nil || back.Flags != flags || !bytes.Equal(back.AppendTo(nil), wire) {
		t.Errorf("%x came back as %+v, error %v", wire, back, err)
	}
	parsed, err := amqp.ParseProperties(string(p.AppendText(nil)))
	if err != nil || !bytes.Equal(parsed.AppendTo(nil), wire) {
		t.Errorf("text %s: error %v", p.AppendText(nil), err)
	}
	var index amqp.PropertyIndex
	if err := amqp.ScanProperties(wire, &index); err != nil || index.Flags != flags {
		t.Errorf("%x: flags %x, error %v", wire, index.Flags, err)
	}
}

func TestPropertiesOnTheWire(t *testing.T) {
	p := allProperties()
	p.Headers = amqp.Table{{Name: "h", Value: int32(1)}}
	want := "\xff\xfc\x03a/b\x04gzip\x00\x00\x00\x07\x01hI\x00\x00\x00\x01\x02\x05\x04corr\x05reply\x0560000\x03mid" +
		"\x80\x00\x00\x00\x00\x00\x00\x00\x02ty\x05guest\x03app\x02cl"
	if got := p.AppendTo(nil); string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got, err := amqp.DecodeProperties([]byte(want))
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestScanFindsWhatTheBrokerLooksAt(t *testing.T) {
	p := allProperties()
	wire := p.AppendTo(nil)
	var i amqp.PropertyIndex
	if err := amqp.ScanProperties(wire, &i); err != nil {
		t.Fatal(err)
	}
	got := []string{string(i.CorrelationID), string(i.ReplyTo), string(i.Expiration), string(i.MessageID), string(i.UserID), string(i.Headers)}
	want := []string{"corr", "reply", "60000", "mid", "guest", string(amqp.AppendTable(nil, p.Headers))}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if i.DeliveryMode != amqp.Persistent || i.Priority != 5 || i.Timestamp != 1<<63 {
		t.Errorf("got %+v", i)
	}
	if !i.Has(amqp.FlagHeaders|amqp.FlagReplyTo) || !p.Has(amqp.FlagHeaders) {
		t.Error("flags that are set are not there")
	}
	// The index is reused from message to message: nothing of the last one may stay.
	if err := amqp.ScanProperties([]byte{0, 0}, &i); err != nil || !reflect.DeepEqual(i, amqp.PropertyIndex{}) {
		t.Errorf("after a message without properties: %+v, error %v", i, err)
	}
	if i.Has(amqp.FlagHeaders) {
		t.Error("a flag that is not set is there")
	}
}

func TestPropertyFlagWords(t *testing.T) {
	cases := []struct {
		name, wire string
		flags      uint16
		ok         bool
	}{
		{"none", "\x00\x00", 0, true},
		{"bit 1 stands for nothing", "\x00\x02", 0, true},
		{"an empty second word", "\x80\x01\x00\x00\x03a/b", amqp.FlagContentType, true},
		{"an empty third word", "\x80\x01\x00\x01\x00\x00\x03a/b", amqp.FlagContentType, true},
		{"a second word that names a property", "\x00\x01\x80\x00\x01a", 0, false},
		{"second word missing", "\x00\x01", 0, false},
		{"second word cut", "\x00\x01\x00", 0, false},
		{"no flags", "", 0, false},
		{"octets behind", "\x00\x00junk", 0, false},
		{"property missing", "\x80\x00", 0, false},
		{"property cut", "\x80\x00\x03a/", 0, false},
		{"bad header table", "\x20\x00\x00\x00\x00\x04\x01aZ\x00", 0, false},
		{"header table of 4 GiB", "\x20\x00\xff\xff\xff\xff", 0, false},
		{"strings need not be UTF-8", "\x04\x00\x02\xff\xfe", amqp.FlagCorrelationID, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var index amqp.PropertyIndex
			scanErr := amqp.ScanProperties([]byte(c.wire), &index)
			p, err := amqp.DecodeProperties([]byte(c.wire))
			if (scanErr == nil) != c.ok || (err == nil) != c.ok {
				t.Fatalf("scan error %v, decode error %v, want ok %t", scanErr, err, c.ok)
			}
			if c.ok && (index.Flags != c.flags || p.Flags != c.flags) {
				t.Errorf("flags %x and %x, want %x", index.Flags, p.Flags, c.flags)
			}
			var e *amqp.Error
			if !c.ok && (!errors.As(scanErr, &e) || e.Code != amqp.CodeFrameError || e.Class != 60 || e.Method != 40) {
				t.Errorf("got %+v, want 501 at basic.publish", e)
			}
		})
	}
}

// Cut anywhere, properties are refused.
func TestCutPropertiesAreRefused(t *testing.T) {
	all := allProperties()
	wire := all.AppendTo(nil)
	for n := range wire {
		var index amqp.PropertyIndex
		if err := amqp.ScanProperties(wire[:n], &index); err == nil {
			t.Errorf("the first %d octets are accepted", n)
		}
		if _, err := amqp.DecodeProperties(wire[:n]); err == nil {
			t.Errorf("the first %d octets are decoded", n)
		}
	}
}

// genProperties makes any set of properties; what is not there is zero.
func genProperties() *rapid.Generator[amqp.Properties] {
	return rapid.Custom(func(t *rapid.T) amqp.Properties {
		text := func(name string) string { return rapid.StringN(0, 20, 255).Draw(t, name) }
		p := amqp.Properties{
			Flags:       rapid.Uint16().Draw(t, "flags") & 0xfffc,
			ContentType: text("content-type"), ContentEncoding: text("content-encoding"), Headers: genTable(2).Draw(t, "headers"),
			DeliveryMode: rapid.Byte().Draw(t, "delivery-mode"), Priority: rapid.Byte().Draw(t, "priority"), CorrelationID: text("correlation-id"),
			ReplyTo: text("reply-to"), Expiration: text("expiration"), MessageID: text("message-id"),
			Timestamp: amqp.Timestamp(rapid.Uint64().Draw(t, "timestamp")), Type: text("type"), UserID: text("user-id"), AppID: text("app-id"),
			ClusterID: text("cluster-id"),
		}
		return p
	})
}

// The rewritten raw form is that of the rewritten properties, whatever else is there.
func TestRewritesOfAnyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProperties().Draw(t, "properties")
		wire := p.AppendTo(nil)
		var index amqp.PropertyIndex
		if err := amqp.ScanProperties(wire, &index); err != nil {
			t.Fatal(err)
		}
		if p.Has(amqp.FlagHeaders) && len(p.Headers) > 0 {
			name := rapid.SampledFrom(p.Headers).Draw(t, "header").Name
			at := slices.IndexFunc(p.Headers, func(f amqp.Field) bool { return f.Name == name })
			less := p
			less.Headers = slices.Delete(slices.Clone(p.Headers), at, at+1)
			if got := amqp.RemoveHeader(nil, wire, &index, name); !bytes.Equal(got, less.AppendTo(nil)) {
				t.Fatalf("without %q: %q", name, got)
			}
		}
		if p.Has(amqp.FlagReplyTo) {
			p.ReplyTo = rapid.StringN(0, 20, 255).Draw(t, "new reply-to")
			if got := amqp.ReplaceReplyTo(nil, wire, &index, p.ReplyTo); !bytes.Equal(got, p.AppendTo(nil)) {
				t.Fatalf("reply-to %q: %q", p.ReplyTo, got)
			}
		}
	})
}

func TestReplaceReplyTo(t *testing.T) {
	for _, with := range []string{"", "x", strings.Repeat("long", 60)} {
		p := allProperties()
		wire := p.AppendTo(nil)
		var index amqp.PropertyIndex
		if err := amqp.ScanProperties(wire, &index); err != nil {
			t.Fatal(err)
		}
		p.ReplyTo = with
		got := amqp.ReplaceReplyTo([]byte("dst"), wire, &index, with)
		if want := "dst" + string(p.AppendTo(nil)); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRemoveHeader(t *testing.T) {
	header := func(name string) amqp.Field { return amqp.Field{Name: name, Value: amqp.Array{"value of " + name}} }
	cases := []struct {
		name          string
		before, after amqp.Table
	}{
		{"first", amqp.Table{header("BCC"), header("b")}, amqp.Table{header("b")}},
		{"last", amqp.Table{header("b"), header("BCC")}, amqp.Table{header("b")}},
		{"only one", amqp.Table{header("BCC")}, amqp.Table{}},
		{"not there", amqp.Table{header("b"), header("bcc")}, amqp.Table{header("b"), header("bcc")}},
		{"empty table", amqp.Table{}, amqp.Table{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := allProperties()
			p.Headers = c.before
			wire := p.AppendTo(nil)
			var index amqp.PropertyIndex
			if err := amqp.ScanProperties(wire, &index); err != nil {
				t.Fatal(err)
			}
			p.Headers = c.after
			got := amqp.RemoveHeader([]byte("dst"), wire, &index, "BCC")
			if want := "dst" + string(p.AppendTo(nil)); string(got) != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	var none amqp.PropertyIndex
	if got := amqp.RemoveHeader(nil, []byte{0, 0}, &none, "BCC"); !bytes.Equal(got, []byte{0, 0}) {
		t.Errorf("without headers: %q", got)
	}
}

func TestParseExpiration(t *testing.T) {
	const huge = "99999999999999999999999"
	cases := []struct {
		text string
		ms   uint64
		why  string
	}{
		{"0", 0, ""}, {"60000", 60000, ""}, {"010000", 10000, ""}, {"+5000", 5000, ""}, {"-0", 0, ""}, {"315360000000", 315360000000, ""},
		{"", 0, "no_integer"}, {"x", 0, "no_integer"}, {" 5", 0, "no_integer"}, {"-", 0, "no_integer"}, {"+", 0, "no_integer"}, {"--1", 0, "no_integer"},
		{"1.5", 0, `{leftover_string,".5"}`}, {"5 ", 0, `{leftover_string," "}`}, {"-1x", 0, `{leftover_string,"x"}`},
		{"-1", 0, "{value_negative,-1}"}, {"-007", 0, "{value_negative,-7}"}, {"-" + huge, 0, "{value_negative,-" + huge + "}"},
		{"315360000001", 0, "{value_too_large,315360000001}"}, {"00" + huge, 0, "{value_too_large," + huge + "}"},
	}
	for _, c := range cases {
		ms, err := amqp.ParseExpiration([]byte(c.text))
		if c.why == "" {
			if err != nil || ms != c.ms {
				t.Errorf("%q: %d, error %v", c.text, ms, err)
			}
			continue
		}
		if want := "PRECONDITION_FAILED - invalid expiration '" + c.text + "': " + c.why; err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", c.text, err, want)
		}
	}
}

// The scan and the decoder accept the same octets and see the same; what is cut out of the raw form is what is cut out of the decoded one.
func FuzzScanProperties(f *testing.F) {
	p := allProperties()
	f.Add(p.AppendTo(nil))
	f.Add([]byte{0, 0})
	f.Add([]byte("\x80\x01\x00\x00\x03a/b"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		var index amqp.PropertyIndex
		scanErr := amqp.ScanProperties(wire, &index)
		p, err := amqp.DecodeProperties(wire)
		if (scanErr == nil) != (err == nil) {
			t.Fatalf("scan error %v, decode error %v", scanErr, err)
		}
		if err != nil {
			return
		}
		if p.Flags != index.Flags || p.ReplyTo != string(index.ReplyTo) || p.Priority != index.Priority || p.Expiration != string(index.Expiration) ||
			uint64(p.Timestamp) != index.Timestamp || p.UserID != string(index.UserID) || p.MessageID != string(index.MessageID) {
			t.Fatalf("index %+v, properties %+v", index, p)
		}
		if _, err := amqp.DecodeProperties(p.AppendTo(nil)); err != nil {
			t.Fatalf("%+v does not decode again: %v", p, err)
		}
		checkRewrites(t, wire, &index, p)
	})
}

func checkRewrites(t *testing.T, wire []byte, index *amqp.PropertyIndex, p amqp.Properties) {
	t.Helper()
	if index.Has(amqp.FlagReplyTo) {
		got, err := amqp.DecodeProperties(amqp.ReplaceReplyTo(nil, wire, index, "elsewhere"))
		if err != nil || got.ReplyTo != "elsewhere" || got.ClusterID != p.ClusterID || !amqp.EqualTable(got.Headers, p.Headers) {
			t.Fatalf("reply-to replaced: %+v, error %v", got, err)
		}
	}
	if len(p.Headers) > 0 {
		got, err := amqp.DecodeProperties(amqp.RemoveHeader(nil, wire, index, p.Headers[0].Name))
		if err != nil || !amqp.EqualTable(got.Headers, p.Headers[1:]) || got.ClusterID != p.ClusterID {
			t.Fatalf("header removed: %+v, error %v", got, err)
		}
	}
}
