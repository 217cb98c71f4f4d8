package queue_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// gate is a store in memory whose reads and spills wait, or fail, as the test wants.
type gate struct {
	*store.Memory
	open    chan struct{} // reads and spills wait until it is closed
	mu      sync.Mutex
	failure error
	reads   int
	spills  int
	dropped []uint64
}

func newGate() *gate { return &gate{Memory: store.NewMemory(), open: make(chan struct{})} }

func (g *gate) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failure = err
}

func (g *gate) pass(count *int) error {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	*count++
	return g.failure
}

func (g *gate) ReadInto(
	w *store.Window, queue uint64, ranges []store.Range, limit int, buffer func(size, messages int) []byte,
) error {
	if err := g.pass(&g.reads); err != nil {
		return err
	}
	return g.Memory.ReadInto(w, queue, ranges, limit, buffer)
}

func (g *gate) Spill(queue uint64, messages []store.Message) error {
	if err := g.pass(&g.spills); err != nil {
		return err
	}
	return g.Memory.Spill(queue, messages)
}

func (g *gate) DropQueue(queue uint64) {
	g.mu.Lock()
	g.dropped = append(g.dropped, queue)
	g.mu.Unlock()
	g.Memory.DropQueue(queue)
}

// recovered is a queue with ten messages, all of them on disk.
func recovered(t *testing.T, g *gate) *rig {
	var b store.Batch
	for range 10 {
		b.Publish(encoded("m"), 0)
		b.To(7)
	}
	g.Append(&b, func() {
		for i := range b.Pairs() {
			b.Pairs()[i].Seq = uint64(i + 1)
		}
	})
	state := store.QueueState{ID: 7, Next: 11, Live: []store.Range{{First: 1, Last: 10}}, Messages: 10}
	r := &rig{t: t, Queue: recoverQueue(queue.Options{Name: "q", VHost: "/", ID: 7, Durable: true, Log: g}, state, nil)}
	r.outbox = r.newOutbox()
	return r
}

// waitingGet is a basic.get on a goroutine of its own.
func waitingGet(r *rig) chan error {
	answer := make(chan error, 1)
	go func() {
		found, err := r.get(true)
		if err == nil && !found {
			err = errors.New("empty")
		}
		answer <- err
	}()
	synctest.Wait()
	return answer
}

// A get that waits for the disk is answered when the queue goes, is purged, or the disk fails; other commands do not wait for it.
func TestWaitingGetIsAnswered(t *testing.T) {
	broken := errors.New("no disk")
	tests := map[string]struct {
		event func(t *testing.T, r *rig, g *gate)
		want  string
	}{
		"delete": {func(t *testing.T, r *rig, _ *gate) {
			if n, err := r.Delete(false, false); n != 10 || err != nil {
				t.Errorf("deleted with %d, %v", n, err)
			}
		}, queue.ErrClosed.Error()},
		"purge": {func(t *testing.T, r *rig, _ *gate) {
			if n, err := r.Purge(); n != 10 || err != nil {
				t.Errorf("purged %d, %v", n, err)
			}
		}, "empty"},
		"failure": {func(_ *testing.T, _ *rig, g *gate) {
			g.fail(broken)
			close(g.open)
		}, "no disk"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate()
				r := recovered(t, g)
				answer := waitingGet(r)
				r.holds(queue.Counts{Ready: 10})
				tt.event(t, r, g)
				if err := <-answer; err == nil || err.Error() != tt.want {
					t.Errorf("the get was answered %v, want %s", err, tt.want)
				}
				if name != "failure" {
					close(g.open)
				}
				synctest.Wait()
			})
		})
	}
}

// A read that failed is tried again after a while, not at once.
func TestFailedReadIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		close(g.open)
		g.fail(errors.New("no disk"))
		r := recovered(t, g)
		r.start(queue.Consumer{Tag: "c"})
		synctest.Wait()
		g.fail(nil)
		r.Counts()
		synctest.Wait()
		if g.reads != 1 || len(r.journal.deliveries) != 0 {
			t.Errorf("%d reads, %d deliveries", g.reads, len(r.journal.deliveries))
		}
		r.Tend()
		synctest.Wait()
		if len(r.journal.deliveries) != 10 {
			t.Errorf("%d deliveries after a while", len(r.journal.deliveries))
		}
	})
}

// Transient messages that are too many go to disk, and leave nothing there when the queue goes; if they can't, they stay in memory.
func TestSpill(t *testing.T) {
	const size, messages = 4 << 10, 400
	for _, failure := range []error{nil, errors.New("disk is full")} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			close(g.open)
			g.fail(failure)
			b := queue.NewBudget(0)
			b.Squeeze(6) // half a megabyte
			r := newRig(t, queue.Options{Log: g, Budget: b})
			r.Tend()
			synctest.Wait()
			m := amqp.Message(encoded(strings.Repeat("x", size)))
			m.SetProperties(2, &amqp.PropertyIndex{DeliveryMode: 1}, 0)
			text := string(m)
			for range messages {
				r.publish(text)
				synctest.Wait()
			}
			used := b.Used()
			if spilled := failure == nil; spilled != (used < messages*size/2) || g.spills == 0 {
				t.Errorf("failure %v: %d bytes in memory, %d spills", failure, used, g.spills)
			}
			r.holds(queue.Counts{Ready: messages})
			for range messages / 2 {
				r.get(true)
			}
			for i, d := range r.journal.deliveries {
				if d.seq != uint64(i+1) || d.text != text {
					t.Fatalf("delivery %d is message %d of %d bytes", i, d.seq, len(d.text))
				}
			}
			if _, err := r.Delete(false, false); err != nil {
				t.Error(err)
			}
			if failure == nil && !slices.Equal(g.dropped, []uint64{1}) {
				t.Errorf("dropped %v", g.dropped)
			}
			if b.Used() != 0 {
				t.Errorf("%d bytes in memory of a queue that is gone", b.Used())
			}
		})
	}
}

// Windows shrink while queues keep more than the budget allows, one step at a time, and grow again when that is long over.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		close(g.open)
		b := queue.NewBudget(64 << 10)
		r := newRig(t, queue.Options{ID: 7, Durable: true, Log: g, Budget: b})
		var logged store.Batch
		for i := range 200 {
			batch := queue.NewBatch()
			m := encoded(strings.Repeat("x", 1000))
			batch.Add(amqp.Message(m), nil)
			logged.Publish(m, 0)
			logged.To(7)
			run := false
			g.Append(&logged, func() { got := r.Push(batch); logged.Pairs()[0].Seq, run = got.First, got.Run })
			if run {
				r.RunHere()
			}
			if i%50 == 49 {
				r.Tend()
				synctest.Wait()
			}
		}
		before := b.Used()
		for range 8 {
			b.Adjust()
			r.Tend()
			synctest.Wait()
		}
		if used := b.Used(); before < 200_000 || used > 64<<10 {
			t.Errorf("%d bytes in memory, %d after the budget was adjusted", before, used)
		}
		r.holds(queue.Counts{Ready: 200})
		r.start(queue.Consumer{Tag: "c", NoAck: true})
		synctest.Wait()
		if n := len(r.journal.deliveries); n != 200 {
			t.Errorf("%d deliveries", n)
		}
		for range 20 {
			b.Adjust()
		}
		r.Tend()
		synctest.Wait()
		if b.Used() != 0 {
			t.Errorf("%d bytes in an empty queue", b.Used())
		}
	})
}
