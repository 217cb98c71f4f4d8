package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// begun publishes messages that are due in 20 s, one each millisecond, and lets time pass until the store is asked for the first of them, which takes until
// hold is closed.
func (g *delayRig) begun(messages int) (hold chan struct{}) {
	for i := range messages {
		g.publish(20*time.Second + time.Duration(i)*time.Millisecond)
	}
	g.sleep(20*time.Second - 700*time.Millisecond)
	if g.log.scans.Load() == 0 || g.log.reads.Load() != 0 {
		g.t.Errorf("%d scans and %d reads before the messages are read", g.log.scans.Load(), g.log.reads.Load())
	}
	hold = g.log.holdUp()
	g.sleep(600 * time.Millisecond)
	if g.log.reads.Load() == 0 {
		g.t.Error("nothing is read")
	}
	return hold
}

// Messages that are dropped while they are read do not come back with what was read, nor are those of them delivered that are still there.
func TestDelayedAreDroppedWhileTheyAreRead(t *testing.T) {
	t.Run("purge", delayed(func(g *delayRig) {
		hold := g.begun(300)
		if n, err := g.Purge(); n != 300 || err != nil {
			g.t.Errorf("purged %d, %v", n, err)
		}
		close(hold)
		g.sleep(2 * time.Second)
		g.expect("after the purge", 0, 0)
	}))
	t.Run("discard", delayed(func(g *delayRig) {
		hold := g.begun(300)
		if n, err := g.Discard([]uint64{3, 50, 51}); n != 3 || err != nil {
			g.t.Errorf("%d were discarded, %v", n, err)
		}
		close(hold)
		g.sleep(2 * time.Second)
		g.expect("after three were discarded", 297, 0)
		if slices.Contains(g.went, 3) || slices.Contains(g.went, 50) {
			g.t.Errorf("went: %v", g.went)
		}
	}))
}

// When the disk takes longer than it was given, what is due waits for it, keeps its order, and is not asked for again.
func TestDelayedOnASlowDisk(t *testing.T) {
	delayed(func(g *delayRig) {
		hold := g.begun(300)
		g.sleep(2 * time.Second)
		g.expect("while the disk is busy", 0, 300)
		reads := g.log.reads.Load()
		close(hold)
		g.sleep(time.Second)
		g.expect("when it has answered", 300, 0)
		if !slices.IsSorted(g.went) {
			g.t.Error("they did not keep their order")
		}
		if n := g.log.reads.Load(); n != reads {
			g.t.Errorf("%d more reads", n-reads)
		}
	})(t)
}

// What is due in the same moment, and is more than is kept in memory, is read piece by piece, and goes all the same.
func TestDelayedAreMoreThanThereIsRoomFor(t *testing.T) {
	delayed(func(g *delayRig) {
		const messages = 80
		for range messages {
			g.publishSized(20*time.Second, 1<<20)
		}
		g.sleep(20*time.Second - 100*time.Millisecond)
		if n := g.Stats().InMemoryBodies; n < 20<<20 || n > 34<<20 {
			g.t.Errorf("%d bytes are in memory, want about 32 MiB", n)
		}
		g.sleep(time.Second)
		g.expect("after all were due", messages, 0)
		if !slices.IsSorted(g.went) {
			g.t.Error("they did not keep their order")
		}
	})(t)
}

// publishSized is publish for a message of about a size.
func (g *delayRig) publishSized(wait time.Duration, size int) {
	g.publishText(wait, func(due int64) string { return fmt.Sprintf("1 due %d %s", due, strings.Repeat("x", size)) })
}
