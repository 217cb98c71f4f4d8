package queue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leveret/queue"
	"leveret/store"
)

// slowLog is a store whose reads can be held up, or fail.
type slowLog struct {
	*store.Memory
	reads, scans atomic.Int32
	hold         atomic.Pointer[chan struct{}] // reads wait until it is closed; nil: they do not
	failing      atomic.Bool
	lost         uint64 // a message that the index does not have
	damaged      uint64 // one that can't be read
}

func (l *slowLog) await() error {
	if hold := l.hold.Load(); hold != nil {
		<-*hold
	}
	if l.failing.Load() {
		return errors.New("no disk")
	}
	return nil
}

// holdUp holds up what is asked from now on; what it returns is to be closed.
func (l *slowLog) holdUp() chan struct{} {
	hold := make(chan struct{})
	l.hold.Store(&hold)
	return hold
}

func (l *slowLog) Scan(number uint64, ranges []store.Range, each func(store.Info) bool) error {
	l.scans.Add(1)
	if err := l.await(); err != nil {
		return err
	}
	return l.Memory.Scan(number, ranges, func(i store.Info) bool { return i.Seq == l.lost || each(i) })
}

func (l *slowLog) Read(number uint64, ranges []store.Range, limit int) (w store.Window, err error) {
	l.reads.Add(1)
	if err = l.await(); err == nil {
		w, err = l.Memory.Read(number, ranges, limit)
		w.Messages = slices.DeleteFunc(w.Messages, func(m store.Message) bool { return m.Seq == l.damaged })
	}
	return w, err
}

func (l *slowLog) Fetch(w *store.Window, number uint64, places []store.Place, buffer func(int, int) []byte) error {
	l.reads.Add(1)
	if err := l.await(); err != nil {
		return err
	}
	places = slices.DeleteFunc(places, func(p store.Place) bool { return p.Seq() == l.damaged })
	return l.Memory.Fetch(w, number, places, buffer)
}

// delayRig is a queue of delayed messages, and where they went, each with its lateness.
type delayRig struct {
	*queue.Queue
	t    *testing.T
	log  *slowLog
	mu   sync.Mutex // guards what follows
	due  map[uint64]time.Time
	went []uint64
	late time.Duration // of the one that was latest
	held bool          // nothing may go
}

func newDelayRig(t *testing.T) *delayRig {
	g := &delayRig{t: t, log: &slowLog{Memory: store.NewMemory()}, due: map[uint64]time.Time{}}
	g.Queue = queue.New(queue.Options{Name: "q", ID: 7, Durable: true, Delayed: true, Log: g.log, Forwarder: g})
	return g
}

func (g *delayRig) Forward(_ *queue.Queue, list []queue.Departure) func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range list {
		d := &list[i]
		if d.Stays = g.held; g.held {
			continue
		}
		want := fmt.Sprintf("1 due %d ", g.due[d.Seq].UnixMilli())
		if late := time.Since(g.due[d.Seq]); !strings.HasPrefix(string(d.Message.Body()), want) || late < 0 {
			g.t.Errorf("%d is %q, want %q; %v late", d.Seq, d.Message.Body(), want, late)
		} else {
			g.late = max(g.late, late)
		}
		g.went = append(g.went, d.Seq)
	}
	return func() { time.Sleep(5 * time.Millisecond) }
}

// hold says whether what is due has to stay.
func (g *delayRig) hold(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = on
}

// publish publishes a persistent message that waits.
func (g *delayRig) publish(wait time.Duration) {
	g.publishText(wait, func(due int64) string { return fmt.Sprintf("1 due %d ", due) })
}

// publishText is publish for a message whose text is to begin as publish's does.
func (g *delayRig) publishText(wait time.Duration, text func(due int64) string) {
	due := time.Now().Add(wait)
	m := newMessage(text(due.UnixMilli()))
	tag := g.Tag(m, &queue.Origin{Due: due.UnixMilli()})
	var logged store.Batch
	logged.Publish(m, tag)
	logged.To(7)
	b := queue.NewBatch()
	b.AddTagged(m, nil, tag)
	var r queue.Receipt
	g.log.Append(&logged, func() {
		r = g.Push(b)
		logged.Pairs()[0].Seq = r.First
	})
	g.mu.Lock()
	g.due[r.First] = due
	g.mu.Unlock()
	if r.Run {
		g.RunHere()
	}
}

// sleep lets time pass, and what is done in it.
func (g *delayRig) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// expect compares how many have gone, how many wait, and what the store has left.
func (g *delayRig) expect(what string, went, waiting int) {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	live := 0
	_ = g.log.Memory.Scan(7, []store.Range{{First: 1, Last: 1 << 40}}, func(store.Info) bool { live++; return true })
	if st := g.Stats(); len(g.went) != went || st.Pending != waiting || st.Leaving != 0 || live != waiting {
		g.t.Errorf("%s: %d went, %d wait, %d are leaving and the store has %d; want %d and %d", what, len(g.went), st.Pending, st.Leaving, live, went, waiting)
	}
}

// delayed runs a test with a queue of delayed messages.
func delayed(test func(g *delayRig)) func(t *testing.T) {
	return func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newDelayRig(t)
			test(g)
			g.Delete(false, false)
			synctest.Wait()
		})
	}
}

