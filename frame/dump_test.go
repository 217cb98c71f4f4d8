package frame_test

import (
	"bytes"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// lines are frames and how they are printed.
var lines = []struct {
	line, payload string
	frameType     byte
}{
	{`1 queue.declare queue="jobs" durable=1`, "\x00\x32\x00\x0a\x00\x00\x04jobs\x02\x00\x00\x00\x00", 1},
	{`1 tx.select`, "\x00\x5a\x00\x0a", 1},
	{`1 basic.ack delivery-tag=18446744073709551615 multiple=1`, "\x00\x3c\x00\x50\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1},
	{`1 header class=60 body-size=5 content-type="text/plain" headers={} delivery-mode=2 priority=0 timestamp=7`,
		"\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\xb8\x40\x0atext/plain\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x07", 2},
	{`1 header class=60 body-size=0`, "\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 2},
	{`1 body "hello\n\xff"`, "hello\n\xff", 3},
	{`1 body ""`, "", 3},
	{`1 frame type=1 payload="\x00<\x00"`, "\x00\x3c\x00", 1},                                                                                         // too short
	{`1 frame type=1 payload="\x00c\x00\n"`, "\x00\x63\x00\x0a", 1},                                                                                   // unknown method
	{`1 frame type=1 payload="\x00Z\x00\nx"`, "\x00\x5a\x00\x0ax", 1},                                                                                 // octets behind the arguments
	{`1 frame type=2 payload="\x00<\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"`, "\x00\x3c\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 2}, // weight
	{`1 frame type=9 payload="ab"`, "ab", 9},
}

func TestDumpAndParseLine(t *testing.T) {
	for _, c := range lines {
		f := frame.Frame{Type: c.frameType, Channel: 1, Payload: []byte(c.payload)}
		if got := frame.Dump(f); got != c.line {
			t.Errorf("got  %s\nwant %s", got, c.line)
		}
		back, err := frame.ParseLine(c.line)
		if err != nil || !equal(back, f) {
			t.Errorf("%s: read as %v, error %v", c.line, back, err)
		}
	}
	if got := frame.Dump(frame.Frame{Type: frame.TypeHeartbeat}); got != "0 heartbeat" {
		t.Errorf("got %s", got)
	}
	if f, err := frame.ParseLine("0 heartbeat"); err != nil || f.Type != frame.TypeHeartbeat {
		t.Errorf("got %v, error %v", f, err)
	}
}

func TestLinesThatAreNoFrame(t *testing.T) {
	cases := []struct{ line, want string }{
		{"", "channel number"}, {"x tx.select", "channel number"}, {"65536 tx.select", "channel number"},
		{"1", "unknown method"}, {"1 tx.selects", "unknown method"}, {"1 tx.select x=1", "unexpected"},
		{"0 heartbeat now", "unexpected"}, {"1 body", "text in quotes"}, {`1 body "a" "b"`, "text in quotes"},
		{"1 header", "class="}, {"1 header class=60", "body-size="}, {"1 header class=65536 body-size=1", "class="},
		{"1 header class=60 body-size=1 color=2", "unexpected"}, {"1 frame", "type="}, {"1 frame type=256", "type="},
		{"1 frame type=1 payload=x", "text in quotes"},
	}
	for _, c := range cases {
		if f, err := frame.ParseLine(c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, error %v, want %q", c.line, f, err, c.want)
		}
	}
}

// A line that reads as a frame is printed as a line that reads as the same frame.
func FuzzParseLine(f *testing.F) {
	for _, c := range lines {
		f.Add(c.line)
	}
	f.Add("0 heartbeat")
	f.Add(`1 queue.declare queue="q" arguments={a=I:-5 "odd name"=A:[t:1 V F:{}] f=f:0x7fc00001 d=d:-1e+300 D=D:3/1}`)
	f.Fuzz(func(t *testing.T, line string) {
		first, err := frame.ParseLine(line)
		if err != nil {
			return
		}
		printed := frame.Dump(first)
		second, err := frame.ParseLine(printed)
		if err != nil || !equal(first, second) {
			t.Fatalf("%q was read as %v, printed as %q and read as %v, error %v", line, first, printed, second, err)
		}
	})
}

// Whatever a frame holds, its line reads back; only what decoding evens out may differ, and then only once.
func FuzzDump(f *testing.F) {
	for _, c := range lines {
		f.Add(c.frameType, []byte(c.payload))
	}
	f.Fuzz(func(t *testing.T, frameType byte, payload []byte) {
		back, err := frame.ParseLine(frame.Dump(frame.Frame{Type: frameType, Channel: 1, Payload: payload}))
		if err != nil || back.Type != frameType {
			t.Fatalf("read as %v, error %v", back, err)
		}
		again, err := frame.ParseLine(frame.Dump(back))
		if err != nil || !bytes.Equal(again.Payload, back.Payload) {
			t.Fatalf("%x, then %x, error %v", back.Payload, again.Payload, err)
		}
	})
}

func TestDumpOfEveryProperty(t *testing.T) {
	line := `3 header class=60 body-size=1 content-type="a" content-encoding="b" headers={k=S:"v"} delivery-mode=1 priority=2 correlation-id="c" ` +
		`reply-to="d" expiration="5" message-id="e" timestamp=6 type="f" user-id="g" app-id="h" cluster-id="i"`
	f, err := frame.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	if got := frame.Dump(f); got != line {
		t.Errorf("got  %s\nwant %s", got, line)
	}
	var index amqp.PropertyIndex
	if err := amqp.ScanProperties(f.Payload[12:], &index); err != nil || index.Flags != 0xfffc {
		t.Errorf("flags %x, error %v", index.Flags, err)
	}
}
