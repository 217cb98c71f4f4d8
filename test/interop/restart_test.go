package interop

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// TestTwoCrashes kills the broker twice, with publishes and acks in each life.
func TestTwoCrashes(t *testing.T) {
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	s.durable("jobs")
	s.keep("", "jobs", numbers(1, 10)...)
	if got := strings.Join(s.got("jobs", 2, true), " "); got != "1 2" {
		t.Fatalf("got %q", got)
	}
	l.settled(s)
	l.crash()
	s = l.dial()
	if got := strings.Join(s.got("jobs", 3, true), " "); got != "3! 4! 5!" {
		t.Errorf("after the first crash: %q", got)
	}
	s.keep("", "jobs", numbers(11, 13)...)
	l.settled(s)
	l.crash()
	l.dial().wantGot("jobs", "6! 7! 8! 9! 10! 11! 12! 13!")
}

// settled returns when acks that were sent are known to the operating system: a persistent message that was confirmed after them is in the
// log behind them.
func (l *lives) settled(s *session) {
	l.t.Helper()
	s.sync()
	s = s.channel()
	s.durable("behind the acks")
	s.keep("", "behind the acks", "x")
	_, err := s.ch.QueuePurge("behind the acks", false)
	s.ok(err)
}

func TestRedeliveredSurvivesACleanStop(t *testing.T) {
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	s.durable("jobs")
	s.keep("", "jobs", numbers(1, 4)...)
	s.got("jobs", 2, false)
	l.restart()
	s = l.dial()
	s.wantGot("jobs", "1! 2! 3 4")
	l.restart()
	s = l.dial()
	s.keep("", "jobs", "5")
	s.wantGot("jobs", "5")
}

// TestWhatSurvives restarts the broker, in order and by a crash, over one thing of each kind.
func TestWhatSurvives(t *testing.T) {
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	for _, x := range []string{"lasting", "passing"} {
		s.ok(s.ch.ExchangeDeclare(x, "direct", x == "lasting", false, false, false, nil))
	}
	s.durable("jobs")
	s.ok(s.ch.QueueBind("jobs", "k", "lasting", false, nil))
	_, err := s.ch.QueueDeclare("loose", true, true, false, false, nil) // auto-delete, but durable
	s.ok(err)
	_, err = s.ch.Consume("loose", "", true, false, false, false, nil)
	s.ok(err)
	_, err = s.ch.QueueDeclare("mine", true, false, true, false, nil)
	s.ok(err)
	_, err = s.ch.QueueDeclare("passing", false, false, false, false, nil)
	s.ok(err)
	s.keep("lasting", "k", "kept")
	s.keep("", "mine", "lost")
	s.publish("jobs", "transient")
	l.settled(s)
	for _, again := range []func(){l.restart, l.crash} {
		again()
		s := l.dial()
		for name, there := range map[string]bool{"jobs": true, "loose": true, "mine": false, "passing": false} {
			if got := s.there(name); got != there {
				t.Errorf("queue %s is there: %v", name, got)
			}
		}
		if err := s.channel().ch.ExchangeDeclarePassive("passing", "direct", false, false, false, false, nil); err == nil {
			t.Error("an exchange that is not durable is there")
		}
		if got := s.got("jobs", 10, false); len(got) != 1 || strings.TrimSuffix(got[0], "!") != "kept" {
			t.Errorf("jobs has %q", got)
		}
		s.ok(s.ch.Close())
		s = s.channel()
		s.keep("lasting", "k", "routed")
		if got := s.got("jobs", 10, false); len(got) != 2 || got[1] != "routed" {
			t.Errorf("through the binding came %q", got)
		}
		s.ok(s.ch.Close())
		s = s.channel()
		s.got("jobs", 1, false)
		d, _, err := s.ch.Get("jobs", true)
		if s.ok(err); string(d.Body) != "routed" {
			t.Errorf("got %q", d.Body)
		}
		l.settled(s)
	}
}

