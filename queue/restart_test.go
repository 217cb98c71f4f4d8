package queue_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// lives is a durable queue on a disk, which is started again and again.
type lives struct {
	*rig
	t    *testing.T
	dir  string
	disk *store.Disk
	opts queue.Options
	ago  int64 // ms before now at which what is published says that it was
}

func newLives(t *testing.T, opts queue.Options) *lives {
	l := &lives{t: t, dir: t.TempDir(), opts: opts}
	l.opts.Name, l.opts.ID, l.opts.Durable = "q", 1, true
	l.open(nil)
	return l
}

func (l *lives) open(returned []store.Range) {
	var err error
	if l.disk, err = store.Open(l.dir, store.DefaultOptions()); err != nil {
		l.t.Fatal(err)
	}
	l.opts.Log = l.disk
	state := store.QueueState{ID: 1, Next: 1}
	l.disk.Queues(func(s store.QueueState) {
		if s.ID == 1 {
			state = s
		}
	})
	q, err := queue.Recover(l.opts, state, returned)
	if err != nil {
		l.t.Fatal(err)
	}
	l.rig = &rig{t: l.t, Queue: q}
	l.outbox = l.newOutbox()
}

// restart stops and starts the queue and its disk. What came back before is known to have been delivered.
func (l *lives) restart() {
	l.t.Helper()
	returned := l.Returned()
	l.close()
	l.open(returned)
}

func (l *lives) close() {
	if err := l.disk.Close(context.Background()); err != nil {
		l.t.Fatal(err)
	}
}

// logged publishes persistent messages with a routing key, each "text" or "text:priority". unknown has the log lose their tags, as it
// does when another queue wants other ones.
func (l *lives) logged(key string, unknown bool, texts ...string) {
	for _, text := range texts {
		index := amqp.PropertyIndex{DeliveryMode: amqp.Persistent}
		if _, priority, ok := strings.Cut(text, ":"); ok {
			index.Flags = amqp.FlagPriority
			fmt.Sscan(priority, &index.Priority)
		}
		p := amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "x-delay", Value: int32(100)}}}
		raw := p.AppendTo(nil)
		m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte(key)), raw...))
		m.SetProperties(len(raw), &index, time.Now().UnixMilli()-l.ago)
		m = append(m, text...)
		tag := uint32(0)
		if l.Tagged() {
			tag = l.Tag(m, &queue.Origin{Due: time.Now().UnixMilli() + 100})
		}
		inLog := tag
		if unknown {
			inLog = queue.UnknownTag
		}
		var b store.Batch
		b.Publish(m, inLog)
		b.To(1)
		batch := queue.NewBatch()
		if l.Tagged() {
			batch.AddTagged(m, nil, tag)
		} else {
			batch.Add(m, nil)
		}
		l.disk.Append(&b, func() {
			r := l.Push(batch)
			b.Pairs()[0].Seq = r.First
			if r.Run {
				go l.Run()
			}
		})
	}
}

// all gets all messages and returns their texts, with "!" for one that was delivered before.
func (l *lives) all(noAck bool) string {
	l.t.Helper()
	for {
		found, err := l.get(noAck)
		if err != nil {
			l.t.Fatal(err)
		}
		if !found {
			break
		}
	}
	var words []string
	for _, d := range l.journal.deliveries {
		if words = append(words, d.text); d.redelivered {
			words[len(words)-1] += "!"
		}
	}
	l.journal.deliveries = nil
	return strings.Join(words, " ")
}

