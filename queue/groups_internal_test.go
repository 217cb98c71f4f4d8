package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
	"leveret/store"
)

// groupQueue is a queue with so many messages of each of some groups in memory, that nobody consumes from.
func groupQueue(groups, messages int) *Queue {
	q := New(Options{GroupBy: Keying{Source: ByProperty, Name: "routing-key"}})
	b := NewBatch()
	for range messages {
		for tag := range groups {
			m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, nil), 0, 0))
			m.SetProperties(2, &amqp.PropertyIndex{}, 1)
			if b.AddTagged(m, nil, uint32(tag+1)) {
				q.Push(b)
				q.Run()
				b = NewBatch()
			}
		}
	}
	q.Push(b)
	q.Run()
	return q
}

// sortedNow has a queue choose until nothing may go, and returns how many messages are sorted.
func sortedNow(q *Queue) (sorted int) {
	q.groups.choose(q, false)
	for i := range q.groups.lanes {
		sorted += q.groups.lanes[i].sorted
	}
	return sorted
}

// The queue looks past so many messages whose groups are with consumers that have no room, each once.
func TestLockedGroupsAreSortedOnce(t *testing.T) {
	const many, each = 512, 600 // two groups a lane
	q := groupQueue(many, each)
	busy, idle := &Consumer{queue: q}, &Consumer{queue: q}
	for tag := range uint32(many) {
		q.groups.hold(tag+1, busy)
	}
	q.consumers.add(idle) // it has room, but every group is with the other one
	if got := sortedNow(q); got != groupMost || !q.groups.waiting {
		t.Fatalf("%d messages were sorted, want %d; waiting: %v", got, groupMost, q.groups.waiting)
	}

	q.groups.release(18) // the one group that it held a message of
	n, e, c, ok := q.groups.choose(q, false)
	if !ok || c != idle || e.tag != 18 || n != 18 {
		t.Errorf("message %d of group %d goes to %p, %v", n, e.tag, c, ok)
	}

	idle.Prefetch, idle.unacked = 1, 1
	q.groups.hold(18, idle)
	q.consumers.served(idle)
	busy.unacked = 1
	q.consumers.add(busy) // it has room again
	q.groups.look(busy)
	if _, e, c, ok := q.groups.choose(q, false); !ok || c != busy || e.tag == 18 {
		t.Errorf("a message of group %d goes to %p, %v; want it to go to %p", e.tag, c, ok, busy)
	}
}

// What stands behind the messages of a group that is with a consumer is found, though there is always something else to serve.
func TestHotGroupHidesNobody(t *testing.T) {
	q := groupQueue(1, 500) // of group 1
	put := func(n uint64, tag uint32) {
		q.window.Put(n, entry{tag: tag}, true)
		q.groups.add(n, tag)
	}
	put(501, 257) // in the same lane
	q.groups.hold(1, new(Consumer))
	q.consumers.add(&Consumer{queue: q})
	for n := uint64(502); ; n++ {
		if n == 1_000_000 {
			t.Fatal("the other group of the lane is never served")
		}
		put(n, 2)
		got, e, _, ok := q.groups.choose(q, false)
		if !ok || e.tag == 1 {
			t.Fatalf("message %d goes, %v", got, ok)
		}
		if e.tag == 257 {
			return
		}
		q.groups.served(got, e.tag, 1)
		q.groups.remove(got, e.tag)
	}
}

// A get finds nothing when all groups are with consumers, though these have room and more messages are unsorted.
func TestGetOfHeldGroups(t *testing.T) {
	q := groupQueue(1, groupLook+10)
	c := &Consumer{queue: q}
	q.groups.hold(1, c)
	q.consumers.add(c)
	if n, _, _, ok := q.groups.choose(q, true); ok {
		t.Errorf("message %d is got", n)
	}
	if n, _, to, ok := q.groups.choose(q, false); !ok || n != 1 || to != c {
		t.Errorf("message %d goes to %p, %v", n, to, ok)
	}
}

