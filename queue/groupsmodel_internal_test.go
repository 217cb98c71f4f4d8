package queue

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// groupModel knows of a queue with groups which messages are ready, and who holds what.
type groupModel struct {
	q         *Queue
	ready     map[uint64]uint32      // tags by number
	disk      map[uint64]uint32      // of those ready, the ones that are not in memory
	held      map[*Consumer][]uint64 // numbers
	tags      map[uint64]uint32      // of all messages
	consumers []*Consumer
	next      uint64
}

func (m *groupModel) add(t *rapid.T) {
	for range rapid.IntRange(1, 40).Draw(t, "messages") {
		m.next++
		tag := rapid.SampledFrom([]uint32{0, 1, 2, 3, 257, 258, 513}).Draw(t, "tag") // some share a lane
		m.ready[m.next], m.tags[m.next] = tag, tag
		m.q.window.Put(m.next, entry{tag: tag}, true)
		if rapid.Bool().Draw(t, "at once") {
			m.q.groups.add(m.next, tag)
		} else {
			m.q.groups.addTail(m.next, tag)
		}
	}
}

// holder is who holds messages of a group, nil for nobody.
func (m *groupModel) holder(tag uint32) *Consumer {
	for c, numbers := range m.held {
		if tag != 0 && slices.ContainsFunc(numbers, func(n uint64) bool { return m.tags[n] == tag }) {
			return c
		}
	}
	return nil
}

// serve gives out what goes next, and checks that it may go, and that nothing may if nothing does.
func (m *groupModel) serve(t *rapid.T) {
	for range rapid.IntRange(1, 20).Draw(t, "served") {
		n, e, c, ok := m.q.groups.choose(m.q, false)
		if !ok {
			m.nothingGoes(t)
			return
		}
		tag, ready := m.ready[n]
		if other := m.holder(tag); !ready || !c.linked || other != nil && other != c {
			t.Fatalf("message %d of group %d goes; ready: %v, its consumer has room: %v, another one holds the group: %v", n, tag, ready, c.linked, other != nil && other != c)
		}
		for earlier, t2 := range m.ready {
			if tag != 0 && t2 == tag && earlier < n {
				t.Fatalf("message %d of group %d goes before %d", n, tag, earlier)
			}
		}
		m.q.groups.served(n, e.tag, 1)
		m.q.groups.hold(e.tag, c)
		m.q.groups.remove(n, e.tag)
		m.q.window.Unmark(n)
		delete(m.ready, n)
		m.held[c] = append(m.held[c], n)
		c.unacked++
		m.q.consumers.served(c)
	}
}

// nothingGoes checks that each message that is ready, or the one before it in its group, is on disk, or that its group is with somebody without room.
func (m *groupModel) nothingGoes(t *rapid.T) {
	if m.q.consumers.ready == 0 {
		return
	}
	first := map[uint32]uint64{}
	for n, tag := range m.ready {
		if at, ok := first[tag]; !ok || n < at {
			first[tag] = n
		}
	}
	for tag, n := range first {
		lane := slices.ContainsFunc(slices.Collect(maps.Keys(m.disk)), func(d uint64) bool { return m.disk[d]%groupLanes == tag%groupLanes })
		if c := m.holder(tag); !lane && (c == nil || c.linked) {
			t.Fatalf("message %d of group %d does not go", n, tag)
		}
	}
}

// settle acknowledges what a consumer holds, or gives it back.
func (m *groupModel) settle(t *rapid.T) {
	c := rapid.SampledFrom(m.consumers).Draw(t, "consumer")
	back := rapid.IntRange(0, 3).Draw(t, "back") == 0
	for _, n := range m.held[c] {
		m.q.groups.release(m.tags[n])
		if back {
			m.ready[n] = m.tags[n]
			m.q.window.Mark(n)
			m.q.groups.back(n, m.tags[n])
		} else {
			m.q.window.Remove(n)
		}
	}
	delete(m.held, c)
	c.unacked = 0
	m.q.consumers.update(c)
	m.q.groups.look(c)
}

// drop takes a message out that is somewhere.
func (m *groupModel) drop(t *rapid.T) {
	if len(m.ready) == 0 {
		return
	}
	n := rapid.SampledFrom(slices.Sorted(maps.Keys(m.ready))).Draw(t, "n")
	m.q.groups.remove(n, rapid.SampledFrom([]uint32{m.tags[n], 2}).Draw(t, "tag"))
	m.forget(n)
}

// forget ends that a message is ready.
func (m *groupModel) forget(n uint64) {
	m.q.window.Remove(n)
	m.q.away.Remove(n)
	delete(m.ready, n)
	delete(m.disk, n)
}

// sendAway puts a message aside, and read brings all back.
func (m *groupModel) sendAway(t *rapid.T) {
	if here := slices.Sorted(maps.Keys(m.ready)); len(here) > 0 {
		n := rapid.SampledFrom(here).Draw(t, "n")
		m.q.window.Remove(n)
		m.q.away.Add(n)
		m.disk[n] = m.tags[n]
	}
}

func (m *groupModel) read(*rapid.T) {
	for n, tag := range m.disk {
		m.q.window.Put(n, entry{tag: tag}, true)
	}
	clear(m.disk)
	m.q.away.Clear()
	m.q.groups.arrived(m.q)
}

// check compares what the order counts with what is there.
func (m *groupModel) check(t *rapid.T) {
	o, all, sorted := m.q.groups, 0, 0
	for i := range o.lanes {
		all += o.lanes[i].Len()
		sorted += o.lanes[i].sorted
	}
	listed := 0
	o.all.each(func(g *group) bool {
		listed += g.ready.len()
		held := 0
		for _, numbers := range m.held {
			for _, n := range numbers {
				if g.tag != 0 && m.tags[n] == g.tag {
					held++
				}
			}
		}
		if held != g.held {
			t.Fatalf("of group %d %d are held, it counts %d", g.tag, held, g.held)
		}
		return true
	})
	if all+listed != len(m.ready) || sorted != listed || sorted != o.sorted {
		t.Fatalf("%d are ready, and %d not sorted; %d are sorted by the lanes' count, %d stand in groups, %d are sorted in all", len(m.ready), all, sorted, listed, o.sorted)
	}
	want := slices.Min(append(slices.Collect(maps.Keys(m.ready)), 1<<62))
	if n, ok := o.first(); ok != (len(m.ready) > 0) || ok && n != want {
		t.Fatalf("the first is %d, want %d", n, want)
	}
}

// Whatever comes, goes, comes back and is on disk: groups stay together and in order, and what may go does.
func TestGroupsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &groupModel{
			q:     New(Options{GroupBy: Keying{Source: ByProperty, Name: "routing-key"}}),
			ready: map[uint64]uint32{}, disk: map[uint64]uint32{}, held: map[*Consumer][]uint64{}, tags: map[uint64]uint32{},
		}
		for range 3 {
			c := &Consumer{queue: m.q, Prefetch: rapid.IntRange(1, 5).Draw(t, "prefetch")}
			m.consumers = append(m.consumers, c)
			m.q.consumers.add(c)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": m.add, "serve": m.serve, "serve more": m.serve, "settle": m.settle, "drop": m.drop, "send away": m.sendAway, "read": m.read,
			"purge": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "purge") == 0 {
					m.q.groups.filter(func(n uint64) bool { return m.disk[n] == 0 && n%2 == 0 })
					for n := range m.ready {
						if n%2 != 0 || m.disk[n] != 0 {
							m.forget(n)
						}
					}
				}
			},
			"": m.check,
		})
	})
}
