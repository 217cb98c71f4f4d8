package queue

import "leveret/store"

// fairLeast is what serving a message costs its key at least, in bytes: small ones count by their number, large ones by their size.
const fairLeast = 1 << 10

// fair is the order of a queue that is fair to the keys of its messages: a lane a key, and the key that has got least is served next. A key that
// was away does not get what it missed, nor is it forgiven what it got ahead of the others.
type fair struct {
	lanes tagTable[fairLane]
	last  *fairLane   // that is likely to be asked for next
	spare []*fairLane // to use again
	heap  fairHeap    // of those that have messages
	owing fairHeap    // of those that have none, and have got more than the key served last: they keep that in case they come again
	clock uint64      // what the key served last had got before
	came  uint64      // lanes that there were, ever
	gone  Set         // messages that were forgotten, and stand in their lanes until they come to the front
}

// fairLane is the messages of one key.
type fairLane struct {
	lane
	tag  uint32
	got  uint64 // bytes served, counted from where the others stood when the key came
	came uint64 // of two keys that got as much, the one is next that came first: or one whose only message comes back would be next for ever
	at   int    // in its heap
	seen uint64 // each is here
}

func newFair() *fair { return new(fair) }

// fairRead is about how many messages are read from disk before it is the first lane's turn again.
const fairRead = 256

// fairSpare is how many lanes are kept to be used again: in a short queue keys come and go.
const fairSpare = 256

// add puts a message into its key's lane. A key without messages takes part again from where the others stand now: it gets nothing for the time that it was
// away, or one that is away for an hour would be served alone for long.
func (o *fair) add(n uint64, tag uint32) {
	if o.gone.Len() > 0 && o.gone.Remove(n) { // it is back, perhaps with another tag
		o.removeAnywhere(n)
	}
	l := o.find(tag)
	switch {
	case l == nil:
		l = o.make(tag)
	case l.Len() > 0:
		l.Add(n)
		return
	default:
		o.owing.remove(l)
	}
	o.came++
	l.came = o.came
	l.Add(n)
	o.heap.push(l)
}

// find returns the lane of a tag, nil if there is none.
func (o *fair) find(tag uint32) *fairLane {
	if l := o.last; l != nil && l.tag == tag {
		return l
	}
	return o.lanes.find(tag)
}

// make makes a lane for a tag that has none.
func (o *fair) make(tag uint32) *fairLane {
	var l *fairLane
	if last := len(o.spare) - 1; last >= 0 {
		l, o.spare = o.spare[last], o.spare[:last]
	} else {
		l = new(fairLane)
	}
	l.tag, l.got = tag, o.clock
	o.lanes.put(tag, l)
	return l
}

// back is add: what came back has its own place in its key, ahead of what came later, as its number says.
func (o *fair) back(n uint64, tag uint32) { o.add(n, tag) }

func (o *fair) remove(n uint64, tag uint32) {
	if l := o.find(tag); l == nil || !o.removeFrom(l, n) {
		o.removeAnywhere(n)
	}
	o.clean()
}

// removeAnywhere looks for a message in all lanes.
func (o *fair) removeAnywhere(n uint64) {
	o.lanes.each(func(l *fairLane) bool { return !o.removeFrom(l, n) })
}

// clean takes what is forgotten off the front of the lane that is served next.
func (o *fair) clean() {
	for o.gone.Len() > 0 && len(o.heap) > 0 && o.gone.Remove(o.heap[0].lane.First()) {
		o.removeFrom(o.heap[0].lane, o.heap[0].lane.First())
	}
}

// removeFrom takes a message out of a lane. A lane that is empty then is not forgotten at once if it is ahead of the others: a key could get more than its
// share by sending one message at a time.
func (o *fair) removeFrom(l *fairLane, n uint64) (found bool) {
	if found = l.Remove(n); found && l.Len() == 0 {
		o.heap.remove(l)
		o.owing.push(l)
		o.forgive()
	}
	return found
}

// forgive forgets the keys without messages that the others have caught up with; all of them when nobody waits.
func (o *fair) forgive() {
	for len(o.owing) > 0 && (o.owing[0].got <= o.clock || len(o.heap) == 0) {
		l := o.owing[0].lane
		o.owing.remove(l)
		o.drop(l)
	}
}

// drop forgets a lane without messages.
func (o *fair) drop(l *fairLane) {
	o.lanes.remove(l.tag)
	if o.last == l {
		o.last = nil
	}
	if len(o.spare) < fairSpare {
		o.spare = append(o.spare, l)
	}
}

func (o *fair) first() (n uint64, ok bool) {
	if len(o.heap) == 0 {
		return 0, false
	}
	return o.heap[0].lane.First(), true
}

// served charges a message to its key. The clock goes on to what the key had before, so that a key that comes now begins there.
func (o *fair) served(_ uint64, tag uint32, size int) {
	if l := o.find(tag); l != nil && l.Len() > 0 {
		o.last = l // it is removed from next
		o.clock = max(o.clock, l.got)
		l.got += uint64(max(size, fairLeast))
		o.heap.fix(l)
		o.forgive()
		o.clean()
	}
}

func (o *fair) heads(each func(n uint64) bool) {
	for _, at := range o.heap {
		if n := at.lane.First(); !o.gone.Has(n) && !each(n) {
			return
		}
	}
}

// each calls each for some messages of every lane in turn, as they are served if they are of a size.
func (o *fair) each(each func(store.Range) bool) {
	for i := range o.heap {
		o.heap[i].lane.seen = 0
	}
	few := max(1, fairRead/max(1, len(o.heap)))
	for more := true; more; {
		more = false
		for i := range o.heap {
			l := o.heap[i].lane
			for range few {
				n, ok := l.From(l.seen)
				if !ok {
					break
				}
				l.seen, more = n+1, true
				if !o.gone.Has(n) && !each(store.Range{First: n, Last: n}) {
					return
				}
			}
		}
	}
}

// forget only notes the number: to look for it in each lane would take a look at all keys, and there may be as many as messages.
func (o *fair) forget(n uint64) {
	o.gone.Add(n)
	o.clean()
}

func (o *fair) filter(keep func(n uint64) bool) {
	o.heap, o.owing = o.heap[:0], o.owing[:0]
	for _, l := range o.lanes.values() {
		if l.filter(func(n uint64) bool { return keep(n) && !o.gone.Has(n) }); l.Len() == 0 {
			o.drop(l)
		} else {
			o.heap.push(l)
		}
	}
	o.gone.Clear()
}
