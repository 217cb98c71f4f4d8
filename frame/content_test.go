package frame_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
	"leveret/frame"
)

func method() frame.Frame {
	return frame.Frame{Type: frame.TypeMethod, Channel: 1, Payload: []byte{0, 60, 0, 10}}
}

func body(octets string) frame.Frame {
	return frame.Frame{Type: frame.TypeBody, Channel: 1, Payload: []byte(octets)}
}

func head(payload []byte) frame.Frame {
	return frame.Frame{Type: frame.TypeHeader, Channel: 1, Payload: payload}
}

func TestContentInOrder(t *testing.T) {
	var c frame.Content
	if !c.Done() || c.State() != frame.Idle {
		t.Error("the zero value is not idle")
	}
	for _, size := range []byte{2, 0} { // twice, since a channel uses it again and again
		c.Begin(amqp.MethodBasicPublish)
		if c.Done() || c.State() != frame.Header || c.Method() != amqp.MethodBasicPublish {
			t.Errorf("after Begin: state %d, method %s", c.State(), c.Method())
		}
		event, err := c.Frame(head(append(header(60, size), "properties"...)))
		if err != nil || event.Type != frame.TypeHeader || event.BodySize != uint64(size) || string(event.Payload) != "\x00\x00properties" {
			t.Fatalf("header: %+v, error %v", event, err)
		}
		if size == 0 {
			break
		}
		for i, part := range []string{"", "a", "", "b"} {
			event, err := c.Frame(body(part))
			if err != nil || event.Type != frame.TypeBody || string(event.Payload) != part || c.Done() != (i == 3) {
				t.Errorf("part %d: %+v, error %v, done %t, %d left", i, event, err, c.Done(), c.Left())
			}
		}
	}
	if event, err := c.Frame(method()); !c.Done() || err != nil || event.Type != frame.TypeMethod || len(event.Payload) != 4 {
		t.Errorf("method after a content: %+v, error %v", event, err)
	}
}

func TestContentOutOfOrder(t *testing.T) {
	weight := header(60, 1)
	weight[3] = 1
	huge := header(60, 0)
	binary.BigEndian.PutUint64(huge[4:], frame.MaxBodySize+1)
	const (
		noMethod = "UNEXPECTED_FRAME - expected method frame, got non method frame instead"
		noHeader = "UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead"
		noBody   = "UNEXPECTED_FRAME - expected content body, got non content body frame instead"
		tooLong  = "FRAME_ERROR - content body frame exceeds remaining content size"
	)
	start := head(header(60, 5))
	cases := []struct {
		name   string
		begun  bool
		frames []frame.Frame // all but the last are in order
		text   string
	}{
		{"body without method", false, []frame.Frame{body("x")}, noMethod},
		{"header without method", false, []frame.Frame{head(header(60, 1))}, noMethod},
		{"empty body after an empty content", true, []frame.Frame{head(header(60, 0)), body("")}, noMethod},
		{"wrong class", true, []frame.Frame{head(header(20, 1))}, "UNEXPECTED_FRAME - expected content header for class 60, got one for class 20 instead"},
		{"weight", true, []frame.Frame{head(weight)}, noHeader},
		{"header too short", true, []frame.Frame{head([]byte{0, 60})}, noHeader},
		{"method for header", true, []frame.Frame{method()}, noHeader},
		{"body for header", true, []frame.Frame{body("x")}, noHeader},
		{"method for body", true, []frame.Frame{start, method()}, noBody},
		{"header for body", true, []frame.Frame{start, start}, noBody},
		{"method after some body", true, []frame.Frame{start, body("abc"), method()}, noBody},
		{"body too long", true, []frame.Frame{start, body("abcdef")}, tooLong},
		{"second body frame too long", true, []frame.Frame{start, body("abc"), body("def")}, tooLong},
		{"size over 512 MiB", true, []frame.Frame{head(huge)}, "FRAME_ERROR - content body size 536870913 exceeds maximum allowed size 536870912"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var content frame.Content
			if c.begun {
				content.Begin(amqp.MethodBasicPublish)
			}
			last := len(c.frames) - 1
			for _, f := range c.frames[:last] {
				if _, err := content.Frame(f); err != nil {
					t.Fatal(err)
				}
			}
			_, err := content.Frame(c.frames[last])
			var e *amqp.Error
			if !errors.As(err, &e) || e.Text != c.text {
				t.Fatalf("got %v, want %s", err, c.text)
			}
			want := [2]uint16{60, 40}
			if c.text == noMethod {
				want = [2]uint16{}
			}
			if got := [2]uint16{e.Class, e.Method}; got != want {
				t.Errorf("ids %v, want %v", got, want)
			}
		})
	}
}

func TestLargestBodySizeIsAccepted(t *testing.T) {
	var c frame.Content
	c.Begin(amqp.MethodBasicPublish)
	largest := header(60, 0)
	binary.BigEndian.PutUint64(largest[4:], frame.MaxBodySize)
	if event, err := c.Frame(head(largest)); err != nil || event.BodySize != frame.MaxBodySize || c.Left() != frame.MaxBodySize {
		t.Errorf("got %+v, error %v", event, err)
	}
	if c.Reset(); !c.Done() || c.Left() != 0 {
		t.Error("not idle after Reset")
	}
}

// A body cut anywhere comes out whole, and is done with its last octet and not before.
func TestContentOfAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.StringN(0, 20, 20)).Draw(t, "parts")
		size := 0
		for _, part := range parts {
			size += len(part)
		}
		payload := header(60, 0)
		binary.BigEndian.PutUint64(payload[4:], uint64(size))
		var c frame.Content
		c.Begin(amqp.MethodBasicDeliver)
		if _, err := c.Frame(head(payload)); err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, part := range parts {
			if got == size {
				break // what follows the last octet belongs to no content
			}
			event, err := c.Frame(body(part))
			if err != nil {
				t.Fatal(err)
			}
			got += len(event.Payload)
			if c.Done() != (got == size) || c.Left() != uint64(size-got) {
				t.Fatalf("%d of %d octets: done %t, %d left", got, size, c.Done(), c.Left())
			}
		}
		if !c.Done() {
			t.Fatal("not done at the end")
		}
	})
}
