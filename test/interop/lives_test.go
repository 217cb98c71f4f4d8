package interop

import (
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// lives is one broker's data folder and the broker that runs on it, killed and started again as the test likes.
type lives struct {
	t     *testing.T
	dir   string
	flags []string
	*broker
}

// newLives starts a broker on an empty folder. It is nil when the tests use a foreign broker, which nobody may kill.
func newLives(t *testing.T, flags ...string) *lives {
	t.Helper()
	if brokerBinary == "" {
		return nil
	}
	l := &lives{t: t, dir: t.TempDir(), flags: flags}
	l.start()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(l.logTail())
		}
		l.kill()
	})
	return l
}

func (l *lives) start() {
	l.t.Helper()
	b, err := launch(l.dir, l.flags...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.broker = b
}

// kill ends the broker with SIGKILL.
func (l *lives) kill() {
	l.cmd.Process.Kill()
	<-l.exited
}

// crash kills the broker and starts it again.
func (l *lives) crash() {
	l.t.Helper()
	l.kill()
	l.start()
}

// restart stops the broker in order and starts it again.
func (l *lives) restart() {
	l.t.Helper()
	if err := l.stop(); err != nil {
		l.t.Fatal(err)
	}
	l.start()
}

// dial opens a session on the broker's present life.
func (l *lives) dial() *session {
	l.t.Helper()
	return dialBroker(l.t, l.broker)
}

// durable declares a durable queue.
func (s *session) durable(queue string) {
	s.t.Helper()
	_, err := s.ch.QueueDeclare(queue, true, false, false, false, nil)
	s.ok(err)
}

// keep publishes persistent messages to an exchange and returns when all are confirmed. The channel is then in confirm mode.
func (s *session) keep(exchange, key string, bodies ...string) {
	s.t.Helper()
	s.ok(s.ch.Confirm(false))
	var waiting []*amqp091.DeferredConfirmation
	for _, body := range bodies {
		c, err := s.ch.PublishWithDeferredConfirm(exchange, key, false, false,
			amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte(body)})
		s.ok(err)
		waiting = append(waiting, c)
	}
	for _, c := range waiting {
		if !c.Wait() {
			s.t.Fatal("a publish was refused")
		}
	}
}

// got is what a queue handed out by basic.get: the bodies, each with an exclamation mark if it was redelivered.
func (s *session) got(queue string, most int, ack bool) (bodies []string) {
	s.t.Helper()
	for len(bodies) < most {
		d, ok, err := s.ch.Get(queue, false)
		s.ok(err)
		if !ok {
			break
		}
		body := string(d.Body)
		if d.Redelivered {
			body += "!"
		}
		bodies = append(bodies, body)
		if ack {
			s.ok(d.Ack(false))
		}
	}
	return bodies
}

// wantGot takes all of a queue and compares.
func (s *session) wantGot(queue, want string) {
	s.t.Helper()
	if got := strings.Join(s.got(queue, 1000, true), " "); got != want {
		s.t.Errorf("%s has %q, want %q", queue, got, want)
	}
	s.sync()
}

// sync returns when the broker has worked on everything that was sent before.
func (s *session) sync() {
	s.t.Helper()
	s.ok(s.ch.Qos(0, 0, false))
}