// A message that came back before those that are sorted goes first, and one that was sorted goes by the tag that it had then.
func TestGroupsKeepTheirOrder(t *testing.T) {
	q := groupQueue(1, 8)
	q.consumers.add(&Consumer{queue: q})
	q.groups.remove(1, 1)
	q.groups.remove(2, 1)
	q.groups.back(2, 1)
	q.groups.back(1, 1)
	q.window.At(1).tag = 0
	if n, e, _, ok := q.groups.choose(q, false); !ok || n != 1 || e.tag != 1 {
		t.Errorf("message %d of group %d goes, %v", n, e.tag, ok)
	}
	q.groups.forget(1) // nobody knows of which group it was
	q.groups.remove(3, 77)
	if n, _, _, ok := q.groups.choose(q, false); !ok || n != 2 {
		t.Errorf("message %d goes, %v", n, ok)
	}
	if g := q.groups.find(1); g.ready.len() != 6 || q.groups.lanes[1].sorted != 6 || q.groups.sorted != 6 {
		t.Errorf("%d messages of the group are ready, %+v", g.ready.len(), q.groups.lanes[1])
	}
}

// A group whose first message is on disk waits until it is read, and others go.
func TestGroupWaitsForTheDisk(t *testing.T) {
	q := groupQueue(2, 2)
	q.consumers.add(&Consumer{queue: q})
	first := *q.window.At(1)
	q.window.Remove(1)
	if n, _, _, ok := q.groups.choose(q, false); !ok || n != 2 || !q.groups.unread || !q.groups.missing() {
		t.Errorf("message %d goes, %v; unread: %v", n, ok, q.groups.unread)
	}
	var heads []uint64
	q.groups.heads(func(n uint64) bool {
		heads = append(heads, n)
		return len(heads) < 2
	})
	if len(heads) != 2 || heads[0] != 1 {
		t.Errorf("to be read are %v", heads)
	}
	q.window.Put(1, first, true)
	q.groups.arrived(q)
	if n, _, _, ok := q.groups.choose(q, false); !ok || n != 2 || q.groups.unread {
		t.Errorf("message %d goes, %v; unread: %v", n, ok, q.groups.unread)
	}
	q.groups.served(2, 2, 1)
	if n, _, _, ok := q.groups.choose(q, false); !ok || n != 1 {
		t.Errorf("message %d goes, %v", n, ok)
	}
}

// Of the groups that have nothing any more a bounded number is remembered.
func TestIdleGroupsAreForgotten(t *testing.T) {
	o := newGroups()
	c := new(Consumer)
	for tag := range uint32(10 * groupsIdle) {
		o.hold(tag+1, c)
	}
	for tag := range uint32(10 * groupsIdle) {
		o.release(tag + 1)
	}
	if o.all.count > 2*groupsIdle || o.idle.count != o.all.count {
		t.Errorf("%d groups are remembered, %d of them idle", o.all.count, o.idle.count)
	}
	for tag := range uint32(10 * groupsIdle) {
		o.hold(tag+1, c)
		o.release(tag + 1)
	}
	if o.all.count > 2*groupsIdle {
		t.Errorf("%d groups are remembered", o.all.count)
	}
}

// Numbers are a sorted list, whatever comes and goes.
func TestNumbersModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s numbers
		var model []uint64
		number := rapid.Uint64Range(1, 60)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				if n := number.Draw(t, "n"); !slices.Contains(model, n) {
					s.add(n)
					model = append(model, n)
					slices.Sort(model)
				}
			},
			"remove": func(t *rapid.T) {
				n := number.Draw(t, "n")
				i := slices.Index(model, n)
				if s.remove(n) != (i >= 0) {
					t.Fatalf("removed %d of %v", n, model)
				}
				if i >= 0 {
					model = slices.Delete(model, i, i+1)
				}
			},
			"first": func(t *rapid.T) {
				if len(model) > 0 {
					s.remove(s.first())
					model = model[1:]
				}
			},
			"filter": func(t *rapid.T) {
				above := number.Draw(t, "above")
				model = slices.DeleteFunc(model, func(n uint64) bool { return n <= above })
				if kept := s.filter(func(n uint64) bool { return n > above }); kept != len(model) {
					t.Fatalf("kept %d, want %v", kept, model)
				}
			},
			"": func(t *rapid.T) {
				if got := s.list[s.from:]; !slices.Equal(got, model) || s.len() != len(model) {
					t.Fatalf("holds %v, want %v", got, model)
				}
				if len(model) > 0 && (s.first() != model[0] || s.last != model[len(model)-1]) {
					t.Fatalf("goes from %d to %d, want %v", s.first(), s.last, model)
				}
			},
		})
	})
}

