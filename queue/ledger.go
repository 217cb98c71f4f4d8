package queue

import "sync"

// Ledger sums up what queues did that are gone, so that a broker's totals never fall. It is safe for concurrent use.
type Ledger struct {
	mu     sync.Mutex
	totals Totals
}

// Totals returns the sum.
func (l *Ledger) Totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.totals
}

func (l *Ledger) add(t *Totals) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals.Add(t)
}

// Add adds another queue's totals.
func (t *Totals) Add(u *Totals) {
	t.Published += u.Published
	t.Delivered += u.Delivered
	t.DeliveredAuto += u.DeliveredAuto
	t.Got += u.Got
	t.GotAuto += u.GotAuto
	t.GetEmpty += u.GetEmpty
	t.Redelivered += u.Redelivered
	t.Acked += u.Acked
	t.Requeued += u.Requeued
	t.Rejected += u.Rejected
	t.Purged += u.Purged
	t.Damaged += u.Damaged
	t.DiskWrites += u.DiskWrites
	t.DiskReads += u.DiskReads
	for r := range reasons {
		t.DeadLettered[r] += u.DeadLettered[r]
		t.Dropped[r] += u.Dropped[r]
	}
}

// Add adds another queue's figures.
func (s *Stats) Add(u Stats) {
	s.Ready += u.Ready
	s.Unacked += u.Unacked
	s.Consumers += u.Consumers
	s.ReadyBytes += u.ReadyBytes
	s.Bodies += u.Bodies
	s.UnackedBodies += u.UnackedBodies
	s.Persistent += u.Persistent
	s.UnackedInMemory += u.UnackedInMemory
	s.InMemoryBodies += u.InMemoryBodies
	s.PersistentBodies += u.PersistentBodies
	if s.Head == 0 || u.Head != 0 && u.Head < s.Head {
		s.Head = u.Head // of several queues, the oldest
	}
	s.Totals.Add(&u.Totals)
}