// there reports whether a queue is declared.
func (s *session) there(queue string) bool {
	s.t.Helper()
	_, err := s.channel().ch.QueueDeclarePassive(queue, false, false, false, false, nil)
	return err == nil
}

// TestDeletedQueueStaysAway deletes a queue with messages, declares another of the same name, and crashes.
func TestDeletedQueueStaysAway(t *testing.T) {
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	s.durable("jobs")
	s.keep("", "jobs", "old")
	_, err := s.ch.QueueDelete("jobs", false, false, false)
	s.ok(err)
	s.durable("jobs")
	s.keep("", "jobs", "new")
	l.crash()
	l.dial().wantGot("jobs", "new!")
}

// TestTransactionsAreWhole kills the broker again and again while transactions move a message each from one queue to two others.
func TestTransactionsAreWhole(t *testing.T) {
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	for _, q := range []string{"from", "to", "copy"} {
		s.durable(q)
	}
	const messages = 300
	s.keep("", "from", numbers(1, messages)...)
	for round := range 3 {
		moved := make(chan error, 1)
		go func() { moved <- moveAll(l.url()) }()
		l.awaitMoved(round*40 + 20)
		l.kill()
		<-moved
		l.start()
		s := l.dial()
		counts := s.ready("from") + s.ready("to")
		if to, copied := s.ready("to"), s.ready("copy"); counts != messages || to != copied {
			t.Fatalf("round %d: %d in both, %d moved, %d copied", round, counts, to, copied)
		}
	}
	s = l.dial()
	got := s.got("to", messages, true)
	for i, body := range got {
		if want := numbers(i+1, i+1)[0]; strings.TrimSuffix(body, "!") != want {
			t.Fatalf("message %d is %s", i, body)
		}
	}
}

// awaitMoved returns when the queue that messages are moved to holds at least n.
func (l *lives) awaitMoved(n int) {
	l.t.Helper()
	s := l.dial()
	for s.ready("to") < n && s.ready("from") > 0 {
	}
}

// moveAll moves messages, each in a transaction of its own, until there are no more or the connection ends.
func moveAll(url string) error {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Tx(); err != nil {
		return err
	}
	for {
		d, ok, err := ch.Get("from", false)
		if err != nil || !ok {
			return err
		}
		m := amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: d.Body}
		for _, to := range []string{"to", "copy"} {
			if err := ch.Publish("", to, false, false, m); err != nil {
				return err
			}
		}
		if err := d.Ack(false); err != nil {
			return err
		}
		if err := ch.TxCommit(); err != nil {
			return err
		}
	}
}

func TestSecondBrokerIsRefused(t *testing.T) {
	l := newLives(t)
	if l == nil {
		return
	}
	for _, args := range [][]string{
		{"serve", "--amqp-addr", "127.0.0.1:0", "--http-addr", "none", "--metrics-addr", "none", "--data-dir", filepath.Join(l.dir, "data")},
		{"store", "check", filepath.Join(l.dir, "data")},
	} {
		out, err := exec.Command(brokerBinary, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "in use by another process") {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
	s := l.dial()
	s.durable("jobs")
	s.keep("", "jobs", "still there")
	s.wantGot("jobs", "still there")
}

// TestLowDisk runs a broker that wants more free space than there is: a publisher is told and held, a consumer goes on.
func TestLowDisk(t *testing.T) {
	t.Setenv("LEVERET_DISK_FREE_LIMIT_ABSOLUTE", "1000000GB")
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	blocked := s.conn.NotifyBlocked(make(chan amqp091.Blocking, 2))
	s.durable("jobs")
	if err := s.ch.Publish("", "jobs", false, false, amqp091.Publishing{Body: []byte("held")}); err != nil {
		t.Fatal(err)
	}
	if b := receive(t, blocked, "connection.blocked"); !b.Active || b.Reason != "low on disk" {
		t.Errorf("got %+v", b)
	}
	l.dial().wantGot("jobs", "") // nothing got past the alarm
	l.kill()                     // a held connection is not read, so it can't be closed in order
}
