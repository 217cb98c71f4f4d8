package frame_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// header is the content header of a class, with that size and no properties.
func header(class byte, size byte) []byte {
	return []byte{0, class, 0, 0, 0, 0, 0, 0, 0, 0, 0, size, 0, 0}
}

func TestParse(t *testing.T) {
	want := []frame.Frame{
		{Type: frame.TypeMethod, Channel: 1, Payload: []byte{0, 90, 0, 10}},
		{Type: frame.TypeHeader, Channel: 65535, Payload: header(60, 5)},
		{Type: frame.TypeBody, Channel: 2, Payload: []byte("hello")},
		{Type: frame.TypeBody, Channel: 2, Payload: []byte{}},
		{Type: frame.TypeHeartbeat, Payload: []byte{}},
	}
	var wire []byte
	for _, f := range want {
		wire = frame.Append(wire, f)
	}
	for _, w := range want {
		got, n, err := frame.Parse(wire, 4096)
		if err != nil || n != len(w.Payload)+frame.Overhead || !equal(got, w) {
			t.Fatalf("got %v, %d octets, error %v, want %v", got, n, err, w)
		}
		if cap(got.Payload) != len(got.Payload) {
			t.Errorf("%v: the payload reaches into the next frame", got)
		}
		wire = wire[n:]
	}
	if len(wire) != 0 {
		t.Errorf("%d octets are left", len(wire))
	}
}

func equal(a, b frame.Frame) bool {
	return a.Type == b.Type && a.Channel == b.Channel && bytes.Equal(a.Payload, b.Payload)
}

func TestFrameParts(t *testing.T) {
	f := frame.Frame{Type: frame.TypeMethod, Payload: []byte{0, 60, 0, 80, 'a', 'b'}}
	if f.MethodID() != amqp.MethodBasicAck || string(f.Arguments()) != "ab" {
		t.Errorf("got %s, %q", f.MethodID(), f.Arguments())
	}
}

func TestIncompleteFrames(t *testing.T) {
	wire := frame.AppendBody(nil, 1, []byte("hello"), 0)
	for n := range wire {
		f, used, err := frame.Parse(wire[:n], 4096)
		if used != 0 || err != nil || f.Payload != nil {
			t.Errorf("%d octets: got %v, %d, error %v", n, f, used, err)
		}
		want := len(wire) - n
		if n < frame.HeaderSize {
			want = frame.HeaderSize - n
		}
		if got := frame.Missing(wire[:n]); got != want {
			t.Errorf("%d octets: %d are missing, want %d", n, got, want)
		}
	}
	if got := frame.Missing([]byte{3, 0, 1, 255, 255, 255, 255}); got != math.MaxUint32+1 {
		t.Errorf("of 4 GiB %d octets are missing", got)
	}
	if got := frame.Missing(wire); got < 1 {
		t.Errorf("of a complete frame %d octets are missing", got)
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct {
		name, wire string
		code       uint16
		text       string
	}{
		{"too large, by its header alone", "\x03\x00\x01\x00\x03\x0d\x40", 501, "FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,200000,131064}"},
		{"one octet too large", "\x03\x00\x01\x00\x02\x00\x01", 501, "FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,131073,131064}"},
		{"4 GiB", "\x01\x00\x01\xff\xff\xff\xff", 501, "FRAME_ERROR - type 1, all octets = <<>>: {frame_too_large,4294967295,131064}"},
		{"end octet", "\x01\x00\x01\x00\x00\x00\x05\x00\x14\x00\x0a\x00\x00", 501, "FRAME_ERROR - type 1, all octets = <<0,20,0,10,0>>: {invalid_frame_end_marker,0}"},
		{"end octet of a long frame", "\x03\x00\x01\x00\x00\x00\x11aaaaaaaaaaaaaaaaab", 501, `FRAME_ERROR - type 3, first 16 octets = <<"aaaaaaaaaaaaaaaa">>: {invalid_frame_end_marker,98}`},
		{"type 0", "\x00\x00\x01\x00\x00\x00\x02ab\xce", 501, `FRAME_ERROR - type 0, all octets = <<"ab">>: unknown_frame`},
		{"type 4", "\x04\x00\x01\x00\x00\x00\x02ab\xce", 501, `FRAME_ERROR - type 4, all octets = <<"ab">>: unknown_frame`},
		{"type 255", "\xff\x00\x00\x00\x00\x00\x02ab\xce", 501, `FRAME_ERROR - type 255, all octets = <<"ab">>: unknown_frame`},
		{"short method", "\x01\x00\x01\x00\x00\x00\x03\x00\x3c\x00\xce", 501, "FRAME_ERROR - type 1, all octets = <<0,60,0>>: unknown_frame"},
		{"short header", "\x02\x00\x01\x00\x00\x00\x04\x00\x3c\x00\x00\xce", 501, "FRAME_ERROR - type 2, all octets = <<0,60,0,0>>: unknown_frame"},
		{"heartbeat with payload", "\x08\x00\x00\x00\x00\x00\x01\x01\xce", 501, "FRAME_ERROR - type 8, all octets = <<1>>: unknown_frame"},
		{"heartbeat on a channel", "\x08\x00\x07\x00\x00\x00\x00\xce", 505, "UNEXPECTED_FRAME - type 8, all octets = <<>>"},
		{"body on channel 0", "\x03\x00\x00\x00\x00\x00\x03abc\xce", 505, `UNEXPECTED_FRAME - type 3, all octets = <<"abc">>`},
		{"header on channel 0", "\x02\x00\x00\x00\x00\x00\x0e" + string(header(60, 5)) + "\xce", 505,
			"UNEXPECTED_FRAME - type 2, all octets = <<0,60,0,0,0,0,0,0,0,0,0,5,0,0>>"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, n, err := frame.Parse([]byte(c.wire), 131072)
			var e *amqp.Error
			if !errors.As(err, &e) || n != 0 || e.Code != c.code || e.Text != c.text || e.Class != 0 || e.Method != 0 {
				t.Errorf("%d octets, got %v, want %s", n, err, c.text)
			}
		})
	}
}