// What is due soon is not read back from the disk at all, and what is due later once, before its time, whatever the order in which it is due.
func TestDelayedAreReadBeforeTheirTime(t *testing.T) {
	t.Run("soon", delayed(func(g *delayRig) {
		for i := range 500 {
			g.publish(time.Duration(500+i*7%1000) * time.Millisecond)
		}
		g.sleep(3 * time.Second)
		g.expect("after all were due", 500, 0)
		if g.log.reads.Load()+g.log.scans.Load() != 0 {
			g.t.Errorf("%d reads and %d scans", g.log.reads.Load(), g.log.scans.Load())
		}
	}))
	t.Run("later", delayed(func(g *delayRig) {
		for i := range 2000 {
			g.publish(20*time.Second + time.Duration(i*37%1000)*time.Millisecond)
		}
		g.sleep(20*time.Second - 100*time.Millisecond)
		g.expect("before the first is due", 0, 2000)
		scans, before := g.log.scans.Load(), g.log.reads.Load()
		g.sleep(2 * time.Second)
		g.expect("after all were due", 2000, 0)
		if scans == 0 || g.log.scans.Load() > 4 {
			g.t.Errorf("%d looks into the index before the first was due, and %d after", scans, g.log.scans.Load()-scans)
		}
		if reads := g.log.reads.Load(); before == 0 || before > 4 || reads > 10 {
			g.t.Errorf("%d reads before the first was due, and %d after", before, reads-before)
		}
		if g.late > 16*time.Millisecond {
			g.t.Errorf("a message was %v late", g.late)
		}
	}))
}

// Messages that are dropped while the store is asked when exactly they are due do not come back with its answer.
func TestDelayedAreDroppedDuringASplit(t *testing.T) {
	const messages = 100
	fill := func(g *delayRig) (hold chan struct{}) {
		hold = g.log.holdUp()
		for i := range messages {
			g.publish(20*time.Second + time.Duration(i)*time.Millisecond)
		}
		g.sleep(20*time.Second - 500*time.Millisecond)
		if g.log.reads.Load()+g.log.scans.Load() == 0 {
			g.t.Error("nothing is asked of the store")
		}
		return hold
	}
	t.Run("purge", delayed(func(g *delayRig) {
		hold := fill(g)
		if n, err := g.Purge(); n != messages || err != nil {
			g.t.Errorf("purged %d, %v", n, err)
		}
		close(hold)
		g.sleep(2 * time.Second)
		g.expect("after the purge", 0, 0)
	}))
	t.Run("discard", delayed(func(g *delayRig) {
		hold := fill(g)
		for _, want := range []int{3, 0} {
			if n, err := g.Discard([]uint64{3, 50, 51}); n != want || err != nil {
				g.t.Errorf("%d were discarded, %v; want %d", n, err, want)
			}
		}
		if n := g.Stats().Pending; n != messages-3 {
			g.t.Errorf("%d wait", n)
		}
		close(hold)
		g.sleep(2 * time.Second)
		g.expect("after three were discarded", messages-3, 0)
		if slices.Contains(g.went, 3) || slices.Contains(g.went, 50) || slices.Contains(g.went, 51) {
			g.t.Errorf("went: %v", g.went)
		}
	}))
}

// What can't be read is given up; when nothing can, it is tried again.
func TestDelayedThatCantBeRead(t *testing.T) {
	one := func(g *delayRig) {
		for i := range 100 {
			g.publish(20*time.Second + time.Duration(i)*time.Millisecond)
		}
		g.sleep(22 * time.Second)
		g.mu.Lock()
		defer g.mu.Unlock()
		if st := g.Stats(); len(g.went) != 99 || slices.Contains(g.went, 42) || st.Damaged != 1 || st.Pending+st.Leaving != 0 {
			g.t.Errorf("%d went, %d are damaged, %d wait, %d are leaving", len(g.went), st.Damaged, st.Pending, st.Leaving)
		}
	}
	t.Run("lost", delayed(func(g *delayRig) {
		g.log.lost = 42
		one(g)
	}))
	t.Run("damaged", delayed(func(g *delayRig) {
		g.log.damaged = 42
		one(g)
	}))
	t.Run("failing", delayed(func(g *delayRig) {
		for i := range 100 {
			g.publish(20*time.Second + time.Duration(i)*time.Millisecond)
		}
		g.log.failing.Store(true)
		g.sleep(22 * time.Second)
		g.expect("while the disk fails", 0, 100)
		g.log.failing.Store(false)
		g.sleep(5 * time.Second)
		g.expect("when it works again", 100, 0)
	}))
}

// Messages that are due at the same time keep their order, and wait for the disk's answer in any number.
func TestDelayedKeepTheirOrder(t *testing.T) {
	delayed(func(g *delayRig) {
		const messages = 5000
		for range messages {
			g.publish(20 * time.Second)
		}
		g.sleep(21 * time.Second)
		g.expect("after all were due", messages, 0)
		if !slices.IsSorted(g.went) {
			g.t.Error("messages that are due at the same time did not keep their order")
		}
	})(t)
}

// What is due and has to wait for a moment, as its target or the disk has enough to do, stays in memory.
func TestDelayedThatCantGoYet(t *testing.T) {
	delayed(func(g *delayRig) {
		const messages = 3000
		for i := range messages {
			g.publish(time.Duration(500+i%1000) * time.Millisecond)
		}
		g.hold(true)
		g.sleep(2 * time.Second)
		if st := g.Stats(); st.Leaving == 0 || st.Leaving+st.Pending != messages {
			g.t.Errorf("%d are leaving and %d wait", st.Leaving, st.Pending)
		}
		g.hold(false)
		g.sleep(time.Second)
		g.expect("when they may go", messages, 0)
		if n := g.log.reads.Load() + g.log.scans.Load(); n != 0 {
			g.t.Errorf("the disk was asked %d times", n)
		}
	})(t)
}
