package store

import (
	"testing"
)

// A checkpoint writes what changed before it began. What changes while it runs is for the next one: it ends however busy the log is.
func TestCheckpointEndsWhileTheLogIsBusy(t *testing.T) {
	x := newIndex()
	seq := uint64(0)
	busy := func() {
		for queue := uint64(1); queue <= 3; queue++ {
			x.publish(&segment{id: 2, size: 1 << 20}, entry{offset: 100, size: 50, body: 30}, []Pair{{Queue: queue, Seq: seq + 1}})
			x.settle(queue, []Range{{First: 1, Last: seq}}, false)
		}
		seq++
	}
	busy()
	busy()
	todo := x.save(nil)
	busy()
	p, last := x.nextStep(&todo)
	busy()
	if !last || len(p.lanes) != 3 || x.due.size() != 3 {
		t.Fatalf("one step has %d of 3 queues, last: %t, and leaves %d changes for the next checkpoint", len(p.lanes), last, x.due.size())
	}
}

// Of a checkpoint that fails in the middle, what it did not write is due again, once.
func TestFailedCheckpointIsDueAgain(t *testing.T) {
	x := newIndex()
	const queues = 3 * stepBytes / 8 // their keys fill more than one step
	seg := &segment{id: 1, size: 1 << 20}
	for queue := range uint64(queues) {
		x.publish(seg, entry{offset: 100, size: 50, body: 30}, []Pair{{Queue: queue, Seq: 1}})
	}
	todo := x.save(nil)
	first, last := x.nextStep(&todo)
	if last || len(first.lanes) == 0 {
		t.Fatalf("the first of several steps has %d queues, last: %t", len(first.lanes), last)
	}
	second, _ := x.nextStep(&todo)
	x.publish(seg, entry{offset: 200, size: 50, body: 30}, []Pair{{Queue: first.lanes[0].id, Seq: 2}, {Queue: second.lanes[0].id, Seq: 2}})
	x.undo(second, todo.changes)
	due := map[*lane]int{}
	for _, l := range x.due.dirtyLanes {
		due[l]++
	}
	if want := queues - len(first.lanes) + 1; len(due) != want || len(x.due.dirtyLanes) != want {
		t.Errorf("%d queues are due, %d times, want %d once", len(due), len(x.due.dirtyLanes), want)
	}
}
