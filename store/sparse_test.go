package store

import (
	"testing"
	"time"
)

// paced begins a store that moves a rate of bytes a second, with so many sealed segments of 60 messages each, of which the first few are alive.
//
// The store looks too, but is always too early: all segments are as if they were watched since a time that is far ahead, and the tests look then.
func paced(t *testing.T, rate int64, alive ...int) (l *life, from time.Time) {
	return pacedOf(t, 60, 1000, rate, alive...)
}

// pacedOf is paced for segments of so many messages of a size.
func pacedOf(t *testing.T, messages, size int, rate int64, alive ...int) (l *life, from time.Time) {
	from = time.Now().Add(24 * time.Hour)
	l = begin(t, t.TempDir(), newFaultFS(), func(o *Options) { o.RelocateRate = rate })
	for range alive {
		l.confirmed(l.send(1, messages, size))
	}
	for range lagging + 1 {
		l.confirmed(l.send(2, messages, size))
	}
	l.until("all are saved", func() bool { return l.savedSegments() >= len(alive) })
	l.fadeFrom(from)
	for i, n := range alive {
		l.Settle(1, []Range{{uint64(messages*i + n + 1), uint64(messages * (i + 1))}})
	}
	l.applied()
	l.fadeFrom(from)
	return l, from
}

func (l *life) savedSegments() (n int) {
	all := l.logSegments()
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	for _, seg := range all {
		if seg.saved {
			n++
		}
	}
	return n
}

// chosen is what sparse says at a time, as the number of messages that are alive in each.
func (l *life) chosen(now time.Time) (refs []int) {
	list := l.sparse(now)
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	for _, seg := range list {
		refs = append(refs, seg.refs)
	}
	return refs
}

func (l *life) wantChosen(what string, now time.Time, want ...int) {
	l.t.Helper()
	got := l.chosen(now)
	if len(got) != len(want) {
		l.t.Fatalf("%s: segments with %d messages are moved, want %d", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			l.t.Fatalf("%s: segments with %d messages are moved, want %d", what, got, want)
		}
	}
}

// A sparse segment is moved once nothing of what it holds has gone for a while; as long as much goes it is left alone.
func TestFadingSegmentsAreLeftAlone(t *testing.T) {
	l, at := paced(t, 1<<30, 10)
	defer l.end()
	l.wantChosen("at first", at)
	l.wantChosen("a moment later", at.Add(fadeLook/2))
	for i := range 4 {
		l.Settle(1, []Range{{uint64(10 - i), uint64(10 - i)}})
		l.applied()
		at = at.Add(fadeLook)
		l.wantChosen("while it fades", at)
	}
	l.wantChosen("before it has rested for long", at.Add(fadeLook-1))
	l.wantChosen("when it has rested", at.Add(fadeLook), 6)
}

// So is one that holds next to nothing: a record that a hundred queues had counts for a few bytes when one of them has it still.
func TestNearlyEmptySegmentsAreNotFading(t *testing.T) {
	at := time.Now()
	for disk := range int64(2 * fadePart) {
		seg := &segment{disk: disk}
		if !seg.fading(at) || seg.fading(at.Add(fadeLook)) {
			t.Errorf("a segment with %d bytes that stay is left alone for ever, or not at all", disk)
		}
	}
}

// fadeFrom has the watch of all segments begin at a time.
func (l *life) fadeFrom(at time.Time) {
	all := l.logSegments()
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	for _, seg := range all {
		seg.fade = fade{at, seg.disk}
	}
}

// What moves in a second is bounded, and the emptiest segments come first.
func TestSurvivorsMoveAtARate(t *testing.T) {
	l, at := paced(t, 7000, 3, 12, 1, 5, 2)
	defer l.end()
	at = at.Add(fadeLook)
	l.wantChosen("at first", at, 1, 2, 3)
	l.wantChosen("too early for more", at.Add(time.Second/2))
	l.wantChosen("a second later", at.Add(time.Second), 1, 2, 3)
}

// Large messages stay in their segments, and only the dead ones between them are punched out: no other segment waits for that.
func TestPunchingTakesNoTime(t *testing.T) {
	l, at := pacedOf(t, 15, 4000, 1, 1, 2, 3)
	defer l.end()
	at = at.Add(fadeLook)
	for _, want := range []int{1, 2, 3} {
		list := l.sparse(at)
		if len(list) != 1 || list[0].refs != want {
			t.Fatalf("%d segments are moved, want one with %d messages", len(list), want)
		}
		if err := l.relocate(list[0]); err != nil || !list[0].punched {
			t.Fatalf("it was punched: %v, %v", list[0].punched, err)
		}
	}
}

// On a full disk nothing waits: room is all that counts.
func TestAllSurvivorsMoveOnAFullDisk(t *testing.T) {
	l, _ := paced(t, 1, 3, 12)
	defer l.end()
	l.SetMinFree(1 << 62)
	l.until("all have moved", func() bool { return bodiesIn(t, l.Disk) >= 15 })
	l.has(1, Range{1, 3}, Range{61, 72})
}
