package vhost

import (
	"leveret/exchange"
	"leveret/queue"
)

// liveExchange finds an exchange by name; one that is on its way in or out it waits for. It returns nil when there is none.
func (v *VHost) liveExchange(name string) (*entry[exchange.Exchange], *exchange.Exchange) {
	for {
		e := v.exchanges.find(name)
		if e == nil {
			return nil, nil
		}
		if x := e.bearer.Load(); x != nil {
			return e, x
		}
		e.wait()
	}
}

// lockExchange is liveExchange, and takes the turn of what it finds. Whoever had the turn before may have deleted it, so it looks again.
func (v *VHost) lockExchange(name string) (*entry[exchange.Exchange], *exchange.Exchange) {
	for {
		e, x := v.liveExchange(name)
		if x == nil {
			return nil, nil
		}
		e.turn.Lock()
		if e.bearer.Load() == x {
			return e, x
		}
		e.turn.Unlock()
	}
}

// liveQueue finds a queue by name. One that is on its way in it waits for, one that has closed itself it retires. The queue is nil when there is
// none; an error is the store's.
func (v *VHost) liveQueue(name string) (*entry[queue.Queue], *queue.Queue, error) {
	for {
		e := v.queues.find(name)
		if e == nil {
			return nil, nil, nil
		}
		q := e.bearer.Load()
		switch {
		case q == nil:
			e.wait()
		case !q.Closed():
			return e, q, nil
		default:
			if err := v.Retire(q); err != nil {
				return nil, nil, err
			}
		}
	}
}

// lockQueue is liveQueue, and takes the turn of what it finds. As long as the caller has it, the queue may close itself, but what
// leads to it stays for Retire to find.
func (v *VHost) lockQueue(name string) (*entry[queue.Queue], *queue.Queue, error) {
	for {
		e, q, err := v.liveQueue(name)
		if q == nil {
			return nil, nil, err
		}
		e.turn.Lock()
		if !q.Closed() { // and so not retired either
			return e, q, nil
		}
		e.turn.Unlock()
	}
}
