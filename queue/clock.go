package queue

import "time"

// clock is a queue's sense of time: one timer, made when something is first due. Owned by whoever runs the queue.
type clock struct {
	at    int64 // Unix ms of this turn, 0: nobody has asked yet
	armed int64 // Unix ms at which the timer fires, 0: it does not
	timer *time.Timer
}

// now is the time of this turn in Unix milliseconds.
func (q *Queue) now() int64 {
	if q.clock.at == 0 {
		q.clock.at = time.Now().UnixMilli()
	}
	return q.clock.at
}

// wakeAt makes the queue run at a time, in Unix milliseconds, at the latest.
func (q *Queue) wakeAt(at int64) {
	k := &q.clock
	if k.armed != 0 && k.armed <= at || q.closed || q.stopped {
		return
	}
	k.armed = at
	wait := time.Duration(max(0, at-time.Now().UnixMilli())) * time.Millisecond
	if k.timer == nil {
		k.timer = time.AfterFunc(wait, q.wakeUp)
	} else {
		k.timer.Reset(wait)
	}
}

// wakeUp runs on the timer's goroutine.
func (q *Queue) wakeUp() {
	if q.post(wake{}) {
		q.Run()
	}
}

// stop ends that the queue wakes by itself.
func (k *clock) stop() {
	if k.timer != nil {
		k.timer.Stop()
	}
}

// wake makes a turn happen.
type wake struct{}

func (wake) run(q *Queue) {
	q.clock.armed = 0
	q.due()
}

// due does what time demands, and has the queue woken for the next of it.
func (q *Queue) due() {
	if q.closed || q.stopped {
		return
	}
	q.endDisuse()
	q.retryDue()
	q.delaysDue()
	q.expireAnywhere()
	q.expire()
}
