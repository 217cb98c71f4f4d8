package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"leveret/queue"
)

// tend lets a second go by.
func (g *rig) tend() {
	g.Tend()
	synctest.Wait()
}

// scribble overwrites memory of a released chunk, as its next publisher does.
func scribble(t *testing.T, k *queue.Chunk) {
	t.Helper()
	if !isReleased(k) {
		t.Error("a chunk is pinned by messages that should have been copied")
		return
	}
	clear(k.Bytes[:cap(k.Bytes)])
}

// texts are messages that can be told apart, of these sizes.
func texts(sizes ...int) (all []string) {
	for i, size := range sizes {
		all = append(all, strings.Repeat(string(rune('a'+i%26)), size))
	}
	return all
}

// delivers compares all that was delivered with what was published, in order.
func (g *rig) delivers(want []string) {
	g.t.Helper()
	if len(g.journal.deliveries) != len(want) {
		g.t.Errorf("%d delivered, want %d", len(g.journal.deliveries), len(want))
		return
	}
	for i, d := range g.journal.deliveries {
		if d.text != want[i] {
			g.t.Errorf("delivery %d, number %d, is %.9q... of %d bytes; want %.9q... of %d", i, d.seq, d.text, len(d.text), want[i], len(want[i]))
		}
	}
}

// What a queue still holds at the second Tend after it came gets memory of the queue's own, ready or not.
func TestTendCopiesWhatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		a := g.start(queue.Consumer{Tag: "a", Prefetch: 1})
		published := texts(1, 100, 4096, 4097, 16<<10, 16<<10+1, 32<<10)
		k := g.inChunk(published...)
		g.tend()
		if isReleased(k) {
			t.Error("copied at once")
		}
		late := g.inChunk("late")
		g.tend()
		scribble(t, k)
		if isReleased(late) {
			t.Error("copied at once, behind others")
		}
		g.tend()
		scribble(t, late)
		g.cancel(a)
		g.settle(a, queue.Requeue, 1)
		g.journal.deliveries = nil
		g.start(queue.Consumer{Tag: "b", NoAck: true})
		g.delivers(append(published, "late"))
	})
}

// Copying takes several turns when there is much to copy, and goes on by itself.
func TestTendCopiesMuch(t *testing.T) {
	for name, c := range map[string]struct{ chunks, messages, size int }{
		"many":  {20, 1000, 20},
		"large": {60, 4, 30 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, queue.Options{})
				var chunks []*queue.Chunk
				var published []string
				for i := range c.chunks {
					part := make([]string, c.messages)
					for j := range part {
						part[j] = fmt.Sprintf("%*d %d", c.size-10, i, j)
					}
					chunks = append(chunks, g.inChunk(part...))
					published = append(published, part...)
				}
				g.tend()
				g.tend()
				for _, k := range chunks {
					scribble(t, k)
				}
				g.holds(queue.Counts{Ready: len(published)})
				g.start(queue.Consumer{Tag: "a", NoAck: true})
				synctest.Wait()
				g.delivers(published)
			})
		})
	}
}

// A message that has memory of its own stays where it is.
func TestTendLeavesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		m := newMessage("m")
		b := queue.NewBatch()
		b.Add(m, nil)
		g.Push(b)
		g.Run()
		g.tend()
		g.tend()
		if a := g.start(queue.Consumer{Tag: "a"}); &a.last[0] != &m[0] {
			t.Error("copied")
		}
	})
}

// An idle queue is not run by Tend, however full it is.
func TestTendIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		g.inChunk("1", "2")
		for range 3 {
			g.tend()
		}
		if allocs := testing.AllocsPerRun(100, g.Tend); allocs != 0 {
			t.Errorf("%v allocations with nothing to copy", allocs)
		}
	})
}