func (l *lives) want(what, got, want string) {
	l.t.Helper()
	if got != want {
		l.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// A start puts the messages into their order by what the log's index knows of them, and reads those of which it knows nothing; also when the first
// are gone.
func TestOrderAfterRestart(t *testing.T) {
	byKey := queue.Keying{Source: queue.ByProperty, Name: "routing-key"}
	for _, unknown := range []bool{false, true} {
		l := newLives(t, queue.Options{MaxPriority: 5})
		l.logged("", unknown, "x:5", "a:1", "b:3", "c", "d:9", "e:3")
		if found, err := l.get(true); !found || err != nil {
			t.Fatal(found, err)
		}
		l.journal.deliveries = nil
		l.restart()
		l.logged("", unknown, "f:4")
		l.want("priorities", l.all(true), "d:9 f:4 b:3 e:3 a:1 c")
		l.close()

		l = newLives(t, queue.Options{FairBy: byKey})
		l.logged("a", unknown, "a1", "a2", "a3")
		l.logged("b", unknown, "b1", "b2")
		l.restart()
		l.want("fairness", l.all(true), "a1 b1 a2 b2 a3")
		l.close()

		l = newLives(t, queue.Options{GroupBy: byKey})
		l.logged("a", unknown, "a1", "a2")
		l.logged("b", unknown, "b1")
		l.restart()
		l.want("groups", l.all(false), "a1 b1") // the second of a has to wait for the first
		l.restart()
		l.close()
	}
}

// What messages waited before a restart counts after it, also for those that are read later than others.
func TestAgingAfterRestart(t *testing.T) {
	s := queue.DefaultSettings()
	s.PriorityAging = 100_000 // a test takes less, so all wait for as long as they say
	for _, tended := range []bool{false, true} {
		l := newLives(t, queue.Options{MaxPriority: 9, Settings: s})
		l.ago = 550_000
		l.logged("", false, "old:0")
		l.ago = 0
		l.logged("", false, "new:3", "newer:4")
		l.restart()
		if tended {
			l.until("the head is read", func() bool {
				l.Tend()
				return l.Stats().DiskReads > 0
			})
		}
		l.want("aging", l.all(true), "old:0 newer:4 new:3")
		l.close()
	}
}

// A queue that refuses what it has no room for has as much room after a restart as before it, though what is in it was not read yet and its records are
// larger than its bodies. Until the first look at the head it goes by a guess.
func TestRoomAfterRestart(t *testing.T) {
	s := queue.DefaultSettings()
	s.MaxBytes, s.Overflow = 100, queue.RejectPublish
	l := newLives(t, queue.Options{Settings: s})
	l.logged("a.long.routing.key", false, strings.Fields(strings.Repeat("0123456789 ", 9))...)
	l.restart()
	l.until("there is room for 10 bytes, and not for 11", func() bool {
		l.Tend()
		return !l.Full(10) && l.Full(11)
	})
	l.close()
}

// A quorum queue's returned messages are redelivered after a restart, counts and all.
func TestAttemptsAfterRestart(t *testing.T) {
	s := queue.DefaultSettings()
	s.CountReturns = queue.CountFailed
	l := newLives(t, queue.Options{Quorum: true, Settings: s})
	r := l.start(queue.Consumer{Tag: "c", Prefetch: 1})
	l.logged("", false, "m")
	l.waitDelivered(1)
	l.settle(r, queue.Requeue, 1)
	l.waitDelivered(2)
	l.settle(r, queue.Return, 1)
	l.waitDelivered(3)
	l.cancel(r)
	l.settle(r, queue.Return, 1)
	l.restart()
	r = l.start(queue.Consumer{Tag: "c", Prefetch: 1})
	l.waitDelivered(1)
	l.want("counts", attemptHeaders(t, r.last), "3/1")
	l.cancel(r)
	l.restart()
	l.close()
}

// waitDelivered waits until so many messages were delivered since the journal was emptied.
func (l *lives) waitDelivered(count int) {
	l.t.Helper()
	l.until(fmt.Sprint(count, " deliveries come"), func() bool {
		if _, err := l.Counts(); err != nil {
			l.t.Fatal(err)
		}
		l.outbox.Lock()
		defer l.outbox.Unlock()
		return len(l.journal.deliveries) >= count
	})
}

// until waits for what must come, for as long as a slow machine may need.
func (l *lives) until(what string, holds func() bool) {
	l.t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("%s: not so", what)
		}
	}
}

// retries is a queue with priorities in which what comes back waits for so many ms, and a consumer of it that holds the message "high:4".
func retries(t *testing.T, ms int64) (*lives, *receiver) {
	s := queue.DefaultSettings()
	s.RetryType, s.RetryMin = queue.RetryAll, ms
	l := newLives(t, queue.Options{MaxPriority: 5, Settings: s})
	r := l.start(queue.Consumer{Tag: "c", Prefetch: 1})
	l.logged("", false, "high:4")
	l.waitDelivered(1)
	return l, r
}

// A message that waits to be tried again goes on waiting after a restart.
func TestRetryWaitsAfterRestart(t *testing.T) {
	l, r := retries(t, time.Hour.Milliseconds())
	l.settle(r, queue.Requeue, 1)
	l.logged("", false, "low:1")
	l.waitDelivered(2)
	l.cancel(r)
	l.settle(r, queue.Ack, 2)
	l.logged("", false, "middle:2")
	l.restart()
	counts, err := l.Counts()
	if err != nil || counts.Ready != 1 || l.Stats().Pending != 1 {
		t.Fatalf("%+v, %v, %d wait", counts, err, l.Stats().Pending)
	}
	l.want("while it waits", l.all(true), "middle:2")
	l.close()
}

// When its time has come after a restart, it comes back to its own priority.
func TestRetryAfterRestart(t *testing.T) {
	const wait = 1500
	l, r := retries(t, wait)
	l.cancel(r)
	begun := time.Now()
	l.settle(r, queue.Requeue, 1)
	l.logged("", false, "middle:2")
	l.restart()
	l.until("nothing waits", func() bool { return l.Stats().Pending == 0 })
	if waited := time.Since(begun); waited < (wait-2)*time.Millisecond { // queues count in milliseconds, and read their clock once in each
		t.Errorf("waited for %v", waited)
	}
	l.want("order", l.all(true), "high:4! middle:2")
	if n, err := l.Counts(); err != nil || n.Ready != 0 {
		t.Errorf("%d are left, %v", n.Ready, err)
	}
	l.close()
}

