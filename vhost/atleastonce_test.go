package vhost_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// safely is a queue whose dead letters go to the default exchange with a key, at least once.
func safely(key string) func(*vhost.QueueDeclare) {
	return args(arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", key), arg("x-dead-letter-strategy", "at-least-once"),
		arg("x-overflow", "reject-publish"), arg("x-message-ttl", int32(0)), arg("x-queue-type", "quorum"))
}

// What would go in circles would do so whenever it is tried: not even at-least-once keeps it.
func TestCirclesDoNotStay(t *testing.T) {
	h := newHost(t)
	q := h.queue("q", safely("q"))
	h.post(posted{key: "q", persistent: true})
	h.awaits(q, 0)
	h.untilLeaving(q, 0)
	if s := q.Stats(); s.Dropped[queue.Expired] != 1 || h.Cycles() != 1 {
		t.Errorf("%d dropped, %d circles", s.Dropped[queue.Expired], h.Cycles())
	}
}

// A target that begins to refuse messages after it was asked whether it does takes those that must not get lost.
func TestTargetBeginsToRefuse(t *testing.T) {
	h := newHost(t)
	dlq := h.queue("dlq")
	q := h.queue("q", safely("dlq"))
	s := queue.DefaultSettings()
	s.MaxLength, s.Overflow = 0, queue.RejectPublish
	appended := 0
	h.disk.logging = func() {
		if appended++; appended == 2 { // the first is the publish, the second the dead letter
			dlq.Apply(s)
			_, _ = dlq.Counts() // until it obeys
		}
	}
	h.post(posted{key: "q", persistent: true})
	h.awaits(dlq, 1)
	h.untilLeaving(q, 0)
	for of, want := range map[*queue.Queue]int{q: 0, dlq: 1} {
		w, err := h.disk.Read(of.Options().ID, []store.Range{{First: 1, Last: 100}}, 1<<20)
		if err != nil || len(w.Messages) != want {
			t.Errorf("the log has %d messages of %s, %v; want %d", len(w.Messages), of.Name(), err, want)
		}
	}
}

// A message that is replayed into a full queue stays where it was.
func TestReplayIntoAFullQueue(t *testing.T) {
	h := newHost(t)
	h.queue("full", args(arg("x-max-length", int32(0)), arg("x-overflow", "reject-publish")))
	q := h.queue("q")
	h.post(posted{key: "q", persistent: true})
	done, err := h.Replay(t.Context(), q, vhost.Replay{To: &queue.Destination{Key: "full"}})
	if want := (vhost.Replayed{Examined: 1, Matched: 1, Unroutable: 1}); err != nil || done != want {
		t.Fatalf("%+v, %v", done, err)
	}
	h.awaits(q, 1)
	if s := q.Stats(); s.Dropped[queue.Sent]+s.DeadLettered[queue.Sent] != 0 {
		t.Errorf("%d dropped, %d sent", s.Dropped[queue.Sent], s.DeadLettered[queue.Sent])
	}
}

// Who asks for at-least-once and does not get it is told.
func TestAtLeastOnceWithoutRejectPublish(t *testing.T) {
	var log bytes.Buffer
	v, err := vhost.New(vhost.Options{Name: "/", Store: newDisk(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{VHost: v, t: t}
	h.queue("safe", safely("x"))
	h.queue("plain", deadTo("x"))
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
	h.queue("unsafe", deadTo("x", arg("x-dead-letter-strategy", "at-least-once")))
	if got := log.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "at most once") || !strings.Contains(got, "queue=unsafe") {
		t.Errorf("logged: %s", got)
	}
}

// A message that goes to many queues, and many such messages, are gathered in a batch for each.
func TestDeadLettersToManyQueues(t *testing.T) {
	h := newHost(t)
	const queues, messages = 50, 600
	for i := range queues {
		h.queue(fmt.Sprint(i))
		h.bind(fmt.Sprint(i), "amq.fanout", "")
	}
	q := h.queue("q", deadTo("amq.fanout", arg("x-message-ttl", int32(0))))
	for range messages {
		h.post(posted{key: "q"})
	}
	h.awaits(q, 0)
	for i := range queues {
		h.awaits(h.find(fmt.Sprint(i)), messages)
	}
}
