package vhost

import (
	"slices"
	"sync"

	"leveret/queue"
)

// owned are the exclusive queues by the connections that own them.
type owned struct {
	mu     sync.Mutex // guards queues; a leaf lock
	queues map[Owner][]*queue.Queue
}

func (o *owned) add(q *queue.Queue) {
	owner := Owner(q.Options().Owner)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.queues == nil {
		o.queues = make(map[Owner][]*queue.Queue)
	}
	o.queues[owner] = append(o.queues[owner], q)
}

// remove forgets a queue, if it is one that was added.
func (o *owned) remove(q *queue.Queue) {
	if !q.Options().Exclusive {
		return
	}
	owner := Owner(q.Options().Owner)
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := slices.DeleteFunc(o.queues[owner], func(other *queue.Queue) bool { return other == q })
	if len(rest) == 0 {
		delete(o.queues, owner)
	} else {
		o.queues[owner] = rest
	}
}

// of returns a copy of the list of an owner's queues.
func (o *owned) of(owner Owner) []*queue.Queue {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.queues[owner])
}
