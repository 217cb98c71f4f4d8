package interop

import (
	"net"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Another connection is refused with 405, before anything else about the declare is looked at; it may publish.
func TestExclusiveQueueOfAnother(t *testing.T) {
	t.Parallel()
	owner, other := dial(t), dial(t)
	q := freshName(t)
	_, err := owner.ch.QueueDeclare(q, false, false, true, false, nil)
	owner.ok(err)
	for what, use := range map[string]func(ch *amqp091.Channel) error{
		"declare": func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare(q, false, false, true, false, nil)
			return err
		},
		"declare with other flags": func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare(q, true, true, false, false, nil)
			return err
		},
		"passive declare": func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclarePassive(q, false, false, false, false, nil)
			return err
		},
		"get": func(ch *amqp091.Channel) error { _, _, err := ch.Get(q, true); return err },
		"consume": func(ch *amqp091.Channel) error {
			_, err := ch.Consume(q, "", true, false, false, false, nil)
			return err
		},
		"bind":   func(ch *amqp091.Channel) error { return ch.QueueBind(q, "k", "amq.direct", false, nil) },
		"purge":  func(ch *amqp091.Channel) error { _, err := ch.QueuePurge(q, false); return err },
		"delete": func(ch *amqp091.Channel) error { _, err := ch.QueueDelete(q, false, false, false); return err },
	} {
		other.refuse(amqp091.ResourceLocked, what, use)
	}
	other.fill(q, 1, 1)
	if n := owner.ready(q); n != 1 {
		t.Errorf("%d messages ready after another's publish, want 1", n)
	}
}

// However the owner goes, the first redeclare by the next connection succeeds, and finds a new queue.
func TestRedeclareAfterTheOwner(t *testing.T) {
	t.Parallel()
	endings := map[string]func(s *session, tcp *net.TCPConn) error{
		"close": func(s *session, _ *net.TCPConn) error { return s.conn.Close() },
		"FIN":   func(_ *session, tcp *net.TCPConn) error { return tcp.Close() },
		"RST": func(_ *session, tcp *net.TCPConn) error {
			if err := tcp.SetLinger(0); err != nil {
				return err
			}
			return tcp.Close()
		},
	}
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := freshName(t)
			for range 10 {
				s, tcp := dialTCP(t)
				state, err := s.ch.QueueDeclare(q, false, false, true, false, nil)
				s.ok(err)
				if state.Messages != 0 {
					t.Errorf("the queue has %d messages of its predecessor's", state.Messages)
				}
				s.fill(q, 1, 1)
				s.ok(end(s, tcp))
			}
		})
	}
}

// dialTCP opens a session whose socket the test may close under it.
func dialTCP(t *testing.T) (*session, *net.TCPConn) {
	t.Helper()
	var tcp *net.TCPConn
	conn, err := amqp091.DialConfig(shared.url(), amqp091.Config{Dial: func(network, addr string) (net.Conn, error) {
		conn, err := net.Dial(network, addr)
		tcp, _ = conn.(*net.TCPConn)
		return conn, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return (&session{t: t, conn: conn}).channel(), tcp
}

// An exclusive consumer has its queue alone. The queue is free again when the consumer is cancelled or gone.
func TestExclusiveConsumer(t *testing.T) {
	t.Parallel()
	s := dial(t)
	q := s.queue(nil)
	consume := func(tag string, exclusive bool) func(ch *amqp091.Channel) error {
		return func(ch *amqp091.Channel) error {
			_, err := ch.Consume(q, tag, false, exclusive, false, false, nil)
			return err
		}
	}
	holder := s.channel()
	s.ok(consume("holder", true)(holder.ch))
	s.refuse(amqp091.AccessRefused, "second consumer", consume("", false))
	s.refuse(amqp091.AccessRefused, "second exclusive consumer", consume("", true))
	s.ok(holder.ch.Cancel("holder", false))
	plain := s.channel()
	s.ok(consume("plain", false)(plain.ch))
	s.refuse(amqp091.AccessRefused, "exclusive consumer of a consumed queue", consume("", true))
	s.ok(plain.ch.Close())

	gone := dial(t)
	s.ok(consume("gone", true)(gone.ch))
	s.ok(gone.conn.Close())
	s.ok(consume("heir", true)(s.channel().ch))
}
