package interop

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// A body frame carries at most the frame-max of the connection that it goes to, less 8, whatever that of the publisher was.
func TestBodiesAroundFrameMax(t *testing.T) {
	t.Parallel()
	publisher := dialWire(t)
	q := publisher.queue(1)
	small := offer()
	small.FrameMax = 4096
	getter := tunedWire(t, small)
	getter.open(1)
	for _, frameMax := range []int{4096, 131072} {
		n := frameMax - 8
		for _, size := range []int{1, n - 1, n, n + 1, 2 * n, 2*n + 1, 300_000} {
			publisher.publish(1, q, string(patterned(size)))
			publisher.count(1, q)
			_, got := getter.get(1, q)
			if string(got.body) != string(patterned(size)) {
				t.Errorf("a body of %d octets came back damaged", size)
			}
			if want := (size + 4087) / 4088; len(got.frames) != want || slices.Max(got.frames) > 4088 {
				t.Errorf("a body of %d octets came in %d frames of up to %d, want %d of up to 4088", size, len(got.frames), slices.Max(got.frames), want)
			}
		}
	}
}

// A frame is too long when its payload alone is longer than frame-max; up to that the broker is lenient, as clients count the 8 octets
// around the payload differently.
func TestFrameAboveFrameMax(t *testing.T) {
	t.Parallel()
	for _, frameMax := range []uint32{4096, 131072} {
		tune := offer()
		tune.FrameMax = frameMax
		w := tunedWire(t, tune)
		w.open(1)
		q := w.queue(1)
		w.write(oneFrameMessage(q, int(frameMax)))
		if _, got := w.get(1, q); len(got.body) != int(frameMax) {
			t.Errorf("got %d octets, want %d", len(got.body), frameMax)
		}
		w.write(oneFrameMessage(q, int(frameMax)+1))
		w.wantEnd(501, "frame_too_large")
	}
}

// oneFrameMessage is a message to a queue whose whole body is in one frame.
func oneFrameMessage(queue string, size int) []byte {
	octets := frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte(queue)})
	octets = frame.AppendContentHeader(octets, 1, classBasic, uint64(size), (&amqp.Properties{}).AppendTo(nil))
	return frame.AppendBody(octets, 1, make([]byte, size), 0)
}

// A message of size 0 is complete at its content header: confirmed, delivered, counted and redelivered like any other.
func TestEmptyBody(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	w.open(2)
	q := w.queue(1)
	call[*amqp.ConfirmSelectOk](w, 1, &amqp.ConfirmSelect{})
	for tag := uint64(1); tag <= 2; tag++ {
		w.publish(1, q, "")
		if ack := expect[*amqp.BasicAck](w, 1); ack.DeliveryTag != tag {
			t.Errorf("confirm of %d, want %d", ack.DeliveryTag, tag)
		}
	}
	call[*amqp.BasicQosOk](w, 2, &amqp.BasicQos{PrefetchCount: 1})
	call[*amqp.BasicConsumeOk](w, 2, &amqp.BasicConsume{Queue: q})
	first := w.delivery(2, "")
	w.send(2, &amqp.BasicReject{DeliveryTag: first.DeliveryTag, Requeue: true})
	again := w.delivery(2, "")
	if !again.Redelivered {
		t.Error("the empty message came back without the redelivered flag")
	}
	w.send(2, &amqp.BasicAck{DeliveryTag: again.DeliveryTag})
	w.delivery(2, "")
}

func TestBodyFrameAfterAnEmptyHeader(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	empty := w.message(1, amqp.BasicPublish{RoutingKey: []byte(freshName(t))}, amqp.Properties{}, nil)
	w.write(frame.Append(empty, frame.Frame{Type: frame.TypeBody, Channel: 1}))
	w.wantEnd(505, "expected method frame, got non method frame instead")
}

