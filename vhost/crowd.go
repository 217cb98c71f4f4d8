package vhost

// Crowd tells a collection that may outlive very many of its members when to look which of them have gone: when there are twice as many as
// the last look left. So to add one costs a constant share of a look, and no more than half of what is kept has gone, but for crowdLeast. It has no lock: it is
// its collection's.
type Crowd struct {
	many int // members from which on it is time to look; 0: none has been looked at yet
}

// crowdLeast is how many members are not worth a look.
const crowdLeast = 64

// Full reports, before a member is added to n others, whether it is time to look.
func (c *Crowd) Full(n int) bool { return n >= max(crowdLeast, c.many) }

// Looked notes how many members a look left.
func (c *Crowd) Looked(left int) { c.many = 2 * left }
