package server_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/store"
)

// logged is a log in memory.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// drops takes the log's lines that tell of dropped messages, without their time.
func (l *logged) drops() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, "dropped") {
			_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
			lines = append(lines, line)
		}
	}
	return lines
}

// Dropped messages are counted each, and the log tells of them in one line a reason every ten seconds, with one of them as an example.
func TestDroppedMessagesAreLoggedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		r := newRigLogging(t, testOptions(), store.NewMemory(), slog.NewTextHandler(&log, nil))
		r.Serve()
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		time.Sleep(500 * time.Millisecond) // between two looks
		drop := func(times int, keys ...string) {
			for range times {
				for _, key := range keys {
					c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(key)}, nil, nil)
				}
			}
			c.mustFlush()
			synctest.Wait()
		}
		expect := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := log.drops(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: logged\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		const unroutable = `level=WARN msg="messages dropped: no queue is bound for them" `
		drop(3, "first", "second")
		time.Sleep(time.Second)
		expect("at first", unroutable+`count=6 vhost=/ exchange="" routing_key=first`)
		drop(1, "third")
		time.Sleep(4 * time.Second)
		drop(4, "fourth", "amq.rabbitmq.reply-to.gone")
		time.Sleep(4 * time.Second)
		expect("for ten seconds")
		time.Sleep(2 * time.Second)
		expect("after ten seconds", unroutable+`count=5 vhost=/ exchange="" routing_key=third`,
			`level=WARN msg="replies dropped: the requester is gone" count=4 vhost=/ exchange="" routing_key=amq.rabbitmq.reply-to.gone`)
		time.Sleep(time.Minute)
		expect("when nothing was dropped")
		if s := r.Stats(); s.Unroutable != 11 || s.ReplyLost != 4 || s.Returned != 0 {
			t.Errorf("%d unroutable, %d replies lost, %d returned; want 11, 4, 0", s.Unroutable, s.ReplyLost, s.Returned)
		}
	})
}
