package vhost

import "sync/atomic"

// Churn counts queues that come and go, in all virtual hosts that were made with it. Any goroutine may read it; nil counts nothing.
type Churn struct {
	declared, created, deleted atomic.Uint64
}

// Declared is how many declares of a queue succeeded, of one that was there too; passive ones do not count.
func (c *Churn) Declared() uint64 { return c.declared.Load() }

// Created is how many queues that made.
func (c *Churn) Created() uint64 { return c.created.Load() }

// Deleted is how many queues are gone, in whatever way.
func (c *Churn) Deleted() uint64 { return c.deleted.Load() }

// declare counts a declare that succeeded, and whether it made the queue. A nil Churn counts nothing.
func (c *Churn) declare(created bool) {
	if c == nil {
		return
	}
	c.declared.Add(1)
	if created {
		c.created.Add(1)
	}
}

// remove counts a queue that has gone, for whatever reason.
func (c *Churn) remove() {
	if c != nil {
		c.deleted.Add(1)
	}
}
