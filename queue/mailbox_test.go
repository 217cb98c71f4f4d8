package queue_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"leveret/queue"
)

// The number that a push gives is a message's place, however many publishers push: what is delivered goes up by one.
func TestConcurrentPushes(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := newRig(t, queue.Options{})
	g.start(queue.Consumer{Tag: "a", NoAck: true})
	const publishers, batches = 8, 100
	var all sync.WaitGroup
	pushed := make([]map[uint64]string, publishers)
	for p := range publishers {
		pushed[p] = map[uint64]string{}
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(p), 0))
			for range batches {
				texts := make([]string, 1+random.IntN(20))
				for i := range texts {
					texts[i] = fmt.Sprint(p, " ", random.Uint64())
				}
				for i, first := 0, g.publish(texts...); i < len(texts); i++ {
					pushed[p][first+uint64(i)] = texts[i]
				}
			}
		})
	}
	all.Wait()
	total := 0
	for _, p := range pushed {
		total += len(p)
	}
	g.settled()
	if len(g.journal.deliveries) != total {
		t.Fatalf("%d messages delivered, %d pushed", len(g.journal.deliveries), total)
	}
	for i, d := range g.journal.deliveries {
		var publisher int
		fmt.Sscan(d.text, &publisher)
		if d.seq != uint64(i+1) || pushed[publisher][d.seq] != d.text {
			t.Fatalf("delivery %d has number %d, pushed as %q, is %q", i+1, d.seq, pushed[publisher][d.seq], d.text)
		}
	}
}

// settled waits until the queue has done what it was asked before: a command is answered in the middle of a turn, the one after it
// in the next turn at the earliest.
func (g *rig) settled() {
	for range 2 {
		g.Counts()
	}
	for g.Stats().Ready > 0 && g.Stats().Consumers > 0 {
		g.Counts()
	}
}

// Publishers that race against a deletion get numbers without a gap, then none.
func TestPushesAndDelete(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 50 {
		g := newRig(t, queue.Options{})
		var publishers sync.WaitGroup
		var mu sync.Mutex
		taken, highest := 0, uint64(0)
		for range 3 {
			publishers.Go(func() {
				for {
					first := g.publish("1", "2")
					if first == 0 {
						return
					}
					mu.Lock()
					taken, highest = taken+2, max(highest, first+1)
					mu.Unlock()
				}
			})
		}
		ready, err := g.Delete(false, false)
		publishers.Wait()
		if err != nil || uint64(taken) != highest || ready > taken {
			t.Fatalf("%d taken up to number %d, %d deleted, %v", taken, highest, ready, err)
		}
	}
}

// Whoever pushed sees it in what the queue answers afterwards, whoever runs the queue meanwhile.
func TestAnswersIncludeOwnPushes(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := newRig(t, queue.Options{})
	var publishers sync.WaitGroup
	for range 4 {
		publishers.Go(func() {
			for own := 1; own <= 200; own++ {
				g.publish("m")
				if counts, err := g.Counts(); err != nil || counts.Ready < own {
					t.Errorf("%d ready, %v; %d pushed by this publisher alone", counts.Ready, err, own)
				}
			}
		})
	}
	publishers.Wait()
	if n, err := g.Purge(); n != 800 || err != nil {
		t.Errorf("purged %d, %v; want 800", n, err)
	}
}

// What takes longer than a caller wants to work for the queue is done by a goroutine, which ends.
func TestRunHereHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		for range 10_000 {
			g.publish("m")
		}
		a := g.start(queue.Consumer{Tag: "a"})
		synctest.Wait()
		if n := len(g.journal.deliveries); n != 10_000 || a.consumer.Queue() != g.Queue {
			t.Errorf("%d delivered", n)
		}
		for i, d := range g.journal.deliveries {
			if d.seq != uint64(i+1) {
				t.Fatalf("delivery %d has number %d", i+1, d.seq)
			}
		}
	})
}

