package auth

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Attempts counts logins since the start, or since they were reset.
type Attempts struct{ Total, Failed uint64 }

func (n *Attempts) count(failed bool) {
	n.Total++
	if failed {
		n.Failed++
	}
}

// ProtocolAttempts are the logins over one protocol.
type ProtocolAttempts struct {
	Protocol string
	Attempts
}

// SourceAttempts are the logins over one protocol from one address as one user. They are counted only when [Options.TrackSources] is set.
type SourceAttempts struct {
	Protocol, Address, User string
	Attempts
}

// maxSources bounds what is remembered of single sources: a flood of made up names must not fill the memory.
const maxSources = 10_000

// ledger counts logins. Its zero value is ready for use, by any goroutine.
type ledger struct {
	mu        sync.Mutex
	all       Attempts
	protocols map[string]Attempts
	sources   map[source]Attempts
}

type source struct{ protocol, address, user string }

func (l *ledger) count(from *Client, user string, failed, track bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.count(failed)
	if l.protocols == nil {
		l.protocols, l.sources = make(map[string]Attempts), make(map[source]Attempts)
	}
	n := l.protocols[from.protocol()]
	n.count(failed)
	l.protocols[from.protocol()] = n
	if !track {
		return
	}
	at := source{from.protocol(), from.Address.Unmap().String(), user}
	n, known := l.sources[at]
	if !known && len(l.sources) >= maxSources {
		return
	}
	n.count(failed)
	l.sources[at] = n
}

// Attempts returns the counts of all logins so far.
func (a *Authenticator) Attempts() Attempts {
	a.attempts.mu.Lock()
	defer a.attempts.mu.Unlock()
	return a.attempts.all
}

// AttemptsByProtocol returns the counts of each protocol that somebody logged in by, in alphabetical order.
func (a *Authenticator) AttemptsByProtocol() []ProtocolAttempts {
	a.attempts.mu.Lock()
	defer a.attempts.mu.Unlock()
	var list []ProtocolAttempts
	for _, protocol := range slices.Sorted(maps.Keys(a.attempts.protocols)) {
		list = append(list, ProtocolAttempts{protocol, a.attempts.protocols[protocol]})
	}
	return list
}

// AttemptsBySource returns the counts of each protocol, address and user name, in this order. It is empty unless [Options.TrackSources] is set.
func (a *Authenticator) AttemptsBySource() []SourceAttempts {
	a.attempts.mu.Lock()
	defer a.attempts.mu.Unlock()
	var list []SourceAttempts
	for at, n := range a.attempts.sources {
		list = append(list, SourceAttempts{at.protocol, at.address, at.user, n})
	}
	slices.SortFunc(list, func(x, y SourceAttempts) int {
		return cmp.Or(cmp.Compare(x.Protocol, y.Protocol), cmp.Compare(x.Address, y.Address), cmp.Compare(x.User, y.User))
	})
	return list
}

// ResetAttempts sets the counts of protocols and sources back to nothing; the total of all, which is a metric, goes on.
func (a *Authenticator) ResetAttempts() {
	a.attempts.mu.Lock()
	defer a.attempts.mu.Unlock()
	a.attempts.protocols, a.attempts.sources = nil, nil
}
