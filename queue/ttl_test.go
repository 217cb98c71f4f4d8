package queue_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// exit is a Forwarder that notes what leaves: when, in ms since its start, why, and the text.
type exit struct {
	mu    sync.Mutex
	begun time.Time
	left  []string
	stays int // forwards that have to stay, first
}

func newExit() *exit { return &exit{begun: time.Now()} }

func (x *exit) Forward(_ *queue.Queue, list []queue.Departure) func() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range list {
		if x.stays > 0 {
			list[i].Stays = true
			x.stays--
			continue
		}
		d := &list[i]
		x.left = append(x.left, fmt.Sprintf("%d:%v:%s", time.Since(x.begun).Milliseconds(), d.Reason, d.Message.Body()))
	}
	return nil
}

// took compares what has left since the last call.
func (x *exit) took(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	if got := strings.Join(x.left, " "); got != want {
		t.Errorf("what has left is %q, want %q", got, want)
	}
	x.left = nil
}

// timed runs a test in a bubble with a queue that has these settings.
func timed(t *testing.T, change func(*queue.Options, *queue.Settings), test func(t *testing.T, g *rig, x *exit)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x, s := newExit(), queue.DefaultSettings()
		s.DeadLetter = true
		opts := queue.Options{Name: "q", Forwarder: x}
		change(&opts, &s)
		opts.Settings = s
		g := newRig(t, opts)
		test(t, g, x)
		_, _ = g.Delete(false, false)
	})
}

// mortal publishes a message with an expiration of its own, in ms; none if that is negative.
func (g *rig) mortal(text string, expiration int64) {
	m := newMessage(text)
	if expiration >= 0 {
		m.SetExpiration(uint64(expiration))
	}
	batch := queue.NewBatch()
	if g.Tagged() {
		batch.AddTagged(m, nil, g.Tag(m, new(queue.Origin)))
	} else {
		batch.Add(m, nil)
	}
	if g.Push(batch).Run {
		g.RunHere()
	}
}

func ms(n int) { time.Sleep(time.Duration(n) * time.Millisecond) }

func TestTTLAtTheHead(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) { s.TTL = 100 }, func(t *testing.T, g *rig, x *exit) {
		g.mortal("a", -1)
		g.mortal("b", 1000) // the queue's is smaller
		g.mortal("c", 30)   // its own is, but others stand before it
		ms(99)
		x.took(t, "")
		g.holds(queue.Counts{Ready: 3})
		ms(1)
		x.took(t, "100:expired:a 100:expired:b 100:expired:c")
	})
}

func TestTTLZero(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) { s.TTL = 0 }, func(t *testing.T, g *rig, x *exit) {
		g.mortal("a", -1)
		x.took(t, "0:expired:a")
		r := g.start(queue.Consumer{Tag: "c", Prefetch: 1})
		g.mortal("b", -1)
		g.mortal("c", -1)
		x.took(t, "0:expired:c")
		g.took("c2")
		ms(10)
		g.settle(r, queue.Requeue, 2) // its time is up when it comes back
		x.took(t, "10:expired:b")
		g.took("")
	})
}

// A message keeps the limit under which it came.
func TestTTLChanges(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) { s.TTL = 100 }, func(t *testing.T, g *rig, x *exit) {
		g.mortal("a", -1)
		s := g.Settings()
		s.TTL = 20
		g.Apply(s)
		synctest.Wait()
		g.mortal("b", -1)
		s.TTL = -1
		g.Apply(s)
		synctest.Wait()
		g.mortal("c", -1)
		ms(99)
		x.took(t, "")
		ms(1)
		x.took(t, "100:expired:a 100:expired:b")
		ms(10_000)
		g.holds(queue.Counts{Ready: 1})
	})
}

