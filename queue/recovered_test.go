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
					if _, err := g.Counts(); err != nil { // whoever runs the queue next sees that the journal is empty
						t.Error(err)
					}
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

// What a start finds, and what comes back, is not dropped because its size was guessed too high: the keys and properties count for nothing.
func TestGuessedSizesDropNothing(t *testing.T) {
	l := new(indexedLog)
	for seq := range uint64(10) {
		l.messages = append(l.messages, store.Message{Seq: seq + 1, Body: newMessage(kept + strings.Repeat("m", 9))})
	}
	large := kept + strings.Repeat("m", 29)
	l.messages = append(l.messages, store.Message{Seq: 11, Body: newMessage(large)}) // published later
	s := queue.DefaultSettings()
	s.MaxBytes = 100
	q := recoverQueue(queue.Options{ID: 7, Durable: true, Log: l, Settings: s}, store.QueueState{
		Next: 11, Bytes: 10_000, Live: []store.Range{{First: 1, Last: 10}},
	}, nil)
	g := &rig{t: t, Queue: q}
	g.outbox = g.newOutbox()
	if n, err := g.Counts(); n.Ready != 10 || err != nil {
		t.Fatalf("%+v, %v", n, err)
	}
	r := g.start(queue.Consumer{Tag: "c"})
	for g.Stats().Unacked < 10 {
		if _, err := g.Counts(); err != nil {
			t.Fatal(err)
		}
	}
	g.cancel(r)
	g.settle(r, queue.Ack, 1)
	g.settle(r, queue.Requeue, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	if n, err := g.Counts(); n.Ready != 9 || err != nil {
		t.Errorf("%+v, %v, of 9 that came back", n, err)
	}
	// What is too much is dropped when its size is known.
	g.publish(large)
	for g.Stats().Dropped[queue.MaxLength] < 2 {
		if _, err := g.Counts(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := g.Counts(); n.Ready != 8 || err != nil {
		t.Errorf("%+v, %v, want 8", n, err)
	}
	g.Returned()
}
