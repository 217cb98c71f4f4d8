package queue

import (
	"slices"
	"testing"
)

// takeNext has what goes next go, and returns its group and its consumer; 0 if nothing goes.
func takeNext(q *Queue) (tag uint32, c *Consumer) {
	n, e, c, ok := q.groups.choose(q, false)
	if !ok {
		return 0, nil
	}
	tag = e.tag
	q.groups.served(n, tag, 1)
	q.groups.hold(tag, c)
	q.groups.remove(n, tag)
	q.window.Unmark(n)
	c.unacked++
	q.consumers.served(c)
	return tag, c
}

// runsOf are the groups that messages go out of, one after the other, each with how many went in a row.
func runsOf(q *Queue, messages int) (runs [][2]int) {
	for range messages {
		tag, _ := takeNext(q)
		if last := len(runs) - 1; last >= 0 && runs[last][0] == int(tag) {
			runs[last][1]++
		} else {
			runs = append(runs, [2]int{int(tag), 1})
		}
	}
	return runs
}

// Groups take turns of some messages, the last one of what is left.
func TestGroupsGoInRuns(t *testing.T) {
	q := groupQueue(2, groupRunMost+3)
	q.consumers.add(&Consumer{queue: q})
	want := [][2]int{{1, groupRunMost}, {2, groupRunMost}, {1, 3}, {2, 3}, {0, 1}}
	if got := runsOf(q, 2*(groupRunMost+3)+1); !slices.Equal(got, want) {
		t.Errorf("groups and messages in a row are %v, want %v", got, want)
	}
}

// A run ends when its consumer has no room, and when it has lost the group.
func TestRunEndsWithItsConsumer(t *testing.T) {
	q := groupQueue(2, groupRunMost)
	one, other := &Consumer{queue: q, Prefetch: 3}, &Consumer{queue: q, Prefetch: 3}
	q.consumers.add(one)
	q.consumers.add(other)
	var got []*Consumer
	for range 7 {
		_, c := takeNext(q)
		got = append(got, c)
	}
	if want := []*Consumer{one, one, one, other, other, other, nil}; !slices.Equal(got, want) {
		t.Fatalf("messages go to %p, want %p", got, want)
	}
	for range 3 {
		q.groups.release(2)
	}
	other.unacked = 0
	q.consumers.update(other)
	q.groups.look(other)
	for i := range 2 {
		if tag, c := takeNext(q); tag != 2 || c != other {
			t.Errorf("of group %d goes a message to %p", tag, c)
		}
		if i == 0 { // in the midst of the run
			q.groups.release(2)
		}
	}
}

// What a run looks at ahead may have gone to disk, or be more than the consumer has room for.
func TestRunLooksAhead(t *testing.T) {
	q := groupQueue(1, 8)
	c := &Consumer{queue: q, Prefetch: 4}
	q.consumers.add(c)
	first := *q.window.At(2)
	q.window.Remove(2)
	if tag, _ := takeNext(q); tag != 1 {
		t.Fatalf("of group %d goes a message", tag)
	}
	if tag, _ := takeNext(q); tag != 0 || !q.groups.unread {
		t.Errorf("of group %d goes a message; unread: %v", tag, q.groups.unread)
	}
	q.window.Put(2, first, true)
	q.groups.arrived(q)
	if got := runsOf(q, 4); !slices.Equal(got, [][2]int{{1, 3}, {0, 1}}) {
		t.Errorf("groups and messages in a row are %v", got)
	}
}

// Consumers that have gone are not kept.
func TestGroupsForgetConsumers(t *testing.T) {
	q := groupQueue(2, groupRunMost)
	for range 2 {
		q.consumers.add(&Consumer{queue: q, Prefetch: 3})
	}
	takeNext(q)
	if q.groups.run.consumer == nil || q.groups.holders.last == nil {
		t.Fatal("nobody holds a group in the midst of a run")
	}
	Detach([]*Detachment{{Queue: q, Consumers: slices.Clone(q.consumers.all)}})
	if c := q.groups.run.consumer; c != nil || q.groups.holders.last != nil {
		t.Errorf("consumers %p, %p are kept", c, q.groups.holders.last)
	}
}
