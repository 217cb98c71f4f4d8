package store

// Lead implements Store. The sync blocks a thread in any case: here it is the one that has just appended, so that no other has to
// be woken before it, and none after it to send the confirm. What can't be done without waiting for space, or for a segment, is
// left to the committer's goroutine.
func (s *Disk) Lead() {
	c := s.writer
	if !c.turn.TryLock() {
		return // who has the turn looks again afterwards
	}
	if c.failed == nil {
		c.failed = c.lead()
	}
	err, oversleeps := c.failed, c.due.After(c.since.Add(idlePromise))
	c.turn.Unlock()
	if err != nil {
		s.fail(err)
	}
	if oversleeps || s.log.demand().urgent { // appended meanwhile, or left
		s.log.kick()
	}
}

// lead commits one group, if one is urgent.
func (c *committer) lead() error {
	if !c.s.log.demand().urgent {
		return nil
	}
	room := int(c.seg.size-c.seg.offset(c.pos)) - batchHead
	c.group, _ = c.s.log.take(c.group[:0], c.s.options.BatchSize, room)
	if len(c.group) == 0 {
		return nil
	}
	if err := c.writeAt(c.group); err != nil {
		// Nothing of it counts as written: the goroutine tries again, and does what is to be done about the error.
		c.s.log.restore(c.group)
		return nil
	}
	c.wrote(c.group)
	c.s.hook("written")
	return c.complete()
}
