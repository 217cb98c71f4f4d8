package interop

import (
	"strconv"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"leveret/amqp"
)

// unknownTags are ways to come by a tag that channel 1 must not know. Of four messages in the queue one is outstanding on that channel.
var unknownTags = []struct {
	name string
	play func(w *wire, queue string) (tag uint64)
	left int // ready messages when channel 1 is closed
}{
	{"settled twice", func(w *wire, queue string) uint64 {
		m, _ := w.get(1, queue)
		w.send(1, &amqp.BasicAck{DeliveryTag: m.DeliveryTag})
		return m.DeliveryTag
	}, 3},
	{"never sent", func(w *wire, queue string) uint64 { return 99 }, 4},
	{"delivered without ack", func(w *wire, queue string) uint64 {
		m := call[*amqp.BasicGetOk](w, 1, &amqp.BasicGet{Queue: queue, NoAck: true})
		w.content(1)
		return m.DeliveryTag
	}, 3},
	{"of another channel", func(w *wire, queue string) uint64 {
		w.get(2, queue)
		m, _ := w.get(2, queue)
		return m.DeliveryTag // 2, while channel 1 has had 1 alone
	}, 2},
}

// A tag that is not outstanding on the channel closes it. Its unsettled deliveries are back in their queue before the client hears of it.
func TestSettlingAnUnknownTag(t *testing.T) {
	t.Parallel()
	verbs := map[string]func(tag uint64) amqp.Method{
		"ack":    func(tag uint64) amqp.Method { return &amqp.BasicAck{DeliveryTag: tag} },
		"nack":   func(tag uint64) amqp.Method { return &amqp.BasicNack{DeliveryTag: tag, Requeue: true} },
		"reject": func(tag uint64) amqp.Method { return &amqp.BasicReject{DeliveryTag: tag} },
	}
	for verb, method := range verbs {
		for _, c := range unknownTags {
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
				w.refuseTag(tag, method(tag))
				if got := w.count(2, q); got != c.left {
					t.Errorf("%d messages are ready, want %d", got, c.left)
				}
			})
		}
	}
}

// refuseTag settles a tag on channel 1 and wants the channel to be closed for that.
func (w *wire) refuseTag(tag uint64, m amqp.Method) {
	w.t.Helper()
	w.send(1, m)
	closed := w.wantClosed(1, 406, "PRECONDITION_FAILED - unknown delivery tag "+strconv.FormatUint(tag, 10))
	if closed.ClassID != m.ID().Class() || closed.MethodID != m.ID().Method() {
		w.t.Errorf("channel closed for method %d, %d, want %s", closed.ClassID, closed.MethodID, m.ID())
	}
}

// Cancel stops new deliveries and requeues nothing: what the consumer had may still be acknowledged.
func TestCancelKeepsDeliveries(t *testing.T) {
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
func TestGetIsOutstanding(t *testing.T) {
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
func TestRequeueOrder(t *testing.T) {
	t.Parallel()
	endings := map[string]func(getter *session){
		"nack":              func(getter *session) { getter.requeue(getter.ch.Nack, 4, 1, 3) },
		"reject":            func(getter *session) { getter.requeue(rejectOne(getter.ch), 3, 4, 1) },
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
			s.wantNext(q, true, "0", "2", "3")
			s.wantNext(q, false, "4", "5")
		})
	}
}

// requeue gives tags back one by one.
func (s *session) requeue(nack func(tag uint64, multiple, requeue bool) error, tags ...uint64) {
	s.t.Helper()
	for _, tag := range tags {
		s.ok(nack(tag, false, true))
	}
}

// rejectOne is basic.reject in the shape of basic.nack.
func rejectOne(ch *amqp091.Channel) func(tag uint64, multiple, requeue bool) error {
	return func(tag uint64, _, requeue bool) error { return ch.Reject(tag, requeue) }
}

// wantNext gets messages and wants these bodies, all with that redelivered flag.
func (s *session) wantNext(queue string, redelivered bool, bodies ...string) {
	s.t.Helper()
	for _, body := range bodies {
		if m := s.get(queue); string(m.Body) != body || m.Redelivered != redelivered {
			s.t.Errorf("got %q, redelivered %v; want %q, %v", m.Body, m.Redelivered, body, redelivered)
		}
	}
}
