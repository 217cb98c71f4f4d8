package vhost

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"leveret/exchange"
)

// reservedPrefix begins the names that clients may not declare.
const reservedPrefix = "amq."

// reserved tells names that clients may not declare: AMQP 0-9-1 keeps "amq." for brokers.
func reserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

// shards is how many locks the names of one kind stand under.
const shards = 32

// names are the names of one kind, queues or exchanges, each with its entry. A sync.Map would do, but for every look-up it allocates:
// its key is an interface, and the names that come from the wire are bytes.
type names[T any] struct {
	seed   maphash.Seed
	all    *atomic.Int64 // counts the names of this kind in all virtual hosts
	shards [shards]shard[T]
}

// shard is one part of the names: a declare locks no more than that.
type shard[T any] struct {
	mu      sync.RWMutex // guards entries; a leaf lock
	entries map[string]*entry[T]
}

// entry is a name from the moment a declare reserves it until what it stands for is gone.
type entry[T any] struct {
	place
	bearer  atomic.Pointer[T]       // what the name stands for; nil while that is being made or deleted
	applied atomic.Pointer[Applied] // what the policies said of it last; nil until they were asked
	gone    chan struct{}           // closed with the release; nil unless somebody may wait for that
}

// place is what a name is as the destination of bindings.
type place struct {
	turn    sync.Mutex           // see the package comment; guards sources
	sources []*exchange.Exchange // those with bindings to here
}

// newNames makes an empty set of names. all counts those of all virtual hosts, for the node's limit. The seed is random, so
// that clients can't choose names of one shard.
func newNames[T any](all *atomic.Int64) *names[T] {
	n := &names[T]{seed: maphash.MakeSeed(), all: all}
	for i := range n.shards {
		n.shards[i].entries = make(map[string]*entry[T])
	}
	return n
}

// find returns the entry of a name, nil when it is free.
func (n *names[T]) find(name string) *entry[T] {
	s := &n.shards[maphash.String(n.seed, name)%shards]
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.entries[name]
}

// bearer returns what a name stands for at this moment, nil when that is nothing. It does not allocate.
func (n *names[T]) bearer(name []byte) *T {
	s := &n.shards[maphash.Bytes(n.seed, name)%shards]
	s.mu.RLock()
	e := s.entries[string(name)]
	s.mu.RUnlock()
	if e == nil {
		return nil
	}
	return e.bearer.Load()
}

// reserve takes a free name. The caller has the turn of the new entry, to announce what the name stands for, or to release it. If the name is
// taken the result is nil.
func (n *names[T]) reserve(name string) *entry[T] {
	s := &n.shards[maphash.String(n.seed, name)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[name] != nil {
		return nil
	}
	e := new(entry[T])
	e.turn.Lock() // nobody else knows it yet, so this does not wait under the shard's lock
	s.entries[strings.Clone(name)] = e
	n.all.Add(1)
	return e
}

// release frees a name for good; the caller has the entry's turn.
func (n *names[T]) release(name string, e *entry[T]) {
	s := &n.shards[maphash.String(n.seed, name)%shards]
	s.mu.Lock()
	delete(s.entries, name)
	s.mu.Unlock()
	n.all.Add(-1)
	e.bearer.Store(nil)
	if e.gone != nil {
		close(e.gone)
	}
}

// wait returns when nobody has the entry's turn.
func (e *entry[T]) wait() {
	e.turn.Lock()
	//lint:ignore SA2001 that the turn was free is all that is wanted
	e.turn.Unlock()
}

// each calls f for what the names stand for, in no order, until it returns false. No lock is held meanwhile.
func (n *names[T]) each(f func(*T) bool) {
	for i := range n.shards {
		for _, e := range n.shards[i].list() {
			if bearer := e.bearer.Load(); bearer != nil && !f(bearer) {
				return
			}
		}
	}
}

// list is a copy of the entries, those that are reserved and not there yet among them.
func (s *shard[T]) list() []*entry[T] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]*entry[T], 0, len(s.entries))
	for _, e := range s.entries {
		list = append(list, e)
	}
	return list
}

// list returns the entries of all names, in no order.
func (n *names[T]) list() (entries []*entry[T]) {
	for i := range n.shards {
		entries = append(entries, n.shards[i].list()...)
	}
	return entries
}

// len counts the names, those on their way in or out too.
func (n *names[T]) len() int {
	count := 0
	for i := range n.shards {
		s := &n.shards[i]
		s.mu.RLock()
		count += len(s.entries)
		s.mu.RUnlock()
	}
	return count
}
