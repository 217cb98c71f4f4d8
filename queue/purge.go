package queue

import "sync"

type purge struct {
	count int
	err   error
	done  sync.WaitGroup
}

// Purge drops the ready messages and returns how many there were; unacked ones stay. It blocks until the queue has answered.
func (q *Queue) Purge() (count int, err error) {
	p := new(purge)
	q.call(p, &p.done)
	return p.count, p.err
}

func (p *purge) run(q *Queue) {
	defer p.done.Done()
	if q.closed {
		p.err = ErrClosed
		return
	}
	for {
		n, e, ok := q.window.NextMarked()
		if !ok {
			break
		}
		q.readyBytes -= len(e.message) + entryOverhead
		if e.logged {
			q.tell(n)
		}
		q.releases.add(e.chunk)
		q.window.Remove(n)
		p.count++
	}
	q.counted.Purged += uint64(p.count)
}
