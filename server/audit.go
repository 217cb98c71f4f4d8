package server

import (
	"time"

	"leveret/events"
	"leveret/exchange"
	"leveret/queue"
)

// The audit log has what people and programs do to things that are meant to last. What is made to go by itself, exclusive and auto-delete queues and
// auto-delete exchanges, is not in it, whoever deletes it: clients do that all day.

// auditLines is how many acts of one connection are logged a second; events have all of them.
const auditLines = 20

// auditLog counts a connection's lines of the audit log. It belongs to the connection's reader.
type auditLog struct {
	second int64 // Unix
	lines  int   // in that second
	left   int   // acts that no line tells of, since the last that one does
}

// admits tells whether an act at a moment is logged, and how many before it were not.
func (a *auditLog) admits(second int64) (ok bool, left int) {
	if second != a.second {
		a.second, a.lines = second, 0
	}
	if a.lines == auditLines {
		a.left++
		return false, 0
	}
	a.lines++
	left, a.left = a.left, 0
	return true, left
}

// audit notes something that can't be undone.
func (c *connection) audit(action, name string, about ...any) {
	facts := append([]any{"user", c.user.Name(), "peer", c.out.Conn.RemoteAddr().String(), "vhost", c.vhost.Name(), "name", name}, about...)
	act := events.Act{Action: action, Facts: facts}
	act.Emit(c.server.events)
	if c.audited == nil {
		c.audited = new(auditLog)
	}
	logged, left := c.audited.admits(time.Now().Unix())
	c.tellUnlogged(left)
	if logged {
		act.Log(c.server.log)
	}
}

// tellUnlogged says how many acts no line told of.
func (c *connection) tellUnlogged(acts int) {
	if acts > 0 {
		c.log.Warn("audit: acts were too many to be logged one by one", "acts", acts, "user", c.user.Name())
	}
}

// endAudit tells what the connection's end leaves untold.
func (c *connection) endAudit() {
	if c.audited != nil {
		c.tellUnlogged(c.audited.left)
	}
}

// lastingQueue tells whether a queue's end or loss is worth a line.
func lastingQueue(q *queue.Queue) bool {
	if q == nil {
		return false
	}
	o := q.Options()
	return !o.Exclusive && !o.AutoDelete
}

func lastingExchange(x *exchange.Exchange) bool { return x != nil && !x.Options().AutoDelete }
