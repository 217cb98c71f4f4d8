package queue_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/queue"
	"leveret/store"
)

func retrying(wait time.Duration) queue.Settings {
	s := queue.DefaultSettings()
	s.RetryType, s.RetryMin = queue.RetryAll, wait.Milliseconds()
	return s
}

// More messages than a turn has room for become due in the same moment.
func TestRetriesOutlastATurn(t *testing.T) {
	const n = 3000
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{Settings: retrying(time.Second)})
		r := g.start(queue.Consumer{Tag: "c"})
		for range n / 100 {
			g.publish(strings.Fields(strings.Repeat("m ", 100))...)
		}
		for seq := range uint64(n) {
			g.settle(r, queue.Requeue, seq+1)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := len(g.journal.deliveries); got != 2*n {
			t.Errorf("delivered %d times, want %d", got, 2*n)
		}
		if s := g.Stats(); s.Pending != 0 {
			t.Errorf("%d messages still wait", s.Pending)
		}
		g.Delete(false, false)
	})
}

// indexedLog is a log whose index knows its messages.
type indexedLog struct{ fakeLog }

func (l *indexedLog) Scan(_ uint64, ranges []store.Range, each func(store.Info) bool) error {
	for _, r := range ranges {
		for _, m := range l.messages {
			if m.Seq >= r.First && m.Seq <= r.Last && !each(store.Info{Seq: m.Seq, Tag: m.Tag}) {
				return nil
			}
		}
	}
	return nil
}

// A message that waits to be tried again when the broker stops waits on after the start, and is not in the way of the others.
func TestRecoveredRetryWaits(t *testing.T) {
	orders := map[string]queue.Options{
		"none":   {},
		"quorum": {Quorum: true},
		"levels": {MaxPriority: 5},
		"fair":   {FairBy: queue.Keying{Source: queue.ByProperty, Name: "routing-key"}},
		"groups": {GroupBy: queue.Keying{Source: queue.ByProperty, Name: "routing-key"}},
	}
	for name, opts := range orders {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := new(indexedLog)
				for seq := range uint64(3) {
					l.messages = append(l.messages, store.Message{Seq: seq + 1, Tag: 3, Body: newMessage(kept)})
				}
				opts.Name, opts.ID, opts.Durable, opts.Log = "q", 7, true, l
				opts.Settings = retrying(time.Second)
				note := func(seq uint64, due time.Duration) store.Note {
					data := binary.AppendUvarint([]byte{1, 1}, uint64(time.Now().Add(due).UnixMilli()))
					return store.Note{Seq: seq, Data: data}
				}
				q := recoverQueue(opts, store.QueueState{
					Next: 4, Live: []store.Range{{First: 1, Last: 3}}, Notes: []store.Note{note(1, 12*time.Second), note(2, -time.Second)},
				}, nil)
				g := &rig{t: t, Queue: q}
				g.outbox = g.newOutbox()
				r := g.start(queue.Consumer{Tag: "c", Prefetch: 5})
				settle := func(want ...uint64) {
					t.Helper()
					time.Sleep(5 * time.Second)
					synctest.Wait()
					var seqs []uint64
					for _, d := range g.journal.deliveries {
						seqs = append(seqs, d.seq)
					}
					g.journal.deliveries = nil
					for _, seq := range seqs {
						g.settle(r, queue.Ack, seq)
					}
					if fmt.Sprint(seqs) != fmt.Sprint(want) {
						t.Errorf("delivered %v, want %v", seqs, want)
					}
				}
				settle(2, 3)
				settle()
				settle(1)
				g.publish("0", "0")
				settle(4, 5)
				g.Delete(false, false)
			})
		})
	}
}

// What is taken out while it waits leaves no weight behind.
func TestDiscardedRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{Settings: retrying(time.Minute)})
		r := g.start(queue.Consumer{Tag: "c"})
		g.publish("a", "b")
		g.settle(r, queue.Requeue, 1)
		if n, err := g.Discard([]uint64{1, 2}); n != 1 || err != nil {
			t.Errorf("discarded %d, %v; one waits, one is held", n, err)
		}
		if s := g.Stats(); s.Bodies != 0 || s.ReadyBytes != 0 || s.Pending != 0 {
			t.Errorf("an empty queue has %d bytes in bodies, %d in all, %d messages that wait", s.Bodies, s.ReadyBytes, s.Pending)
		}
		g.Delete(false, false)
	})
}

// A paused queue gives a consumer nothing more of the groups that it holds either.
func TestPausedGroups(t *testing.T) {
	g := newRig(t, queue.Options{GroupBy: queue.Keying{Source: queue.ByProperty, Name: "routing-key"}})
	g.start(queue.Consumer{Tag: "c"})
	publish := func() {
		b := queue.NewBatch()
		b.AddTagged(newMessage("m"), nil, 9)
		if g.Push(b).Run {
			g.RunHere()
		}
	}
	publish()
	g.took("c1")
	if err := g.Pause(true); err != nil {
		t.Fatal(err)
	}
	publish()
	g.took("")
	if err := g.Pause(false); err != nil {
		t.Fatal(err)
	}
	g.took("c2")
}