// What stands behind others goes within a second all the same, if the queue was declared so; what a consumer holds is left alone.
func TestTTLAnywhere(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) { s.ExpireAnywhere = true }, func(t *testing.T, g *rig, x *exit) {
		r := g.start(queue.Consumer{Tag: "c", Prefetch: 1})
		g.mortal("held", 100)
		g.mortal("first", -1)
		for i := range 2500 { // more than a turn removes
			g.mortal(fmt.Sprint(i), 200)
		}
		ms(1200)
		synctest.Wait()
		g.holds(queue.Counts{Ready: 1, Unacked: 1, Consumers: 1})
		if len(x.left) != 2500 {
			t.Fatalf("%d have left", len(x.left))
		}
		x.left = nil
		g.cancel(r)
		g.settle(r, queue.Return, 1)
		x.took(t, "1200:expired:held")
	})
}

// With priorities the head is that of the highest level; in a quorum queue each level has one.
func TestTTLWithLevels(t *testing.T) {
	for quorum, want := range map[bool]string{false: "", true: "50:expired:low"} {
		timed(t, func(o *queue.Options, _ *queue.Settings) { o.Quorum, o.MaxPriority = quorum, 5 }, func(t *testing.T, g *rig, x *exit) {
			g.mortal("low", 50)
			m := newMessage("high")
			m.SetProperties(2, &amqp.PropertyIndex{Flags: amqp.FlagPriority, Priority: 3, DeliveryMode: 1}, time.Now().UnixMilli())
			batch := queue.NewBatch()
			batch.AddTagged(m, nil, g.Tag(m, new(queue.Origin)))
			if g.Push(batch).Run {
				g.RunHere()
			}
			ms(50)
			x.took(t, want)
		})
	}
}

func TestExpires(t *testing.T) {
	timed(t, func(o *queue.Options, s *queue.Settings) { s.Expires = 100 }, func(t *testing.T, g *rig, x *exit) {
		ms(90)
		g.mortal("a", -1) // that is no use
		ms(9)
		if _, err := g.Counts(); err != nil { // but this is
			t.Fatal(err)
		}
		ms(99)
		if _, err := g.get(false); err != nil {
			t.Fatal(err)
		}
		ms(99)
		r := g.start(queue.Consumer{Tag: "c"})
		ms(1000)
		g.cancel(r)
		ms(99)
		synctest.Wait()
		if g.Closed() {
			t.Fatal("deleted too early")
		}
		s := g.Settings()
		s.Expires = 50 // a policy that changes counts from then on
		g.Apply(s)
		ms(49)
		synctest.Wait()
		if g.Closed() {
			t.Fatal("deleted too early")
		}
		ms(1)
		synctest.Wait()
		if !g.Closed() {
			t.Fatal("nobody uses the queue, and it is still there")
		}
		x.took(t, "") // deletion is no death
	})
}

func TestExpiredIsTold(t *testing.T) {
	var told atomic.Int32
	timed(t, func(o *queue.Options, s *queue.Settings) {
		s.Expires = 10
		o.Expired = func(*queue.Queue) { told.Add(1) }
	}, func(t *testing.T, g *rig, _ *exit) {
		ms(10)
		synctest.Wait()
	})
	if told.Load() != 1 {
		t.Errorf("told %d times", told.Load())
	}
}

// What can't go yet is tried again after a second at the latest, and does not hold up the queue.
func TestForwardStays(t *testing.T) {
	timed(t, func(_ *queue.Options, s *queue.Settings) { s.TTL = 10 }, func(t *testing.T, g *rig, x *exit) {
		x.stays = 1
		g.mortal("a", -1)
		ms(10)
		x.took(t, "")
		if s := g.Stats(); s.Leaving != 1 || s.Ready != 0 {
			t.Fatalf("%d leave, %d are ready", s.Leaving, s.Ready)
		}
		g.start(queue.Consumer{Tag: "c", NoAck: true})
		g.mortal("b", -1)
		g.took("c2")
		ms(100)
		g.Tend()
		x.took(t, "110:expired:a")
		if s := g.Stats(); s.Leaving != 0 || s.DeadLettered[queue.Expired] != 1 {
			t.Fatalf("%d leave, %v", s.Leaving, s.DeadLettered)
		}
	})
}
