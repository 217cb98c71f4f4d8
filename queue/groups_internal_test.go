package queue

import (
	"testing"

	"leveret/amqp"
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

// Messages whose groups are with consumers that have no room are looked at once, not each time that anything happens.
func TestLockedGroupsAreLookedAtOnce(t *testing.T) {
	const many, each = 512, 300 // two groups a lane
	q := groupQueue(many, each)
	busy, idle := &Consumer{queue: q}, &Consumer{queue: q}
	for tag := range uint32(many) {
		q.groups.hold(tag+1, busy)
	}
	q.consumers.add(idle) // it has room, but every group is with the other one
	if _, _, _, ok := q.groups.choose(q, false); ok {
		t.Fatal("a message goes that may not")
	}
	for i := range q.groups.lanes {
		if l := &q.groups.lanes[i]; l.passed != 2*each {
			t.Fatalf("lane %d: %d messages were passed, want %d", i, l.passed, 2*each)
		}
	}

	q.groups.release(18) // the one group that it held a message of
	n, e, c, ok := q.groups.choose(q, false)
	if !ok || c != idle || e.tag != 18 || n != 18 {
		t.Errorf("message %d of group %d goes to %p, %v", n, e.tag, c, ok)
	}
	for i := range q.groups.lanes {
		if l := &q.groups.lanes[i]; (l.passed == 0) != (i == 18) {
			t.Errorf("lane %d: %d messages were passed", i, l.passed)
		}
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

// Of a lane with one group, which is with a consumer that has no room, no message is looked at, and then those that are there when it is free.
func TestLaneOfOneGroup(t *testing.T) {
	q := groupQueue(1, 100)
	c := &Consumer{queue: q}
	q.consumers.add(c)
	q.groups.hold(1, new(Consumer))
	l := &q.groups.lanes[1]
	if _, _, _, ok := q.groups.choose(q, false); ok || l.passed != groupLook {
		t.Errorf("a message goes: %v, %d were passed", ok, l.passed)
	}
	q.groups.add(101, 257) // another group's, in the same lane
	q.window.Put(101, entry{tag: 257}, true)
	if n, _, _, ok := q.groups.choose(q, false); !ok || n != 101 {
		t.Errorf("message %d of the other group goes, %v", n, ok)
	}
	q.groups.remove(101, 257)
	q.groups.forget(50) // nobody knows of which group it was
	if _, _, _, ok := q.groups.choose(q, false); ok || l.passed != 99 || !l.mixed {
		t.Errorf("a message goes: %v, %d were passed", ok, l.passed)
	}
	q.groups.release(1)
	if n, _, _, ok := q.groups.choose(q, false); !ok || n != 1 {
		t.Errorf("message %d goes, %v", n, ok)
	}
}

// A message that came back before those that were passed goes first.
func TestGroupLaneBeginsAnew(t *testing.T) {
	q := groupQueue(1, 10)
	c := &Consumer{queue: q}
	q.consumers.add(c)
	q.groups.hold(1, &Consumer{})
	q.groups.remove(1, 1)
	q.groups.choose(q, false)
	if l := &q.groups.lanes[1]; l.passed < 9 {
		t.Fatalf("%d messages were passed, to %d", l.passed, l.from)
	}
	q.groups.back(1, 1)
	q.groups.release(1)
	if n, _, _, ok := q.groups.choose(q, false); !ok || n != 1 {
		t.Errorf("message %d goes, %v", n, ok)
	}
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
