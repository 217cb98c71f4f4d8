package vhost

import (
	"maps"
	"slices"
	"sync"

	"leveret/queue"
)

// owned are the exclusive queues by the connections that own them.
type owned struct {
	mu     sync.Mutex // guards queues; a leaf lock
	queues map[Owner]map[*queue.Queue]struct{}
}

// add notes an exclusive queue of a connection, which ends with it.
func (o *owned) add(q *queue.Queue) {
	owner := Owner(q.Options().Owner)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.queues == nil {
		o.queues = make(map[Owner]map[*queue.Queue]struct{})
	}
	if o.queues[owner] == nil {
		o.queues[owner] = make(map[*queue.Queue]struct{})
	}
	o.queues[owner][q] = struct{}{}
}

// remove forgets a queue, if it is one that was added.
func (o *owned) remove(q *queue.Queue) {
	if !q.Options().Exclusive {
		return
	}
	owner := Owner(q.Options().Owner)
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.queues[owner], q)
	if len(o.queues[owner]) == 0 {
		delete(o.queues, owner)
	}
}

// of returns a copy of the list of an owner's queues.
func (o *owned) of(owner Owner) []*queue.Queue {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Keys(o.queues[owner]))
}