// A receiver that was asked to wait may say from any goroutine that it has room, and does not run the queue itself.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		a := g.consumer(queue.Consumer{Tag: "a", NoAck: true})
		a.room = 0
		if err := g.consume(a); err != nil {
			t.Fatal(err)
		}
		g.publish("1", "2", "3", "4")
		for _, want := range []string{"a1 a2", "a3 a4"} {
			a.room = 2
			a.consumer.Resume()
			synctest.Wait()
			g.took(want)
		}
		if a.refused != 2 {
			t.Errorf("refused %d times, want 2", a.refused)
		}
	})
}

// full returns a queue whose mailbox is over its limit, and that nobody runs yet.
func full(t *testing.T) *rig {
	g := newRig(t, queue.Options{})
	const size = 64 << 10
	pushed := 0
	for ; !g.Pressed(); pushed += size {
		b := queue.NewBatch()
		b.Add(newMessage(strings.Repeat("x", size-messageSize)), nil)
		if r := g.Push(b); r.Run != (pushed == 0) {
			t.Fatalf("after %d bytes: told to run the queue: %v", pushed, r.Run)
		}
	}
	if pushed <= queue.MailboxLimit-size || pushed > queue.MailboxLimit+size {
		t.Fatalf("pressed by %d bytes", pushed)
	}
	return g
}

// waiting starts a publisher that waits for room. It returns for how long it did, negative while it still waits.
func (g *rig) waiting(stop <-chan struct{}) (waited func() time.Duration) {
	var took atomic.Int64
	took.Store(-1)
	start := time.Now()
	go func() {
		g.WaitRoom(stop, queue.FlowWait)
		took.Store(int64(time.Since(start)))
	}()
	return func() time.Duration {
		synctest.Wait()
		return time.Duration(took.Load())
	}
}

func TestWaitRoomUntilTheQueueRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := full(t)
		first, second := g.waiting(nil), g.waiting(nil)
		time.Sleep(time.Second)
		if !g.Pressed() || first() >= 0 || second() >= 0 {
			t.Errorf("a full mailbox: pressed %v, publishers waited %v, %v", g.Pressed(), first(), second())
		}
		g.Run()
		if g.Pressed() || first() != time.Second || second() != time.Second {
			t.Errorf("an empty mailbox: pressed %v, publishers waited %v, %v", g.Pressed(), first(), second())
		}
	})
}

func TestWaitRoomStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := full(t), make(chan struct{})
		waited := g.waiting(stop)
		if waited() >= 0 {
			t.Error("went on with a full mailbox")
		}
		close(stop)
		if waited() != 0 {
			t.Errorf("waited %v after it was told to stop", waited())
		}
		g.Run()
	})
}

// A backlog slows publishers down only while the queue delivers from it, and for no longer than FlowWait at a time.
func TestWaitRoomOfABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := full(t)
		g.Run()
		for range queue.FlowLimit / queue.MailboxLimit {
			g.publish(string(make([]byte, queue.MailboxLimit)))
		}
		if waited := g.waiting(nil); g.Pressed() || waited() != 0 {
			t.Errorf("nobody consumes: pressed %v, waited %v", g.Pressed(), waited())
		}
		a := g.start(queue.Consumer{Tag: "a", Prefetch: 1})
		if waited := g.waiting(nil); !g.Pressed() || waited() >= 0 {
			t.Errorf("delivering: pressed %v, waited %v", g.Pressed(), waited())
		} else {
			time.Sleep(queue.FlowWait)
			if waited() != queue.FlowWait || g.Pressed() {
				t.Errorf("waited %v, want %v; pressed still: %v", waited(), queue.FlowWait, g.Pressed())
			}
		}
		g.settle(a, queue.Ack, 1)
		if !g.Pressed() {
			t.Error("delivering again, and not pressed")
		}
		g.Purge()
		if waited := g.waiting(nil); g.Pressed() || waited() != 0 {
			t.Errorf("purged: pressed %v, waited %v", g.Pressed(), waited())
		}
	})
}
