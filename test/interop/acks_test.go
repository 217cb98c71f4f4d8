package interop

import (
	"strconv"
	"testing"

	"leveret/amqp"
)

// A tag that is not outstanding on the channel closes it; its unsettled deliveries return to their queue.
func TestC08AckOfUnknownTag(t *testing.T) {
	t.Parallel()
	settle := map[string]func(tag uint64) amqp.Method{
		"ack":    func(tag uint64) amqp.Method { return &amqp.BasicAck{DeliveryTag: tag} },
		"nack":   func(tag uint64) amqp.Method { return &amqp.BasicNack{DeliveryTag: tag, Requeue: true} },
		"reject": func(tag uint64) amqp.Method { return &amqp.BasicReject{DeliveryTag: tag} },
	}
	// Of four messages one is outstanding on channel 1. Each case returns a tag that this channel must not know.
	cases := []struct {
		name string
		play func(w *wire, q string) uint64
		left int // ready messages when channel 1 is closed
	}{
		{"settled twice", func(w *wire, q string) uint64 {
			m, _ := w.get(1, q)
			w.send(1, &amqp.BasicAck{DeliveryTag: m.DeliveryTag})
			return m.DeliveryTag
		}, 3},
		{"never sent", func(w *wire, q string) uint64 { return 99 }, 4},
		{"delivered without ack", func(w *wire, q string) uint64 {
			m := call[*amqp.BasicGetOk](w, 1, &amqp.BasicGet{Queue: q, NoAck: true})
			w.content(1)
			return m.DeliveryTag
		}, 3},
		{"of another channel", func(w *wire, q string) uint64 {
			w.get(2, q)
			m, _ := w.get(2, q)
			return m.DeliveryTag // 2, while channel 1 has had 1 alone
		}, 2},
	}
	for verb, method := range settle {
		for _, c := range cases {
			t.Run(verb+" "+c.name, func(t *testing.T) {
				t.Parallel()
				w := dialWire(t)
				w.open(2)
				q := w.queue(1)
				for n := range 4 {
					w.publish(1, q, strconv.Itoa(n))
				}
				w.get(1, q)
				tag := c.play(w, q)
				m := method(tag)
				w.send(1, m)
				closed := w.wantClosed(1, 406, "PRECONDITION_FAILED - unknown delivery tag "+strconv.FormatUint(tag, 10))
				if closed.ClassID != m.ID().Class() || closed.MethodID != m.ID().Method() {
					t.Errorf("channel closed for method %d, %d, want %s", closed.ClassID, closed.MethodID, m.ID())
				}
				if got := w.count(2, q); got != c.left {
					t.Errorf("%d messages are ready, want %d", got, c.left)
				}
			})
		}
	}
}

// Cancel stops new deliveries and requeues nothing: what the consumer had may still be acknowledged.
func TestC14CancelKeepsDeliveries(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(nil)
	c := s.consume(q, 0)
	s.publish(q, "1")
	m := c.next("1")
	s.ok(c.ch.Cancel(c.tag, false))
	if n := s.ready(q); n != 0 {
		t.Errorf("%d messages ready after cancel, want 0", n)
	}
	s.ok(m.Ack(false))
	s.ok(c.ch.Close()) // a refused ack would have closed it already
	if n := s.ready(q); n != 0 {
		t.Errorf("%d messages ready after the ack, want 0", n)
	}
}

// A message that was fetched with get is outstanding like a delivered one, until its channel or connection ends.
func TestC14GetIsOutstanding(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(nil)
	s.fill(q, 1, 1)
	for name, end := range map[string]func(getter *session) error{
		"channel":    func(getter *session) error { return getter.ch.Close() },
		"connection": func(getter *session) error { return getter.conn.Close() },
	} {
		getter := dial(t)
		getter.get(q)
		if n := s.ready(q); n != 0 {
			t.Errorf("%d messages ready beside a get, want 0", n)
		}
		s.ok(end(getter))
		if n := s.ready(q); n != 1 {
			t.Errorf("%d messages ready after the %s ended, want 1", n, name)
		}
	}
	if m := s.get(q); !m.Redelivered {
		t.Error("the message came back without the redelivered flag")
	}
}

// Requeued messages return to their places, whatever the order in which they were refused.
func TestC15RequeueOrder(t *testing.T) {
	t.Parallel()
	endings := map[string]func(getter *session){
		"nack": func(getter *session) {
			for _, tag := range []uint64{4, 1, 3} {
				getter.ok(getter.ch.Nack(tag, false, true))
			}
		},
		"reject": func(getter *session) {
			for _, tag := range []uint64{3, 4, 1} {
				getter.ok(getter.ch.Reject(tag, true))
			}
		},
		"channel closed":    func(getter *session) { getter.ok(getter.ch.Close()) },
		"connection closed": func(getter *session) { getter.ok(getter.conn.Close()) },
	}
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, getter := dial(t), dial(t)
			q := s.queue(nil)
			s.fill(q, 0, 5)
			for range 4 {
				getter.get(q)
			}
			getter.ok(getter.ch.Ack(2, false))
			end(getter)
			s.awaitReady(q, 5)
			for _, want := range []struct {
				body        string
				redelivered bool
			}{{"0", true}, {"2", true}, {"3", true}, {"4", false}, {"5", false}} {
				if m := s.get(q); string(m.Body) != want.body || m.Redelivered != want.redelivered {
					t.Errorf("got %q, redelivered %v; want %q, %v", m.Body, m.Redelivered, want.body, want.redelivered)
				}
			}
		})
	}
}
