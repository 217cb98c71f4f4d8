package perf

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestWindowFollowsModel publishes and confirms in any order that a broker may, and compares with a plain set of open tags.
func TestWindowFollowsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(rt, "size")
		w := newWindow(size)
		var open []uint64
		var entered, acked, nacked uint64
		rt.Repeat(map[string]func(*rapid.T){
			"publish": func(rt *rapid.T) {
				free := w.free()
				if free == 0 {
					return
				}
				n := rapid.Uint64Range(1, free).Draw(rt, "n")
				w.enter(n, int64(entered), 1)
				for range n {
					entered++
					open = append(open, entered)
				}
				if len(open) > size {
					rt.Fatalf("%d are open, over the window of %d", len(open), size)
				}
			},
			"confirm": func(rt *rapid.T) {
				if len(open) == 0 {
					return
				}
				tag := rapid.SampledFrom(open).Draw(rt, "tag")
				multiple, ack := rapid.Bool().Draw(rt, "multiple"), rapid.Bool().Draw(rt, "ack")
				before := len(open)
				open = slices.DeleteFunc(open, func(t uint64) bool { return t == tag || multiple && t < tag })
				if n := uint64(before - len(open)); ack {
					acked += n
				} else {
					nacked += n
				}
				if err := w.settle(tag, multiple, ack, int64(entered)); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				c := w.confirms
				if c.acked != acked || c.nacked != nacked || c.latency.count != acked || w.settled.Load() != acked+nacked {
					rt.Fatalf("acked %d, nacked %d of %d, want %d and %d", c.acked, c.nacked, w.settled.Load(), acked, nacked)
				}
				if len(open) == 0 && w.free() != uint64(size) {
					rt.Fatalf("nothing is open, and %d of %d are free", w.free(), size)
				}
				if uint64(len(open)) > entered-w.lowest.Load()+1 {
					rt.Fatalf("%d are open from %d to %d", len(open), w.lowest.Load(), entered)
				}
			},
		})
	})
}

func TestWindowRefusesWhatWasNotPublished(t *testing.T) {
	w := newWindow(4)
	w.enter(2, 0, 0)
	for _, tag := range []uint64{0, 3, 1 << 63} {
		if err := w.settle(tag, false, true, 0); err == nil {
			t.Errorf("tag %d of 2 is settled", tag)
		}
	}
}

func TestConfirmedTwiceCountsOnce(t *testing.T) {
	w := newWindow(4)
	w.enter(3, 0, 0)
	for _, tag := range []uint64{2, 2, 1, 1, 2} {
		if err := w.settle(tag, false, true, 0); err != nil {
			t.Fatal(err)
		}
	}
	if w.confirms.acked != 2 || w.free() != 3 {
		t.Errorf("%d acked, %d free", w.confirms.acked, w.free())
	}
}

// TestStuckTagStopsTheProducer holds that the ring is not run over while one old message stays unconfirmed.
func TestStuckTagStopsTheProducer(t *testing.T) {
	w := newWindow(4)
	w.enter(1, 0, 0)
	for range 100 {
		n := w.free()
		if n == 0 {
			break
		}
		w.enter(n, 0, 0)
		if err := w.settle(w.entered.Load(), false, true, 0); err != nil {
			t.Fatal(err)
		}
	}
	if reach := w.entered.Load() - w.lowest.Load() + 1; w.free() != 0 || reach > uint64(len(w.ring)) {
		t.Errorf("%d tags in a ring of %d, %d free", reach, len(w.ring), w.free())
	}
}
