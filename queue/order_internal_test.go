package queue

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leveret/store"
)

// place is what the model of an order knows of a message.
type place struct {
	tag  uint32
	back int // when it came back, counted; 0 for one that did not
	size int
}

// orderModel drives an order and knows what is in it. Each kind of order says by itself which message has to be the first.
type orderModel struct {
	order
	ready   map[uint64]place
	tags    *rapid.Generator[uint32]
	next    uint64
	returns int
	first   func(t *rapid.T, got uint64) // fails if the first is another
	served  func(n uint64, p place)
}

func newOrderModel(o order, tags ...uint32) *orderModel {
	return &orderModel{
		order: o, ready: map[uint64]place{}, tags: rapid.SampledFrom(tags),
		first: func(*rapid.T, uint64) {}, served: func(uint64, place) {},
	}
}

// oldest is the lowest number of those that the function wants; the highest there is if it wants none.
func (m *orderModel) oldest(wanted func(p place) bool) uint64 {
	lowest := uint64(math.MaxUint64)
	for n, p := range m.ready {
		if wanted(p) {
			lowest = min(lowest, n)
		}
	}
	return lowest
}

func (m *orderModel) doAdd(t *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(t, "messages") {
		m.next++
		p := place{tag: m.tags.Draw(t, "tag"), size: rapid.SampledFrom([]int{1, 5000, 40_000}).Draw(t, "size")}
		m.ready[m.next] = p
		m.add(m.next, p.tag)
	}
}

// doServe takes some messages from the head, as a queue does that delivers, and puts some of them back.
func (m *orderModel) doServe(t *rapid.T) {
	for range rapid.IntRange(1, 6).Draw(t, "served") {
		n, ok := m.order.first()
		if ok != (len(m.ready) > 0) {
			t.Fatalf("there is a first message: %t, of %d", ok, len(m.ready))
		}
		if !ok {
			return
		}
		p, ready := m.ready[n]
		if !ready {
			t.Fatalf("the first message is %d, which is not ready", n)
		}
		m.first(t, n)
		m.order.served(n, p.tag, p.size)
		m.served(n, p)
		m.remove(n, p.tag)
		delete(m.ready, n)
		if rapid.IntRange(0, 3).Draw(t, "back") == 0 {
			m.returns++
			p.back = m.returns
			m.ready[n] = p
			m.order.back(n, p.tag)
		}
	}
}

// doTake takes a message out that is somewhere, with its tag or without.
func (m *orderModel) doTake(t *rapid.T) {
	if len(m.ready) == 0 {
		return
	}
	n := rapid.SampledFrom(slices.Sorted(maps.Keys(m.ready))).Draw(t, "n")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		m.forget(n)
	case 1:
		m.remove(n, m.ready[n].tag)
	default:
		m.remove(n, m.tags.Draw(t, "another tag"))
	}
	delete(m.ready, n)
}

func (m *orderModel) doFilter(t *rapid.T) {
	modulus := rapid.Uint64Range(2, 5).Draw(t, "modulus")
	m.filter(func(n uint64) bool { return n%modulus > 0 })
	maps.DeleteFunc(m.ready, func(n uint64, _ place) bool { return n%modulus == 0 })
}

// check compares all that is in the order, and the heads of its lanes, which have to be some of that.
func (m *orderModel) check(t *rapid.T) {
	seen := map[uint64]bool{}
	m.each(func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			if seen[n] {
				t.Fatalf("message %d is there twice", n)
			}
			seen[n] = true
		}
		return true
	})
	if want := slices.Sorted(maps.Keys(m.ready)); !slices.Equal(slices.Sorted(maps.Keys(seen)), want) {
		t.Fatalf("has %v, want %v", slices.Sorted(maps.Keys(seen)), want)
	}
	first, ok := m.order.first()
	isHead := !ok
	m.heads(func(n uint64) bool {
		if !seen[n] {
			t.Fatalf("the head %d of a lane is not ready", n)
		}
		isHead = isHead || n == first
		return true
	})
	if !isHead {
		t.Fatalf("the first message, %d, is no lane's head", first)
	}
}

func (m *orderModel) run(t *rapid.T, more map[string]func(*rapid.T)) {
	actions := map[string]func(*rapid.T){
		"add": m.doAdd, "add more": m.doAdd, "serve": m.doServe, "serve more": m.doServe, "take": m.doTake, "filter": m.doFilter, "": m.check,
	}
	maps.Copy(actions, more)
	t.Repeat(actions)
}

// The highest level is served first, each in the order of coming.
func TestLevelsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newLevels(rapid.SampledFrom([]int{2, 11, 100, 256}).Draw(t, "levels"), 1)
		m := newOrderModel(o, 0, 1, 2, 3, 64, 65, 100, 256)
		m.first = func(t *rapid.T, got uint64) {
			top := 0
			for _, p := range m.ready {
				top = max(top, o.level(p.tag))
			}
			if want := m.oldest(func(p place) bool { return o.level(p.tag) == top }); got != want {
				t.Fatalf("the first is %d, want %d of level %d", got, want, top)
			}
		}
		m.run(t, nil)
	})
}

// After a number of messages of the highest level the one is served that has waited longest, of all levels below.
func TestLevelsBurst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newLevels(10, 0)
		o.burst = rapid.IntRange(1, 4).Draw(t, "burst")
		m := newOrderModel(o, 1, 2, 3, 9)
		run := 0
		m.first = func(t *rapid.T, got uint64) {
			top := 0
			for _, p := range m.ready {
				top = max(top, o.level(p.tag))
			}
			below := m.oldest(func(p place) bool { return o.level(p.tag) < top })
			want := m.oldest(func(p place) bool { return o.level(p.tag) == top })
			if below < math.MaxUint64 && run >= o.burst {
				want = below
			}
			if got != want {
				t.Fatalf("after %d messages the first is %d, want %d", run, got, want)
			}
			if run++; want == below || below == math.MaxUint64 {
				run = 0
			}
		}
		m.run(t, nil)
	})
}

