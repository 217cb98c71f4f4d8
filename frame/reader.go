package frame

import (
	"errors"
	"io"
)

// Reader reads frames from a stream, one after the other. It is for clients and tests; it is not safe for concurrent use.
type Reader struct {
	// Max is the agreed frame-max, 0 for no limit. It may be changed between two calls of Next.
	Max uint32

	source     io.Reader
	buf        []byte
	start, end int // what is read and not handed out
}

// NewReader reads frames from source with that frame-max.
func NewReader(source io.Reader, frameMax uint32) *Reader {
	return &Reader{Max: frameMax, source: source, buf: make([]byte, 64<<10)}
}

// Next returns the next frame, whose payload lives until the next call. At the end of the stream between two frames the error is io.EOF,
// inside one io.ErrUnexpectedEOF; what is no frame is an *amqp.Error.
func (r *Reader) Next() (Frame, error) {
	for {
		f, n, err := Parse(r.buf[r.start:r.end], r.Max)
		if n > 0 || err != nil {
			r.start += n
			return f, err
		}
		if err := r.fill(); err != nil {
			return Frame{}, err
		}
	}
}

// Buffered tells whether a complete frame, or an error, is there without reading from the source.
func (r *Reader) Buffered() bool {
	_, n, err := Parse(r.buf[r.start:r.end], r.Max)
	return n > 0 || err != nil
}

// fill reads more, after making room for it. The buffer grows with what arrives and not with what a frame announces, to twice its size at
// most.
func (r *Reader) fill() error {
	if r.end == len(r.buf) || r.start == r.end {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.source.Read(r.buf[r.end:])
	r.end += n
	if n > 0 || err == nil {
		return nil // an error beside octets comes again with the next read
	}
	if errors.Is(err, io.EOF) && r.end > r.start {
		return io.ErrUnexpectedEOF
	}
	return err
}
