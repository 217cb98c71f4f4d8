package queue

import (
	"cmp"
	"slices"
)

// consumers are a queue's consumers and their order of service. Owned by whoever runs the queue.
type consumers struct {
	all     []*Consumer // in order of registration
	classes []*class    // by priority, highest first
	single  bool        // single active consumer: only active is served
	least   bool        // who holds the fewest messages is served, instead of taking turns
	active  *Consumer
	yields  bool      // the active one makes way for a newcomer of higher priority,
	heir    *Consumer // who is this, and waits until the other has settled what it holds
	paused  bool      // nobody is served
	ready   int       // consumers linked in any class
	had     bool
}

// class is the rotation of the consumers of one priority that have room: a ring whose first is served next.
type class struct {
	priority int
	first    *Consumer
	members  int // registered, with room or not
}

// exclusive reports whether an exclusive consumer holds the queue.
func (cs *consumers) exclusive() bool { return len(cs.all) == 1 && cs.all[0].Exclusive }

// add registers a consumer at the tail of its class.
func (cs *consumers) add(c *Consumer) {
	cs.all = append(cs.all, c)
	cs.had = true
	c.registered = true
	i, found := slices.BinarySearchFunc(cs.classes, c.Priority, func(k *class, priority int) int { return cmp.Compare(priority, k.priority) })
	if !found {
		cs.classes = slices.Insert(cs.classes, i, &class{priority: c.Priority})
	}
	c.class = cs.classes[i]
	c.class.members++
	if cs.single && cs.active == nil {
		cs.active = c
	}
	cs.update(c)
	if cs.single && cs.yields && c.Priority > cs.active.Priority && (cs.heir == nil || c.Priority > cs.heir.Priority) {
		cs.heir = c
		cs.update(cs.active)
		cs.succeed()
	}
}

// succeed makes the heir the active consumer as soon as the one before holds nothing any more; true if that is so now.
//
// [quorum queues, single active consumer with priorities]
func (cs *consumers) succeed() bool {
	if cs.heir == nil || cs.active.unacked > 0 {
		return false
	}
	cs.active, cs.heir = cs.heir, nil
	cs.update(cs.active)
	return true
}

// remove takes consumers out; a single active one is succeeded by the highest priority, then the oldest registration.
func (cs *consumers) remove(gone ...*Consumer) {
	elect := false
	for _, c := range gone {
		if !c.registered {
			continue
		}
		c.registered = false
		cs.update(c)
		c.class.members--
		switch c {
		case cs.active:
			cs.active, elect = nil, true
		case cs.heir:
			cs.heir, elect = nil, true
		}
	}
	cs.all = slices.DeleteFunc(cs.all, func(c *Consumer) bool { return !c.registered })
	cs.classes = slices.DeleteFunc(cs.classes, func(k *class) bool { return k.members == 0 })
	if elect {
		cs.elect()
	}
}

// elect finds an active consumer if there is none, and serves the one there is.
func (cs *consumers) elect() {
	if cs.active == nil {
		cs.heir = nil
		for _, c := range cs.all {
			if cs.active == nil || c.Priority > cs.active.Priority {
				cs.active = c
			}
		}
	}
	if cs.active != nil {
		cs.update(cs.active)
	}
}

// next returns the consumer to be served next, nil when none has room.
func (cs *consumers) next() *Consumer {
	if cs.ready == 0 || cs.paused {
		return nil
	}
	for _, k := range cs.classes {
		switch {
		case k.first == nil:
		case cs.least:
			return k.least()
		default:
			return k.first
		}
	}
	return nil
}

// served moves a consumer that was just served to the tail of its class, or out if that was its last room.
func (cs *consumers) served(c *Consumer) {
	if !c.hasRoom() {
		cs.update(c)
		return
	}
	if c.next != c {
		c.class.first = c.next
	}
}

// update links a consumer into its class's rotation, at the tail, or takes it out, as its room and registration demand.
func (cs *consumers) update(c *Consumer) {
	want := c.registered && c.hasRoom() && (!cs.single || cs.active == c && cs.heir == nil)
	if want == c.linked {
		return
	}
	k := c.class
	c.linked = want
	if want {
		k.link(c)
		cs.ready++
	} else {
		k.unlink(c)
		cs.ready--
	}
}

// least is the consumer that holds the fewest messages; of several the one whose turn it is.
func (k *class) least() *Consumer {
	found := k.first
	for c := k.first.next; c != k.first; c = c.next {
		if c.unacked < found.unacked {
			found = c
		}
	}
	return found
}

func (k *class) link(c *Consumer) {
	if k.first == nil {
		c.next, c.prev = c, c
		k.first = c
		return
	}
	last := k.first.prev
	c.prev, c.next = last, k.first
	last.next, k.first.prev = c, c
}

func (k *class) unlink(c *Consumer) {
	if c.next == c {
		k.first = nil
	} else {
		c.prev.next, c.next.prev = c.next, c.prev
		if k.first == c {
			k.first = c.next
		}
	}
	c.next, c.prev = nil, nil
}