// A damaged frame ends its connection and no other, takes no effect, and cannot make the broker set aside what it announces.
func TestDamagedFrame(t *testing.T) {
	t.Parallel()
	bystander := dialWire(t)
	q := freshName(t)
	declare := frame.AppendMethod(nil, 1, &amqp.QueueDeclare{Queue: q})
	cases := []struct {
		name   string
		damage func(octets []byte)
		words  string
	}{
		{"end octet", func(octets []byte) { octets[len(octets)-1] = 0 }, "invalid_frame_end_marker,0"},
		{"frame type", func(octets []byte) { octets[0] = 91 }, "unknown_frame"},
		{"length", func(octets []byte) { binary.BigEndian.PutUint32(octets[3:], 0xFFFFFFFF) }, "frame_too_large,4294967295,131064"},
	}
	before := shared.status(t, "VmSize")
	for _, c := range cases {
		w := dialWire(t)
		octets := slices.Clone(declare)
		c.damage(octets)
		w.write(octets)
		w.wantEnd(501, c.words)
	}
	if after := shared.status(t, "VmSize"); after-before > 1<<20 {
		t.Errorf("the broker's address space grew by %d KiB", after-before)
	}
	bystander.send(1, &amqp.QueueDeclare{Queue: q, Passive: true})
	bystander.wantClosed(1, 404, "no queue")
}

// Old clients ask for 4096; less than that, more than was offered, or no limit at all is refused.
func TestFrameMaxOfTuneOk(t *testing.T) {
	t.Parallel()
	tune := offer()
	tune.FrameMax = 4096
	tunedWire(t, tune)
	for frameMax, words := range map[uint32]string{
		4095:   "negotiated frame_max = 4095 is lower than the minimum allowed value",
		131073: "negotiated frame_max = 131073 is higher than the maximum allowed value (131072)",
		0:      "negotiated frame_max = 0 (no limit) is higher than the maximum allowed value (131072)",
	} {
		w := startWire(t, shared)
		tune.FrameMax = frameMax
		w.send(0, &tune)
		w.wantEnd(530, words)
	}
}

// Content headers cannot be split: one that is larger than the receiver's frame-max comes whole, one above the sender's is too large.
func TestHeaderLargerThanAFrame(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	q := w.queue(1)
	small := offer()
	small.FrameMax = 4096
	getter := tunedWire(t, small)
	getter.open(1)
	for _, size := range []int{20_000, 100_000} {
		w.write(w.message(1, amqp.BasicPublish{RoutingKey: []byte(q)}, withHeader(size), []byte("body")))
		w.count(1, q)
		_, got := getter.get(1, q)
		if h, _ := got.Headers.Get("h"); len(got.Headers) != 1 || h != strings.Repeat("x", size) || got.header < size {
			t.Errorf("a header of %d octets came back as a table of %d fields in a frame of %d octets", size, len(got.Headers), got.header)
		}
	}
	w.write(w.message(1, amqp.BasicPublish{RoutingKey: []byte(q)}, withHeader(140_000), nil))
	w.wantEnd(501, "frame_too_large")
}

func withHeader(size int) amqp.Properties {
	return amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "h", Value: strings.Repeat("x", size)}}}
}

// A method amid the frames of a message ends the connection; frames of another channel there are legal.
func TestMethodInTheMiddleOfAMessage(t *testing.T) {
	t.Parallel()
	w := dialWire(t)
	w.open(2)
	q := w.queue(1)
	begun := frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte(q)})
	begun = frame.AppendContentHeader(begun, 1, classBasic, 10, (&amqp.Properties{}).AppendTo(nil))
	w.write(begun)
	w.publish(2, q, "whole")
	w.write(frame.AppendBody(nil, 1, []byte("interlaced"), w.tune.FrameMax))
	w.count(2, q)
	w.count(1, q)
	for _, want := range []string{"whole", "interlaced"} {
		if _, got := w.get(1, q); string(got.body) != want {
			t.Errorf("got %q, want %q", got.body, want)
		}
	}
	w.write(begun)
	w.send(1, &amqp.BasicQos{})
	w.wantEnd(505, "expected content body, got non content body frame instead")

	observer := dialWire(t)
	if ready := observer.count(1, q); ready != 2 { // the two that were got come back, the incomplete one is gone
		t.Errorf("%d messages are ready, want 2", ready)
	}
}
