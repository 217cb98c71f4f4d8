package queue

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leveret/store"
)

// timelineModel is a timeline and, beside it, when each of its messages is due.
type timelineModel struct {
	timeline
	due   map[uint64]uint32
	split *timeline // what is being split up, with its messages
	away  []uint64
	next  uint64
}

func (m *timelineModel) ahead(n uint64) int32 { return int32(m.due[n] - m.unit) }

func (m *timelineModel) put(ahead uint32) {
	m.next++
	m.due[m.next] = m.unit + ahead
	m.add(m.next, m.due[m.next])
}

// let lets go what is due, as the queue does; a slot is split up at once, or in another timeline that is merged later.
func (m *timelineModel) let(t *rapid.T) {
	for {
		level, slot, at, ok := m.timeline.next()
		if !ok || int32(at-m.unit) > 0 {
			m.checkNext(t, at, ok)
			return
		}
		apart := level > 0 && m.split == nil && rapid.Bool().Draw(t, "apart")
		if apart {
			m.split = &timeline{unit: m.unit}
		}
		m.take(level, slot).Each(0, func(r store.Range) bool {
			for n := r.First; n <= r.Last; n++ {
				switch {
				case apart:
					m.split.add(n, m.due[n])
					m.away = append(m.away, n)
				case level > 0:
					m.add(n, m.due[n])
				case m.ahead(n) > 0:
					t.Fatalf("message %d goes %d units too early", n, m.ahead(n))
				default:
					delete(m.due, n)
				}
			}
			return true
		})
	}
}

// checkNext checks that nothing is overdue, and that the timeline wants to be looked at again before the next message is due.
func (m *timelineModel) checkNext(t *rapid.T, at uint32, ok bool) {
	for n := range m.due {
		if slices.Contains(m.away, n) {
			continue
		}
		if m.ahead(n) <= 0 {
			t.Fatalf("message %d is %d units late", n, -m.ahead(n))
		}
		if !ok || int32(at-m.unit) > m.ahead(n) {
			t.Fatalf("woken in %d units (%t), but message %d is due in %d", int32(at-m.unit), ok, n, m.ahead(n))
		}
	}
}

func (m *timelineModel) join(t *rapid.T) {
	if m.split != nil {
		m.merge(m.split)
		m.split, m.away = nil, nil
		m.let(t)
	}
}

func (m *timelineModel) check(t *rapid.T) {
	var found Set
	m.each(func(s *Set) {
		s.Each(0, func(r store.Range) bool {
			found.AddRange(r)
			return true
		})
	})
	if want := len(m.due) - len(m.away); m.count != want || found.Len() != want {
		t.Fatalf("counts %d messages and has %d, want %d", m.count, found.Len(), want)
	}
}

// Whatever comes in, near, far or late, and however time goes by, across the place where units come round too: each message comes out once, as soon
// as it is due, and not before.
func TestTimelineModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &timelineModel{due: map[uint64]uint32{}}
		m.unit = rapid.OneOf(rapid.SampledFrom([]uint32{1000, math.MaxUint32 - 500, 1<<31 - 300}), rapid.Uint32()).Draw(t, "begin")
		ahead := rapid.OneOf(rapid.Uint32Range(0, 10), rapid.Uint32Range(0, 400), rapid.Uint32Range(0, 20_000), rapid.Uint32Range(0, 1<<22),
			rapid.Uint32Range(0, math.MaxInt32))
		step := rapid.OneOf(rapid.Uint32Range(0, 10), rapid.Uint32Range(0, 300), rapid.Uint32Range(0, 100_000), rapid.Uint32Range(0, 1<<28))
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(t, "messages") {
					m.put(ahead.Draw(t, "ahead"))
				}
				m.let(t)
			},
			"add late": func(t *rapid.T) {
				m.put(-rapid.Uint32Range(1, 1000).Draw(t, "late"))
				m.let(t)
			},
			"pass": func(t *rapid.T) {
				m.unit += step.Draw(t, "units")
				m.let(t)
			},
			"remove": func(t *rapid.T) {
				n := rapid.Uint64Range(1, m.next+1).Draw(t, "n")
				_, want := m.due[n]
				if slices.Contains(m.away, n) {
					return
				}
				if got := m.remove(n); got != want {
					t.Fatalf("removed %d: %t, want %t", n, got, want)
				}
				delete(m.due, n)
			},
			"join": m.join,
			"":     m.check,
		})
		m.join(t)
		for len(m.due) > 0 { // two years at most
			m.unit += 1 << 29
			m.let(t)
			m.join(t)
			m.check(t)
		}
	})
}

// A tag tells the time to 16 ms, upwards, a year ahead and as far back.
func TestDueTag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(0, 1<<43).Draw(t, "now")
		due := now + rapid.Int64Range(-1<<34, 1<<34).Draw(t, "ahead")
		tag := dueTag(max(due, 0))
		if tag == 0 || tag == UnknownTag {
			t.Fatalf("%d has the tag %d, which means something else", due, tag)
		}
		if got := dueTime(tag, now); got-max(due, 0) > 48 || got < due-32 {
			t.Fatalf("due at %d, told at %d as %d", due, now, got)
		}
	})
}
