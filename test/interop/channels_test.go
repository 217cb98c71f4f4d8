package interop

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// What counts for heartbeats is the tune-ok. The broker under test proposes 1 s: a silent client that agrees is sent heartbeats and
// then dropped, one that wants none is neither, for more than three times as long.
func TestHeartbeatZero(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "heartbeat.conf")
	if err := os.WriteFile(config, []byte("heartbeat = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := ownBroker(t, "--config", config)
	quiet := agreeOn(t, b, 0)
	quiet.open(1)
	var silence time.Duration
	for silence < 4*time.Second {
		silence += silent(t, b)
	}
	quiet.send(1, &amqp.QueueDeclare{Queue: freshName(t), Exclusive: true})
	f, err := quiet.read() // not next, which would pass over heartbeats
	if err != nil || f.Type != frame.TypeMethod || f.MethodID() != amqp.MethodQueueDeclareOk {
		t.Errorf("after %v of silence: %s, %v, want the queue.declare-ok", silence, frame.Dump(f), err)
	}
}

// A client may agree on less than the proposal.
func TestHeartbeatBelowTheProposal(t *testing.T) {
	t.Parallel()
	if lived := silent(t, shared); lived < 1500*time.Millisecond || lived > patience/2 {
		t.Errorf("a silent client with heartbeat 1 was dropped after %v, want 2 to 3 s", lived)
	}
}

// agreeOn opens a connection with that heartbeat.
func agreeOn(t *testing.T, b *broker, heartbeat uint16) *wire {
	t.Helper()
	w := startWire(t, b)
	tune := offer()
	tune.Heartbeat = heartbeat
	w.send(0, &tune)
	call[*amqp.ConnectionOpenOk](w, 0, &amqp.ConnectionOpen{VirtualHost: "/"})
	return w
}

// silent opens a connection with heartbeat 1 and says nothing. It wants heartbeats and then the end, without a frame, and returns the
// time until then.
func silent(t *testing.T, b *broker) time.Duration {
	t.Helper()
	w := agreeOn(t, b, 1)
	begin, heartbeats := time.Now(), 0
	for {
		f, err := w.read()
		switch {
		case ended(err):
			if heartbeats < 2 {
				t.Errorf("the broker sent %d heartbeats in %v, want one each half second", heartbeats, time.Since(begin))
			}
			return time.Since(begin)
		case err != nil || f.Type != frame.TypeHeartbeat:
			t.Fatalf("got %s, %v, want heartbeats or the end", frame.Dump(f), err)
		}
		heartbeats++
	}
}

func TestChannelNumbers(t *testing.T) {
	t.Parallel()
	two := offer()
	two.ChannelMax = 2
	missing := amqp.BasicPublish{Exchange: []byte(freshName(t))}
	cases := []struct {
		name  string
		play  func(w *wire)
		code  uint16
		words string
	}{
		{"opened twice", func(w *wire) {
			w.open(1)
			w.send(1, &amqp.ChannelOpen{})
		}, 504, "CHANNEL_ERROR - second 'channel.open' seen"},
		{"opened before close-ok", func(w *wire) {
			w.open(1)
			w.write(w.message(1, missing, amqp.Properties{}, nil))
			expect[*amqp.ChannelClose](w, 1)
			w.send(1, &amqp.ChannelOpen{})
		}, 504, "CHANNEL_ERROR - second 'channel.open' seen"},
		{"never opened", func(w *wire) {
			w.open(1)
			w.send(7, &amqp.QueueDeclare{Exclusive: true})
		}, 504, "CHANNEL_ERROR - expected 'channel.open'"},
		{"one more than agreed", func(w *wire) {
			w.open(1, 2)
			w.send(3, &amqp.ChannelOpen{})
		}, 530, "NOT_ALLOWED - number of channels opened (2) has reached the negotiated channel_max (2)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := tunedWire(t, two)
			c.play(w)
			w.wantEnd(c.code, c.words)
		})
	}
}

// After close-ok a number is free at once, whoever closed the channel.
func TestNumberIsFreeAfterCloseOk(t *testing.T) {
	t.Parallel()
	one := offer()
	one.ChannelMax = 1
	w := tunedWire(t, one)
	missing := freshName(t)
	for range 10 {
		w.open(1)
		w.write(w.message(1, amqp.BasicPublish{Exchange: []byte(missing)}, amqp.Properties{}, nil))
		w.wantClosed(1, 404, "NOT_FOUND - no exchange '"+missing+"' in vhost '/'")
		w.open(1)
		call[*amqp.ChannelCloseOk](w, 1, &amqp.ChannelClose{ReplyCode: 200})
	}
}