// dueLetters counts what a delay queue gives up, and when the first came.
type dueLetters struct {
	count atomic.Int32
	first atomic.Int64 // Unix ms
}

func (d *dueLetters) Forward(_ *queue.Queue, list []queue.Departure) func() {
	d.first.CompareAndSwap(0, time.Now().UnixMilli())
	d.count.Add(int32(len(list)))
	return nil
}

func TestDelaysAfterRestart(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		out := new(dueLetters)
		l := newLives(t, queue.Options{Delayed: true, Forwarder: out})
		begun := time.Now().UnixMilli()
		l.logged("", unknown, "a", "b")
		l.restart()
		l.until("both came", func() bool { return out.count.Load() >= 2 })
		if waited := out.first.Load() - begun; out.count.Load() != 2 || waited < 98 {
			t.Errorf("%d came, the first after %d ms", out.count.Load(), waited)
		}
		l.Returned()
		l.close()
	}
}

// A dead letter that waits for somebody to take it is not ready again after a restart: it waits on, for the same reason, and goes then.
func TestDeadLettersWaitOnAfterRestart(t *testing.T) {
	for name, c := range map[string]struct {
		outcome queue.Outcome
		limit   int64
		atLeast bool
		leaving int
	}{
		"rejected":              {queue.Reject, queue.DefaultSettings().DeliveryLimit, true, 2},
		"came back too often":   {queue.Requeue, 0, true, 2},
		"rejected, as it comes": {queue.Reject, queue.DefaultSettings().DeliveryLimit, false, 0}, // at most once: nobody promised to keep it
	} {
		t.Run(name, func(t *testing.T) {
			f := new(stubborn)
			s := queue.DefaultSettings()
			s.DeadLetter, s.AtLeastOnce, s.DeliveryLimit = true, c.atLeast, c.limit
			l := newLives(t, queue.Options{Settings: s, Forwarder: f})
			l.logged("", false, kept+"a", kept+"b", kept+"c")
			l.want("before", l.all(false), "1a 1b 1c")
			l.settle(nil, c.outcome, 1, 3)
			l.restart()
			if st := l.Stats(); st.Leaving != c.leaving || st.Ready != 3-c.leaving {
				t.Errorf("%d wait, %d are ready", st.Leaving, st.Ready)
			}
			f.open = true
			l.until("they have gone", func() bool {
				l.Tend()
				return l.Stats().Leaving == 0
			})
			if st := l.Stats(); int(st.DeadLettered[queue.Rejected]+st.DeadLettered[queue.DeliveryLimit]) != c.leaving {
				t.Errorf("%d and %d went", st.DeadLettered[queue.Rejected], st.DeadLettered[queue.DeliveryLimit])
			}
			l.Delete(false, false)
			l.close()
		})
	}
}

// How large the bodies are that a start found is known once the first of them was read, though their records are many times larger.
func TestBodiesAfterRestart(t *testing.T) {
	const messages, size = 5000, 16
	l := newLives(t, queue.Options{})
	l.logged(strings.Repeat("a.long.routing.key.", 10), false, slices.Repeat([]string{strings.Repeat("x", size)}, messages)...)
	l.restart()
	l.until("the guess is right", func() bool {
		l.Tend()
		n := l.Stats().Bodies
		return n > messages*size*9/10 && n < messages*size*11/10
	})
	if n := len(strings.Fields(l.all(true))); n != messages || l.Stats().Bodies != 0 {
		t.Errorf("got %d messages, %d bytes are left", n, l.Stats().Bodies)
	}
	l.close()
}

// The age of the next message is known, wherever it is: one that only the disk has is read for that. Until then it is that of the last in memory.
func TestAgeOfTheNextMessage(t *testing.T) {
	for name, opts := range map[string]queue.Options{"classic": {}, "quorum": {Quorum: true}, "priorities": {MaxPriority: 5}} {
		t.Run(name, func(t *testing.T) {
			l := newLives(t, opts)
			l.ago = 5000
			r := l.start(queue.Consumer{Tag: "c", Prefetch: 1})
			l.logged("", false, "m", "n")
			l.waitDelivered(1)
			l.cancel(r)
			l.settle(r, queue.Return, 1)
			if st := l.Stats(); st.Ready != 2 || st.Head == 0 {
				t.Errorf("%d are ready, the first since %d", st.Ready, st.Head)
			}
			known := func() bool {
				l.Tend()
				age := time.Since(time.UnixMilli(l.Stats().Head))
				return age >= 5*time.Second && age < time.Hour
			}
			l.until("it came back", known)
			l.restart()
			l.until("a start found it", known)
			l.close()
		})
	}
}
