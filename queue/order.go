package queue

import "leveret/store"

// order says which ready message is served next, in a queue that does not simply serve the one that came first. It knows messages by number
// and tag, wherever they are, in memory or on disk. Each kind of order has a file of its own. Owned by whoever runs the queue.
type order interface {
	// add puts a message in that came in: it is the newest.
	add(n uint64, tag uint32)
	// back puts a message in that came back.
	back(n uint64, tag uint32)
	// remove takes a message out that is ready no more. It looks everywhere if the tag is not the one that the message came with: read back from
	// the log, it may have lost that.
	remove(n uint64, tag uint32)
	// first is the message to be served next.
	first() (n uint64, ok bool)
	// served is called when first's message goes to a consumer, before it is removed.
	served(n uint64, tag uint32, size int)
	// heads calls each for the first message of each lane, in order of service, until it returns false.
	heads(each func(n uint64) bool)
	// each calls each for all messages about in order of service, as runs of numbers, until it returns false.
	each(each func(store.Range) bool)
	// forget takes a message out whose tag is not known; it looks everywhere.
	forget(n uint64)
	// filter keeps those messages that the function wants.
	filter(keep func(n uint64) bool)
}

// newOrder makes the order that the options ask for, nil for first in, first out, and what computes its tags.
func newOrder(o *Options) (order, tagger) {
	var inner order
	var tags tagger
	switch {
	case o.Delayed:
		return nil, delayTag
	case o.GroupBy.Source != NoKey: // what comes back has its own place, in its group
		return newGroups(), o.GroupBy.tagger()
	case o.FairBy.Source != NoKey:
		inner, tags = newFair(), o.FairBy.tagger()
	case o.MaxPriority > 0:
		inner, tags = newLevels(o.MaxPriority+1, 0), priorityTag
	case o.Quorum:
		inner, tags = newLevels(quorumLevels, quorumStandard), priorityTag
	default:
		return nil, nil
	}
	if o.Quorum {
		return &comebacks{order: inner}, tags
	}
	return inner, tags
}

// lane is the messages of one level, key or group, first in, first out.
type lane struct{ Set }

// filter keeps those messages that the function wants.
func (l *lane) filter(keep func(n uint64) bool) {
	var kept Set
	l.Each(0, func(r store.Range) bool {
		for n := r.First; n <= r.Last; n++ {
			if keep(n) {
				kept.Add(n)
			}
		}
		return true
	})
	l.Set = kept
}

// enter makes a message ready in the queue's order; came says that it is new and did not come back.
func (q *Queue) enter(n uint64, tag uint32, came bool) {
	switch {
	case q.order == nil:
	case came:
		q.order.add(n, tag)
	default:
		q.order.back(n, tag)
	}
}

// depart ends that a message is ready in the queue's order.
func (q *Queue) depart(n uint64, tag uint32) {
	if q.order != nil {
		q.order.remove(n, tag)
	}
}
