package perf

import (
	"encoding/binary"

	"leveret/amqp"
	"leveret/frame"
)

// batchSize is how many bytes a producer writes at once, if it may.
const batchSize = 64 << 10

// template is a run of encoded messages, written again and again: before each write only the stamps in their bodies are set. The messages
// go to a producer's queues in turn.
//
//	starts[0]                      starts[1]                            starts[n]
//	| publish | header | body ...  | publish | header | body ...   ...  |
//	                   ^ bodies[0]: run, time, zeros
//
// A frame limit may cut a body into several frames, but never within the stamp: the least limit that may be agreed on is far larger.
type template struct {
	bytes  []byte
	starts []int // where each message begins, and the end of the last
	bodies []int // where each body begins
	size   int   // bytes of a body
}

// newTemplate encodes at least one message for each queue, and as many as a batch holds.
func newTemplate(queues []string, o *Options, run uint64, frameMax uint32) *template {
	properties := amqp.Properties{Flags: amqp.FlagDeliveryMode, DeliveryMode: 1}
	if o.Persistent {
		properties.DeliveryMode = amqp.Persistent
	}
	encoded := properties.AppendTo(nil)
	body := make([]byte, o.Size)
	if o.Size >= stampSize {
		binary.BigEndian.PutUint64(body, run)
	}
	t := &template{size: o.Size}
	// A round is a message for each queue. Rounds are added while another one of the size so far still fits, and one there always is.
	for len(t.bytes) == 0 || len(t.bytes)+len(t.bytes)/len(t.bodies)*len(queues) <= batchSize {
		for _, queue := range queues {
			t.starts = append(t.starts, len(t.bytes))
			t.bytes = frame.AppendMethod(t.bytes, channelNumber, &amqp.BasicPublish{RoutingKey: []byte(queue), Mandatory: o.Mandatory})
			t.bytes = frame.AppendContentHeader(t.bytes, channelNumber, amqp.ClassBasic, uint64(o.Size), encoded)
			t.bodies = append(t.bodies, len(t.bytes)+frame.HeaderSize)
			t.bytes = frame.AppendBody(t.bytes, channelNumber, body, frameMax)
		}
	}
	t.starts = append(t.starts, len(t.bytes)) // so that every message has an end
	return t
}

// len is how many messages there are.
func (t *template) len() int { return len(t.bodies) }

// stamp sets the time of publishing of message i, in nanoseconds of the run's clock.
func (t *template) stamp(i int, at int64) {
	if t.size >= stampSize {
		binary.BigEndian.PutUint64(t.bytes[t.bodies[i]+8:], uint64(at))
	}
}

// span is the encoded messages from first on, n of them.
func (t *template) span(first, n int) []byte { return t.bytes[t.starts[first]:t.starts[first+n]] }

// complete counts the messages from first on that are whole in the first written bytes of a span.
func (t *template) complete(first, written int) int {
	n := 0
	for first+n < t.len() && t.starts[first+n+1]-t.starts[first] <= written {
		n++
	}
	return n
}

// stampOf takes a stamp out of the beginning of a body. It is false for a message that this run has not published.
func stampOf(body []byte, run uint64) (at int64, ok bool) {
	if len(body) < stampSize || binary.BigEndian.Uint64(body) != run {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(body[8:])), true
}