// The payload alone may have frame-max octets; without a frame-max it may have any number.
func TestFrameMax(t *testing.T) {
	wire := frame.AppendBody(nil, 1, make([]byte, 8192), 0)
	for _, limit := range []uint32{8192, 0, math.MaxUint32} {
		if _, n, err := frame.Parse(wire, limit); err != nil || n != len(wire) {
			t.Errorf("frame-max %d: %d octets, error %v", limit, n, err)
		}
	}
	if _, _, err := frame.Parse(wire, 8191); err == nil {
		t.Error("one octet too many is accepted")
	}
}

func TestAppendOnTheWire(t *testing.T) {
	cases := []struct {
		name string
		got  []byte
		want string
	}{
		{"method", frame.AppendMethod(nil, 0x102, &amqp.BasicAck{DeliveryTag: 5, Multiple: true}),
			"\x01\x01\x02\x00\x00\x00\x0d\x00\x3c\x00\x50\x00\x00\x00\x00\x00\x00\x00\x05\x01\xce"},
		{"method without arguments", frame.AppendMethod(nil, 1, &amqp.TxSelect{}), "\x01\x00\x01\x00\x00\x00\x04\x00\x5a\x00\x0a\xce"},
		{"header", frame.AppendContentHeader(nil, 1, amqp.ClassBasic, 0x10203, []byte{0x10, 0, 2}),
			"\x02\x00\x01\x00\x00\x00\x0f\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x10\x00\x02\xce"},
		{"body", frame.AppendBody(nil, 1, []byte("hello"), 4096), "\x03\x00\x01\x00\x00\x00\x05hello\xce"},
		{"empty body", frame.AppendBody(nil, 1, nil, 4096), ""},
		{"heartbeat", frame.AppendHeartbeat(nil), "\x08\x00\x00\x00\x00\x00\x00\xce"},
		{"behind something", frame.AppendHeartbeat([]byte("x")), "x\x08\x00\x00\x00\x00\x00\x00\xce"},
	}
	for _, c := range cases {
		if string(c.got) != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

// Bodies are cut into frames that are no larger than frame-max, their frame included.
func TestBodiesAreCut(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 30000)
	for _, c := range []struct {
		frameMax uint32
		sizes    []int
	}{{131072, []int{131064, 131064, 37872}}, {0, []int{300000}}, {300008, []int{300000}}, {300007, []int{299999, 1}}} {
		wire := frame.AppendBody(nil, 1, body, c.frameMax)
		var joined []byte
		for _, size := range c.sizes {
			f, n, err := frame.Parse(wire, c.frameMax)
			if err != nil || len(f.Payload) != size {
				t.Fatalf("frame-max %d: %d octets, error %v, want %d", c.frameMax, len(f.Payload), err, size)
			}
			joined, wire = append(joined, f.Payload...), wire[n:]
		}
		if len(wire) != 0 || !bytes.Equal(joined, body) {
			t.Errorf("frame-max %d: the frames do not hold the body", c.frameMax)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	dst := make([]byte, 0, 4096)
	body := []byte(strings.Repeat("x", 1024))
	publish := &amqp.BasicPublish{RoutingKey: []byte("key")}
	write := func() {
		dst = frame.AppendMethod(dst[:0], 1, publish)
		dst = frame.AppendContentHeader(dst, 1, amqp.ClassBasic, 1024, []byte{0, 0})
		dst = frame.AppendBody(dst, 1, body, 256)
	}
	if n := testing.AllocsPerRun(100, write); n != 0 {
		t.Errorf("writing a message: %g allocations", n)
	}
	var c frame.Content
	if n := testing.AllocsPerRun(100, func() {
		if got := readMessage(t, &c, dst); got != 1024 {
			t.Errorf("read %d octets of body", got)
		}
	}); n != 0 {
		t.Errorf("reading a message: %g allocations", n)
	}
}

// readMessage parses the frames of one publish and returns how long its body is.
func readMessage(tb testing.TB, c *frame.Content, wire []byte) (size int) {
	for len(wire) > 0 {
		f, n, err := frame.Parse(wire, 4096)
		if err != nil || n == 0 {
			tb.Fatal(n, err)
		}
		wire = wire[n:]
		event, err := c.Frame(f)
		if err != nil {
			tb.Fatal(err)
		}
		switch event.Type {
		case frame.TypeMethod:
			c.Begin(f.MethodID())
		case frame.TypeBody:
			size += len(event.Payload)
		}
	}
	return size
}

func BenchmarkReadMessage(b *testing.B) {
	wire := frame.AppendMethod(nil, 1, &amqp.BasicPublish{Exchange: []byte("x"), RoutingKey: []byte("key")})
	wire = frame.AppendContentHeader(wire, 1, amqp.ClassBasic, 16, []byte{0, 0})
	wire = frame.AppendBody(wire, 1, []byte("0123456789abcdef"), 0)
	var c frame.Content
	b.ReportAllocs()
	for b.Loop() {
		readMessage(b, &c, wire)
	}
}

func BenchmarkWriteDelivery(b *testing.B) {
	deliver := &amqp.BasicDeliver{ConsumerTag: "ctag-1", DeliveryTag: 7, Exchange: []byte("x"), RoutingKey: []byte("key")}
	body := []byte("0123456789abcdef")
	dst := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		dst = frame.AppendMethod(dst[:0], 1, deliver)
		dst = frame.AppendContentHeader(dst, 1, amqp.ClassBasic, 16, []byte{0, 0})
		dst = frame.AppendBody(dst, 1, body, 131072)
	}
}

// What parses is what is written: the same octets come out again. Whatever comes in, Parse never reads past it.
func FuzzParse(f *testing.F) {
	f.Add(frame.AppendHeartbeat(nil), uint32(4096))
	f.Add(frame.AppendMethod(nil, 1, &amqp.QueueDeclare{Queue: "q"}), uint32(0))
	f.Add(frame.AppendBody(nil, 1, make([]byte, 100), 50), uint32(50))
	f.Add([]byte{3, 0, 1, 255, 255, 255, 255}, uint32(0))
	f.Fuzz(func(t *testing.T, wire []byte, limit uint32) {
		got, n, err := frame.Parse(wire, limit)
		switch {
		case err != nil:
			var e *amqp.Error
			if !errors.As(err, &e) || !e.Hard() || n != 0 {
				t.Fatalf("%d octets, error %v", n, err)
			}
		case n == 0:
			if missing := frame.Missing(wire); missing < 1 {
				t.Fatalf("incomplete, but %d octets are missing", missing)
			}
		case !bytes.Equal(frame.Append(nil, got), wire[:n]):
			t.Fatalf("%x came out as %x", wire[:n], frame.Append(nil, got))
		}
	})
}
