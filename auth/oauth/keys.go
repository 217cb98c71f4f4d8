package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

const (
	// setLifetime is the age at which a set of keys is read again: a key that the provider has withdrawn is not good for longer.
	setLifetime = 5 * time.Minute
	// retryInterval is the least time between two readings, so that tokens with made up keys do not become a flood of requests.
	retryInterval = 10 * time.Second
)

// keyOf returns what a token's signature is checked with.
type keyOf func(token *jwt.Token) (any, error)

// keySet is keys by their IDs.
type keySet struct {
	by   map[string]keyOf // also under the empty ID, for a key without one
	read time.Time        // zero: there has been none
}

// keys finds the key of a token. It is safe for use by any goroutine.
type keys struct {
	fixed    map[string]keyOf
	fallback string // the ID of the key of tokens that name none
	source   source // nil: the fixed keys are all

	set     atomic.Pointer[keySet]
	reading sync.Mutex // held while the set is read; guards what follows
	tried   time.Time
	failure error // of the last try
}

// newKeys reads the fixed keys, which stay for the life of the process. A set of keys is not read yet.
func newKeys(o *Options) (*keys, error) {
	k := &keys{fixed: make(map[string]keyOf), fallback: o.DefaultKey}
	k.set.Store(new(keySet))
	for _, signing := range o.SigningKeys {
		text, err := os.ReadFile(signing.File)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", signing.ID, err)
		}
		key, err := parsePEM(text)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %s: %w", signing.ID, signing.File, err)
		}
		k.fixed[signing.ID] = func(*jwt.Token) (any, error) { return key, nil }
	}
	var err error
	k.source, err = newSource(o)
	return k, err
}

var errNoKeyID = errors.New("it does not say which key it is signed with")

// find is the [jwt.Keyfunc] of the parser.
func (k *keys) find(token *jwt.Token) (any, error) {
	id := k.fallback
	if named, found := token.Header["kid"]; found {
		text, ok := named.(string)
		if !ok {
			return nil, errNoKeyID
		}
		id = text
	}
	// The usual case takes no lock.
	key, fresh := k.look(id)
	if fresh && key != nil {
		return key(token)
	}
	err := k.renew(key != nil)
	// An old key is better than none while the provider is away.
	if newer, _ := k.look(id); newer != nil {
		return newer(token)
	}
	if id == "" {
		return nil, errors.Join(errNoKeyID, err)
	}
	return nil, errors.Join(fmt.Errorf("its key %q is not known", id), err)
}

// look finds a key among those at hand; fresh tells whether reading them again would be of no use.
func (k *keys) look(id string) (key keyOf, fresh bool) {
	if key := k.fixed[id]; key != nil {
		return key, true
	}
	set := k.set.Load()
	fresh = k.source == nil || time.Since(set.read) < setLifetime
	// A token that names no key can only mean the one that there is.
	if id == "" && len(k.fixed)+len(set.by) == 1 {
		for _, only := range []map[string]keyOf{k.fixed, set.by} {
			for key := range maps.Values(only) {
				return key, fresh
			}
		}
	}
	return set.by[id], fresh
}

// renew reads the set again if that is due. Whoever has a key already does not wait for somebody else who does so.
func (k *keys) renew(optional bool) error {
	if k.source == nil {
		return nil
	}
	if !optional {
		k.reading.Lock()
	} else if !k.reading.TryLock() {
		return nil
	}
	defer k.reading.Unlock()
	if time.Since(k.tried) < retryInterval {
		return k.failure
	}
	return k.readLocked()
}

// refresh reads the set whenever it was read last.
func (k *keys) refresh() error {
	if k.source == nil {
		return nil
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	return k.readLocked()
}

// readLocked replaces the set. If that fails the old keys stay: a provider that is away locks nobody out.
func (k *keys) readLocked() error {
	text, err := k.source()
	var by map[string]keyOf
	if err == nil {
		by, err = parseSet(text)
	}
	k.tried, k.failure = time.Now(), err
	if err == nil {
		k.set.Store(&keySet{by: by, read: k.tried})
	}
	return err
}

// parseSet reads a JWK set (RFC 7517, section 5). Keys for other uses than signatures, and of kinds that are not supported, are left out as
// the RFC wants it.
func parseSet(text []byte) (map[string]keyOf, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("no JWK set: %w", err)
	}
	by := make(map[string]keyOf)
	var errs []error
	for _, raw := range set.Keys {
		var head struct {
			ID  string `json:"kid"`
			Use string `json:"use"`
		}
		if json.Unmarshal(raw, &head) != nil || !slices.Contains([]string{"", "sig"}, head.Use) {
			continue
		}
		key, err := keyfunc.NewJWKJSON(raw)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		by[head.ID] = key.Keyfunc
	}
	if len(by) == 0 {
		return nil, errors.Join(append([]error{errors.New("the JWK set has no key for signatures")}, errs...)...)
	}
	return by, nil
}
