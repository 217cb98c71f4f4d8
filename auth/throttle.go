package auth

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// throttle holds back who fails to log in again and again. An address has a budget of failures as a whole, and a smaller one for each user
// name that it tries; either is filled up slowly. While one is empty, logins are refused before any password is looked at, so that guessing
// is slow and costs the broker nothing. Users who log in from elsewhere don't notice.
//
// It is safe for use by any goroutine.
type throttle struct {
	burst int        // failures of an address as one user; 0: no limit
	every rate.Limit // failures a second that are forgiven

	mu      sync.Mutex
	budgets map[suspect]*budget
}

// suspect is an address, alone or together with the name that it tries.
type suspect struct {
	address netip.Addr
	user    string
	any     bool // whatever the name
}

type budget struct {
	*rate.Limiter
	told bool // that it is empty
}

const (
	// addressFactor is how many times the failures of one user an address may have with all user names together. Many users may share one.
	addressFactor = 10
	// maxSuspects bounds the budgets that are remembered.
	maxSuspects = 20_000
)

// suspects are the two that a login counts for. Of IPv6 the network counts, since one machine has as many addresses as it likes in it.
func suspects(from *Client, user string) [2]suspect {
	address := from.Address.Unmap()
	if address.Is6() {
		network, _ := address.WithZone("").Prefix(64)
		address = network.Addr()
	}
	return [2]suspect{{address: address, user: user}, {address: address, any: true}}
}

// admits reports whether a login may be tried. If not, news tells whether that is worth a line in the log: once for each empty budget.
func (t *throttle) admits(from *Client, user string) (ok, news bool) {
	if t.burst == 0 {
		return true, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, who := range suspects(from, user) {
		if b := t.budgets[who]; b != nil && b.Tokens() < 1 {
			news = !b.told
			b.told = true
			return false, news
		}
	}
	return true, false
}

// failed counts a failure.
func (t *throttle) failed(from *Client, user string) {
	if t.burst == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, who := range suspects(from, user) {
		b := t.budgets[who]
		if b == nil {
			b = t.begin(who)
		}
		b.told = false
		b.Allow()
	}
}

// begin makes a budget for a suspect. When there are too many, those go that are full again, and if they are few, all: whoever makes
// as many suspects as that gains a few guesses and no memory.
func (t *throttle) begin(who suspect) *budget {
	if len(t.budgets) >= maxSuspects {
		for other, b := range t.budgets {
			if b.Tokens() >= float64(b.Burst()) {
				delete(t.budgets, other)
			}
		}
		if len(t.budgets) > maxSuspects/2 {
			clear(t.budgets)
		}
	}
	if t.budgets == nil {
		t.budgets = make(map[suspect]*budget)
	}
	factor := 1
	if who.any {
		factor = addressFactor
	}
	b := &budget{Limiter: rate.NewLimiter(t.every*rate.Limit(factor), t.burst*factor)}
	t.budgets[who] = b
	return b
}

// forgiveness is the limit of one failure in an interval; none means that nothing is forgiven.
func forgiveness(interval time.Duration) rate.Limit {
	if interval <= 0 {
		return 0
	}
	return rate.Every(interval)
}
