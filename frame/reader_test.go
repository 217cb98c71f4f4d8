package frame_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"leveret/amqp"
	"leveret/frame"
)

// stream is a few frames, one of them larger than a reader's first buffer.
func stream() []byte {
	wire := frame.AppendMethod(nil, 1, &amqp.QueueDeclare{Queue: "q"})
	wire = frame.AppendBody(wire, 1, bytes.Repeat([]byte("x"), 200000), 0)
	wire = frame.AppendHeartbeat(wire)
	return frame.AppendBody(wire, 1, []byte("hello"), 0)
}

func TestReaderReadsAllFrames(t *testing.T) {
	for _, c := range []struct {
		name   string
		source io.Reader
	}{
		{"at once", bytes.NewReader(stream())},
		{"octet by octet", iotest.OneByteReader(bytes.NewReader(stream()))},
		{"with the error beside the last octets", iotest.DataErrReader(bytes.NewReader(stream()))},
	} {
		t.Run(c.name, func(t *testing.T) {
			again := readAll(t, frame.NewReader(c.source, 0))
			if !bytes.Equal(again, stream()) {
				t.Errorf("%d octets came out of %d", len(again), len(stream()))
			}
		})
	}
}

// readAll puts all frames of a reader together again.
func readAll(t *testing.T, r *frame.Reader) (wire []byte) {
	t.Helper()
	for {
		f, err := r.Next()
		if err == io.EOF {
			return wire
		}
		if err != nil {
			t.Fatal(err)
		}
		wire = frame.Append(wire, f)
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	cases := []struct {
		name   string
		source io.Reader
		want   error
	}{
		{"nothing", bytes.NewReader(nil), io.EOF},
		{"end inside a frame", bytes.NewReader(stream()[:5]), io.ErrUnexpectedEOF},
		{"broken stream", iotest.ErrReader(broken), broken},
	}
	for _, c := range cases {
		if _, err := frame.NewReader(c.source, 0).Next(); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	r := frame.NewReader(bytes.NewReader(stream()), 4096)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	var e *amqp.Error
	if _, err := r.Next(); !errors.As(err, &e) || e.Code != amqp.CodeFrameError {
		t.Errorf("a frame over frame-max: error %v", err)
	}
}

func TestReaderBuffered(t *testing.T) {
	wire := frame.AppendHeartbeat(frame.AppendHeartbeat(nil))
	r := frame.NewReader(bytes.NewReader(wire[:len(wire)-1]), 0)
	if r.Buffered() {
		t.Error("something is buffered before the first read")
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if r.Buffered() {
		t.Error("half a frame is buffered as a frame")
	}
}
