package queue

// disuse is since when nobody has used the queue. Owned by whoever runs the queue.
type disuse struct {
	since int64 // Unix ms
}

// used notes that somebody has use for the queue: it was declared, looked at or got from, or has just lost its last consumer.
//
// [queue.declare x-expires]: publishing to a queue is no use of it.
func (q *Queue) used() {
	if q.set.Expires >= 0 {
		q.disuse.since = q.now()
		q.wakeAt(q.disuse.since + q.set.Expires)
	}
}

// endDisuse closes a queue that nobody has used for too long. Its messages are not dead-lettered.
func (q *Queue) endDisuse() {
	if q.set.Expires < 0 || len(q.consumers.all) > 0 || q.closed {
		return
	}
	at := q.disuse.since + q.set.Expires
	if at > q.now() {
		q.wakeAt(at)
		return
	}
	q.close()
	if q.opts.Expired != nil {
		go q.opts.Expired(q)
	}
}