// A message that has waited stands higher by a level for each interval.
func TestLevelsAging(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, came := int64(1), map[uint64]int64{}
		o := newLevels(10, 0)
		o.aging, o.seen = 10, make([]birth, 10)
		o.published = func(n uint64) (int64, bool) { return came[n], true }
		m := newOrderModel(o, 1, 2, 3, 9)
		height := func(n uint64) int64 { return int64(o.level(m.ready[n].tag))*o.aging - came[n] }
		m.first = func(t *rapid.T, got uint64) {
			best := got
			for n, p := range m.ready {
				head := m.oldest(func(other place) bool { return o.level(other.tag) == o.level(p.tag) })
				if n == head && height(n) > height(best) {
					best = n
				}
			}
			if best != got {
				t.Fatalf("the first is %d, which stands at %d; %d stands at %d", got, height(got), best, height(best))
			}
		}
		m.run(t, map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				m.doAdd(t)
				for n := range m.ready {
					if _, ok := came[n]; !ok {
						came[n] = now
					}
				}
			},
			"add more": func(*rapid.T) { now += 7 },
		})
	})
}

// A message that was not in memory yet is asked for before one is chosen, and what was seen of one counts when it is away again.
func TestLevelsAgingUnread(t *testing.T) {
	here := map[uint64]int64{}
	o := newLevels(10, 0)
	o.aging, o.seen = 10, make([]birth, 10)
	o.published = func(n uint64) (int64, bool) { ms, ok := here[n]; return ms, ok }
	o.add(1, 1)  // of level 0, the oldest
	o.add(2, 10) // of level 9
	for _, step := range []struct {
		n  uint64
		at int64
	}{{2, 1000}, {1, 800}} {
		if first, _ := o.first(); first != step.n {
			t.Fatalf("%d is asked for, not %d", first, step.n)
		}
		here[step.n] = step.at
	}
	clear(here)
	if first, _ := o.first(); first != 1 {
		t.Fatalf("%d is first, though 1 has waited for 20 levels more", first)
	}
}

// What came back is served before all others, in the order of coming back.
func TestComebacksModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := newLevels(quorumLevels, quorumStandard)
		m := newOrderModel(&comebacks{order: inner}, 0, 1, 6, 200)
		m.first = func(t *rapid.T, got uint64) {
			want, earliest, top := uint64(0), math.MaxInt, 0
			for n, p := range m.ready {
				if top = max(top, inner.level(p.tag)); p.back > 0 && p.back < earliest {
					want, earliest = n, p.back
				}
			}
			if want == 0 {
				want = m.oldest(func(p place) bool { return inner.level(p.tag) == top })
			}
			if got != want {
				t.Fatalf("the first is %d, want %d", got, want)
			}
		}
		m.run(t, nil)
	})
}

// Of two keys that have messages all the time, neither gets more bytes than the other by more than two messages; each key is served in its order,
// and one that comes, and owes nothing, is served after at most one message of each other key.
func TestFairModel(t *testing.T) {
	const largest = 40_000
	rapid.Check(t, func(t *rapid.T) {
		o := newFair()
		m := newOrderModel(o, 0, 1, 2, 3)
		known := map[uint32]bool{}             // keys whose debts are kept
		got := map[uint32]map[uint32]int{}     // bytes of a key since another one came, or itself
		passed := map[uint32]map[uint32]bool{} // keys that were served since a key came that was not served yet
		present := func(tag uint32) bool { return m.oldest(func(p place) bool { return p.tag == tag }) < math.MaxUint64 }
		arrive := func() {
			for tag := range uint32(4) {
				if here := present(tag); here && got[tag] == nil {
					got[tag] = map[uint32]int{}
					if !known[tag] {
						passed[tag] = map[uint32]bool{}
					}
				} else if !here {
					delete(got, tag)
					delete(passed, tag)
				}
				known[tag] = o.lanes.find(tag) != nil
			}
		}
		m.first = func(t *rapid.T, n uint64) {
			arrive()
			tag := m.ready[n].tag
			if want := m.oldest(func(p place) bool { return p.tag == tag }); n != want {
				t.Fatalf("of key %d the first is %d, want %d", tag, n, want)
			}
			delete(passed, tag)
			for other, seen := range passed {
				if seen[tag] {
					t.Fatalf("key %d is served twice while key %d waits for its first turn", tag, other)
				}
				seen[tag] = true
			}
		}
		m.served = func(_ uint64, p place) {
			for key := range got {
				got[key][p.tag] += max(p.size, fairLeast)
			}
			for key := range got {
				if key != p.tag && got[p.tag] != nil {
					// Both were here since the later of them came.
					since := min(got[key][p.tag], got[p.tag][p.tag])
					other := min(got[key][key], got[p.tag][key])
					if since-other > 2*largest {
						t.Fatalf("key %d got %d bytes, key %d got %d meanwhile", p.tag, since, key, other)
					}
				}
			}
		}
		after := func(action func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) { action(t); arrive() }
		}
		m.run(t, map[string]func(*rapid.T){
			"add": after(m.doAdd), "add more": after(m.doAdd), "serve": after(m.doServe), "serve more": after(m.doServe),
			"take": after(m.doTake), "filter": after(m.doFilter),
		})
	})
}
