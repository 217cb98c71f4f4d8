package queue

// groupRunMost is how many messages of a group a consumer gets in a row, while it has room, before it is the turn of another group.
const groupRunMost = 16

// groupRun is a group whose turn it is with the consumer that holds it. A consumer that took one message of each group in turn would hold all groups
// that it ever had for as long as it has work: whoever got more of them at the start would be behind for ever, and the others idle. And the next
// message of a group at hand costs less than that of another.
type groupRun struct {
	group    *group
	consumer *Consumer
	left     int  // messages that may still go
	seen     byte // see glance
}

// begin begins a run with a message that goes next.
func (r *groupRun) begin(g *group, c *Consumer) {
	r.group, r.consumer, r.left = g, c, groupRunMost-1
	if c != nil && !c.NoAck {
		r.glance(c.queue, g.ready.list[g.ready.from:], min(groupRunMost, c.room()))
	}
}

// gone is how many messages have gone in this run.
func (r *groupRun) gone() int { return groupRunMost - r.left }

// next is the group whose run goes on and its consumer, nil if none does.
func (r *groupRun) next() (*group, *Consumer) {
	g, c := r.group, r.consumer
	if r.left == 0 || c == nil || g.holder != c || !c.linked || g.ready.len() == 0 || g.absent {
		return nil, nil
	}
	r.left--
	return g, c
}

// glance looks at messages that are needed next, one after the other. They stand far apart, since they came between those of other groups: memory
// answers all of these questions together, in about the time that it takes for a single one later.
func (r *groupRun) glance(q *Queue, numbers []uint64, most int) {
	var entries [groupRunMost]*entry
	numbers = numbers[:min(most, len(numbers))]
	for i, n := range numbers {
		if e := q.window.At(n); e != nil && len(e.message) > 0 {
			entries[i] = e
		}
	}
	for _, e := range entries[:len(numbers)] {
		if e != nil {
			r.seen += e.message[0] + e.message[len(e.message)-1]
		}
	}
}

// glanceAt is glance for messages that are settled.
func (r *groupRun) glanceAt(q *Queue, s *Settlement) {
	for _, settled := range s.ranges {
		for n := settled.First; n <= settled.Last; n++ {
			if e := q.window.At(n); e != nil {
				r.seen += byte(len(e.message)) + byte(e.tag)
			}
		}
	}
}
