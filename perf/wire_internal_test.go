package perf

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

func TestParseURI(t *testing.T) {
	tests := []struct {
		uri  string
		want target
	}{
		{"amqp://", target{"localhost:5672", "localhost", false, "guest", "guest", "/"}},
		{"amqp://h", target{"h:5672", "h", false, "guest", "guest", "/"}},
		{"amqp://h/", target{"h:5672", "h", false, "guest", "guest", "/"}},
		{"amqp://h/%2F", target{"h:5672", "h", false, "guest", "guest", "/"}},
		{"amqp://h:1/v", target{"h:1", "h", false, "guest", "guest", "v"}},
		{"amqp://u:p@h/a%2Fb", target{"h:5672", "h", false, "u", "p", "a/b"}},
		{"amqp://u@h", target{"h:5672", "h", false, "u", "", "/"}},
		{"amqp://u:p%40q@h", target{"h:5672", "h", false, "u", "p@q", "/"}},
		{"amqp://[::1]:7", target{"[::1]:7", "::1", false, "guest", "guest", "/"}},
		{"amqps://h", target{"h:5671", "h", true, "guest", "guest", "/"}},
	}
	for _, tt := range tests {
		if got, err := parseURI(tt.uri); err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v", tt.uri, got, err)
		}
	}
}

func TestShare(t *testing.T) {
	queues := []string{"a", "b", "c", "d", "e"}
	tests := []struct {
		worker, workers int
		want            string
	}{{0, 1, "a b c d e"}, {0, 2, "a c e"}, {1, 2, "b d"}, {4, 5, "e"}, {5, 7, "a"}, {6, 7, "b"}}
	for _, tt := range tests {
		if got := strings.Join(share(queues, tt.worker, tt.workers), " "); got != tt.want {
			t.Errorf("worker %d of %d: %s, want %s", tt.worker, tt.workers, got, tt.want)
		}
	}
}

func TestTemplate(t *testing.T) {
	for _, size := range []int{0, 15, 16, 5000, 200_000} {
		o := Options{Size: size, Persistent: true}
		tp := newTemplate([]string{"a", "b", "c"}, &o, 42, 4096)
		if len(tp.bytes) > batchSize && tp.len() > 3 {
			t.Errorf("%d bytes: %d messages make %d bytes", size, tp.len(), len(tp.bytes))
		}
		if tp.len()%3 != 0 {
			t.Errorf("%d bytes: %d messages for three queues", size, tp.len())
		}
		for i := range tp.len() {
			tp.stamp(i, int64(1000+i))
		}
		reader := frame.NewReader(bytes.NewReader(tp.bytes), 4096)
		for i := range tp.len() {
			checkMessage(t, reader, "abc"[i%3:i%3+1], size, int64(1000+i))
		}
	}
}

// checkMessage reads one published message with its stamp.
func checkMessage(t *testing.T, reader *frame.Reader, key string, size int, at int64) {
	t.Helper()
	next := func() frame.Frame {
		f, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var m amqp.BasicPublish
	if f := next(); f.MethodID() != amqp.MethodBasicPublish || m.Decode(f.Arguments()) != nil || string(m.RoutingKey) != key {
		t.Fatalf("%s, want a message to %s", frame.Dump(f), key)
	}
	header := next()
	if got := binary.BigEndian.Uint64(header.Payload[4:]); got != uint64(size) {
		t.Fatalf("a body of %d bytes, want %d", got, size)
	}
	var body []byte
	for len(body) < size {
		body = append(body, next().Payload...)
	}
	got, ok := stampOf(body, 42)
	if ok != (size >= stampSize) || ok && got != at {
		t.Errorf("%d bytes: stamp %d, %v, want %d", size, got, ok, at)
	}
	if _, ok := stampOf(body, 43); ok {
		t.Error("the stamp of another run is taken for this one's")
	}
}

func TestCompleteMessagesOfAShortWrite(t *testing.T) {
	tp := newTemplate([]string{"a"}, &Options{Size: 100}, 1, 4096)
	one := tp.starts[1]
	for _, tt := range []struct{ first, written, want int }{
		{0, 0, 0}, {0, one - 1, 0}, {0, one, 1}, {0, 3*one + 1, 3}, {5, 2 * one, 2}, {tp.len() - 1, 10 * one, 1},
	} {
		if got := tp.complete(tt.first, tt.written); got != tt.want {
			t.Errorf("%d bytes from message %d on: %d, want %d", tt.written, tt.first, got, tt.want)
		}
	}
}

// FuzzFrames feeds what a broker might send to both ends. They may complain, and must not panic.
func FuzzFrames(f *testing.F) {
	deliver := frame.AppendMethod(nil, 1, &amqp.BasicDeliver{ConsumerTag: "c", DeliveryTag: 1})
	deliver = frame.AppendContentHeader(deliver, 1, amqp.ClassBasic, 3, []byte{0, 0})
	f.Add(frame.AppendBody(deliver, 1, []byte("abc"), 4096))
	f.Add(frame.AppendMethod(nil, 1, &amqp.BasicAck{DeliveryTag: 1, Multiple: true}))
	f.Add(frame.AppendMethod(nil, 1, &amqp.ChannelClose{ReplyCode: 404, ReplyText: "x"}))
	f.Add(frame.AppendMethod(nil, 0, &amqp.ConnectionBlocked{Reason: "x"}))
	f.Add([]byte("\x01\x00\x01\x00\x00\x00\x04\x00\x3c\x00\x3c\xce"))
	f.Add([]byte("\x01\x00\x01\x00\x00\x00\x05\x00\x3c\x00\x3c\xff\xce"))
	f.Fuzz(func(t *testing.T, input []byte) {
		here, there := net.Pipe()
		defer here.Close()
		there.Close() // acknowledgements fail, nothing waits
		r := &run{options: DefaultOptions()}
		s := &consumer{run: r, client: &client{conn: here, timeout: 1}, ackEvery: 1}
		p := &producer{run: r, window: newWindow(2)}
		p.window.enter(2, 0, 0)
		for rest := input; ; {
			fr, n, err := frame.Parse(rest, 4096)
			if n == 0 || err != nil {
				break
			}
			rest = rest[n:]
			if s.frame(fr) == nil {
				s.note()
			}
			if err := p.frame(fr); err != nil && err.Error() == "" {
				t.Error("an error without a text")
			}
		}
		if c := p.window.confirms; c.acked+c.nacked > 2 {
			t.Errorf("%d confirms of two messages", c.acked+c.nacked)
		}
	})
}
