package server_test

import (
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// A method that clients may send must have a line in the dispatch: it may fail, but not as one that there is not. Methods of the
// connection are played in the dialogues of the opening and the end; they have no business on a channel.
func TestEveryMethodHasALine(t *testing.T) {
	r := start(t, testOptions())
	seen := 0
	for class := range uint32(200) {
		for method := range uint32(256) {
			id := amqp.MethodID(class<<16 | method)
			m := amqp.NewMethod(id)
			if m == nil || !id.FromClient() || id.Class() == amqp.ClassConnection || id == amqp.MethodChannelFlowOk {
				continue // the server never sends channel.flow, so nobody has to answer it
			}
			seen++
			if text := refusal(r, m); strings.Contains(text, "unimplemented method") || strings.Contains(text, "unknown method") {
				t.Errorf("%s: %s", id, text)
			}
		}
	}
	if seen < 25 {
		t.Errorf("only %d methods were tried", seen)
	}
}

// refusal sends a method without arguments on an open channel, and then one that is answered if the channel is still there. It returns
// the text of what was closed, if anything.
func refusal(r *rig, m amqp.Method) string {
	c := r.open()
	defer c.conn.Close()
	c.add(1, m)
	if m.ID().Content() {
		c.out = frame.AppendContentHeader(c.out, 1, amqp.ClassBasic, 0, []byte{0, 0})
	}
	if m.ID() != amqp.MethodChannelClose {
		c.add(1, &amqp.BasicQos{})
	}
	c.mustFlush()
	for {
		f, err := c.next()
		if err != nil {
			r.t.Fatalf("%s: %v", m.ID(), err)
		}
		if f.Type != frame.TypeMethod {
			continue
		}
		switch f.MethodID() {
		case amqp.MethodConnectionClose, amqp.MethodChannelClose:
			return frame.Dump(f)
		case amqp.MethodBasicQosOk, amqp.MethodChannelCloseOk:
			return ""
		}
	}
}
