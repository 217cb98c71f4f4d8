package queue

import "sync"

// purgeMessages is how many messages a purge drops in one turn.
const purgeMessages = 20 * turnMessages

type purge struct {
	begun bool
	below uint64 // messages that came later stay
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
	if q.closed {
		p.err = ErrClosed
		p.done.Done()
		return
	}
	if !p.begun {
		p.begun, p.below = true, q.next
		p.count = q.dropAway() + q.dropLeaving() + q.dropRetries() + q.dropDelays()
		q.counted.Purged += uint64(p.count)
	}
	before := p.count
	for {
		n, e, ok := q.window.NextMarked()
		if !ok || n >= p.below {
			p.done.Done()
			break
		}
		if p.count-before == purgeMessages {
			q.post(p) // goes on in the next turn; the runner is right here
			break
		}
		q.depart(n, e.tag)
		q.weigh(e, -e.size())
		if e.stored() {
			q.tell(n)
		}
		q.releases.add(e.chunk)
		q.window.Remove(n)
		p.count++
	}
	q.counted.Purged += uint64(p.count - before)
}