// What is forgotten costs nothing until it comes to the front, and comes back by any tag.
func TestFairForgets(t *testing.T) {
	o := newFair()
	for n := range uint64(1000) {
		o.add(n+1, uint32(n)%10+1)
	}
	for n := range uint64(990) {
		o.forget(990 - n)
	}
	o.add(500, 77)
	want := map[uint64]bool{500: true}
	for n := range uint64(10) {
		want[991+n] = true
	}
	for len(want) > 0 {
		n, ok := o.first()
		if !ok || !want[n] {
			t.Fatalf("first is %d, %v; left are %v", n, ok, want)
		}
		delete(want, n)
		o.remove(n, uint32(n-1)%10+1)
	}
	if n, ok := o.first(); ok || o.gone.Len() > 0 {
		t.Errorf("%d is left, and %d are forgotten", n, o.gone.Len())
	}
}

// A purge makes many groups idle at once, and so has others forgotten that were idle before: those are not to come back.
func TestPurgeForgetsIdleGroups(t *testing.T) {
	const idle, ready = 16, 3 * groupsIdle
	q := groupQueue(idle+ready, 1)
	numbers := make([]uint64, idle)
	for i := range numbers {
		numbers[i] = uint64(i) + 1
	}
	q.consumers.add(&Consumer{queue: q})
	q.groups.choose(q, false) // sorts them all
	q.consumers.remove(q.consumers.all[0])
	if count, err := q.Discard(numbers); count != idle || err != nil || q.groups.idle.count != idle {
		t.Fatalf("%d messages were discarded, which made %d groups idle: %v", count, q.groups.idle.count, err)
	}
	if count, err := q.Purge(); count != ready || err != nil {
		t.Fatalf("%d messages were purged: %v", count, err)
	}
	if all, idle := q.groups.all.count, q.groups.idle.count; all != idle || idle > 2*groupsIdle {
		t.Errorf("%d groups are known, and %d idle", all, idle)
	}
	for g, i := q.groups.idle.front, 0; i < q.groups.idle.count; g, i = g.next, i+1 {
		if q.groups.all.find(g.tag) != g {
			t.Errorf("group %d is idle and not known", g.tag)
		}
	}
}

// Messages are read from disk as they came, unless a lane has enough, or a group waits for one of its own: that goes first.
func TestGroupsAreReadAsTheyCame(t *testing.T) {
	q := groupQueue(1, groupLook-1)
	q.consumers.add(&Consumer{queue: q})
	for n := uint64(2000); n < 2100; n++ {
		q.away.Add(n)
		q.groups.addTail(n, uint32(n%2)+1)
	}
	if got := q.wanted(); !slices.Equal(got, []store.Range{{First: 2000, Last: 2099}}) {
		t.Errorf("wanted is %v", got)
	}
	q.groups.assign(1999, 1) // no more of its lane, where every other message is, but for the first one
	if got := q.wanted(); len(got) != 50 || got[0] != (store.Range{First: 2000, Last: 2001}) {
		t.Errorf("wanted is %v, when a lane has enough", got)
	}

	q = groupQueue(1, 1)
	q.consumers.add(&Consumer{queue: q})
	for n := uint64(2); n < 4*readNumbers; n += 2 {
		q.away.Add(n)
		q.groups.addTail(n, 1)
	}
	last := uint64(4*readNumbers + 1)
	q.away.Add(last)
	q.groups.assign(last, 5)
	q.groups.choose(q, false) // finds the only one that is here
	q.groups.hold(1, q.consumers.all[0])
	q.groups.remove(1, 1)
	q.groups.choose(q, false) // finds that the first one of group 5 is not
	if got := q.wanted(); got[len(got)-1].Last != last {
		t.Errorf("wanted is up to %d, though a group waits for %d", got[len(got)-1].Last, last)
	}
}
