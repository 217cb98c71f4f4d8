package store

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pressureBytes is how much may wait for the disk before publishers should pause.
	pressureBytes = 8 << 20
	// lazyWrite and lazySync are how long a settlement may stay in memory, and in the system's cache.
	lazyWrite = 20 * time.Millisecond
	lazySync  = time.Second
	// lazyBytes ends a payload of settlements.
	lazyBytes = 64 << 10
)

// log is the place where batches wait for the committer. Its mutex is the append lock of the store.
type log struct {
	mu        sync.Mutex
	pending   []*payload
	appended  LSN       // of the last payload
	published LSN       // of the last one that somebody waits for
	urgent    int       // payloads in pending that do
	lazySince time.Time // when the oldest of the others was begun; zero when there is none
	closed    bool

	wake     chan struct{} // something is pending
	durable  atomic.Uint64
	unsynced atomic.Int64 // bytes appended and not yet durable

	records, bytes atomic.Uint64
}

// append gives a payload its place; number runs under the lock. An empty batch (nil) yields the end of the log.
func (l *log) append(p *payload, number func()) LSN {
	l.mu.Lock()
	if number != nil {
		number()
	}
	if p == nil || l.closed {
		lsn := l.published
		if l.closed && p != nil {
			lsn = ^LSN(0) // nothing will make it durable
		}
		l.mu.Unlock()
		return lsn
	}
	l.push(p)
	l.urgent++
	l.published = p.lsn
	lsn := p.lsn
	led := p.led // the payload is the committer's once the lock is free
	l.mu.Unlock()
	if !led {
		l.kick()
	}
	return lsn
}

// push puts a payload at the end. The lock is held.
func (l *log) push(p *payload) {
	l.appended++
	p.lsn = l.appended
	l.pending = append(l.pending, p)
	n := p.length()
	l.unsynced.Add(int64(n))
	l.records.Add(uint64(len(p.recs)))
	l.bytes.Add(uint64(n))
}

// lazily adds a record that nobody waits for: to the last payload if that one is of this sort too, since its place in the log
// must be behind all that was appended before.
func (l *log) lazily(kind byte, fields func(p *payload)) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	var p *payload
	if n := len(l.pending); n > 0 && l.pending[n-1].lazy && len(l.pending[n-1].buf) < lazyBytes {
		p = l.pending[n-1]
	}
	fresh := p == nil
	if fresh {
		p = newPayload(0)
		p.lazy = true
		l.push(p)
	}
	before := len(p.buf)
	p.begin(kind, 0)
	fields(p)
	p.end(&p.recs[len(p.recs)-1])
	n := len(p.buf) - before
	l.unsynced.Add(int64(n))
	l.records.Add(1)
	l.bytes.Add(uint64(n))
	if fresh && l.lazySince.IsZero() {
		l.lazySince = time.Now()
	}
	l.mu.Unlock()
	if fresh {
		l.kick()
	}
}

// kick wakes the committer; it does not matter if it is awake.
func (l *log) kick() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// demand is what the committer may act on.
type demand struct {
	urgent    bool
	pending   bool
	lazySince time.Time
	closed    bool
}

// demand looks at what is pending.
func (l *log) demand() demand {
	l.mu.Lock()
	defer l.mu.Unlock()
	return demand{urgent: l.urgent > 0, pending: len(l.pending) > 0, lazySince: l.lazySince, closed: l.closed}
}

// take removes payloads from the front, up to limit bytes; it returns none when the first has more than room bytes, and need is
// then what the first takes. A payload larger than the limit comes alone.
func (l *log) take(group []*payload, limit, room int) (taken []*payload, need int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size, n := 0, 0
	for n < len(l.pending) {
		next := l.pending[n].length()
		if n > 0 && size+next > limit || size+next > room {
			break
		}
		size += next
		n++
	}
	if n == 0 {
		return group, l.pending[0].length()
	}
	for _, p := range l.pending[:n] {
		if !p.lazy {
			l.urgent--
		}
	}
	group = append(group, l.pending[:n]...)
	rest := copy(l.pending, l.pending[n:])
	clear(l.pending[rest:])
	l.pending = l.pending[:rest]
	l.lazySince = time.Time{}
	if rest > 0 {
		l.lazySince = time.Now()
	}
	return group, 0
}

// restore puts back what was taken, in front of what came meanwhile.
func (l *log) restore(group []*payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = slices.Insert(l.pending, 0, group...)
	for _, p := range group {
		if !p.lazy {
			l.urgent++
		}
	}
	if l.lazySince.IsZero() {
		l.lazySince = time.Now()
	}
}

// close refuses further appends; the committer writes what is pending and ends.
func (l *log) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.kick()
}
