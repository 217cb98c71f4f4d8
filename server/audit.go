package server

import (
	"sync"
	"time"

	"leveret/events"
	"leveret/exchange"
	"leveret/queue"
)

// The audit log has what people and programs do to things that are meant to last. What is made to go by itself, exclusive and auto-delete queues and
// auto-delete exchanges, is not in it, whoever deletes it: clients do that all day.

// auditLines is how many acts of one connection are logged a second; events have all of them.
const auditLines = 20

// auditLog counts a connection's lines of the audit log.
type auditLog struct {
	tell func(acts int) // says how many acts no line told of

	mu     sync.Mutex
	second int64       // Unix
	lines  int         // in that second
	left   int         // acts that no line tells of
	timer  *time.Timer // tells of them when the second ends; nil: there are none
}

// admits tells whether an act at a moment is logged.
func (a *auditLog) admits(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Unix() != a.second {
		a.second, a.lines = now.Unix(), 0
	}
	if a.lines < auditLines {
		a.lines++
		return true
	}
	a.left++
	if a.timer == nil {
		a.timer = time.AfterFunc(now.Truncate(time.Second).Add(time.Second).Sub(now), a.flush)
	}
	return false
}

// flush tells of the acts that no line told of. Any goroutine may call it.
func (a *auditLog) flush() {
	a.mu.Lock()
	left := a.left
	if a.left = 0; a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	a.mu.Unlock()
	if left > 0 {
		a.tell(left)
	}
}

// audit notes something that can't be undone.
func (c *connection) audit(action, name string, about ...any) {
	facts := append([]any{"user", c.user.Name(), "peer", c.out.Conn.RemoteAddr().String(), "vhost", c.vhost.Name(), "name", name}, about...)
	act := events.Act{Action: action, Facts: facts}
	act.Emit(c.server.events)
	if c.audited == nil {
		user, log := c.user.Name(), c.log
		c.audited = &auditLog{tell: func(acts int) {
			log.Warn("audit: acts were too many to be logged one by one", "acts", acts, "user", user)
		}}
	}
	if c.audited.admits(time.Now()) {
		act.Log(c.server.log)
	}
}

// endAudit tells what the connection's end leaves untold.
func (c *connection) endAudit() {
	if c.audited != nil {
		c.audited.flush()
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

// lastingExchange tells the same of an exchange.
func lastingExchange(x *exchange.Exchange) bool { return x != nil && !x.Options().AutoDelete }
