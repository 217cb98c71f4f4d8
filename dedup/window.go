package dedup

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"leveret/amqp"
	"leveret/store"
)

// The names that clients use, those of the community's plugin and of LavinMQ.
const (
	DefaultHeader = "x-deduplication-header" // holds the key, if the window was not given another name
	HeaderTTL     = "x-cache-ttl"            // ms that the key of this message is remembered, instead of the window's time
)

// Log is what a window needs of the store.
type Log interface {
	// Settle records that keys are forgotten. It must not wait.
	Settle(queue uint64, ranges []store.Range)
	// Read returns what was logged. It waits for the disk.
	Read(queue uint64, ranges []store.Range, limit int) (store.Window, error)
}

// Options say how a window remembers. They do not change in its life.
type Options struct {
	Header string // that holds the key; DefaultHeader if empty
	Size   int    // most keys, at least 1
	TTL    int64  // ms that a key is remembered; 0: until newer ones take its place
	Log    Log    // nil: the window does not outlive the broker
	ID     uint64 // the window's number in the log, given out like those of queues
}

// Key stands for the value of a header. It is a cryptographic hash: nobody can make a message that takes the place of another's.
type Key [16]byte

// Window remembers keys.
type Window struct {
	opts       Options
	duplicates atomic.Uint64

	mu      sync.Mutex
	places  map[Key]uint64 // where in the ring each key stands that is known
	ring    []entry        // the admitted keys, by order of admission, modulo its length, which is a power of two
	first   uint64         // the oldest, and
	end     uint64         // the one behind the newest, without the modulo
	seq     uint64         // the last number given in the log
	settled settled
}

// entry is a key that was admitted.
type entry struct {
	key     Key
	expires int64  // Unix ms; 0: never
	seq     uint64 // in the log; 0: not there
}

// New makes an empty window.
func New(opts Options) *Window {
	if opts.Header == "" {
		opts.Header = DefaultHeader
	}
	opts.Size = max(1, opts.Size)
	return &Window{opts: opts, places: make(map[Key]uint64), ring: make([]entry, 8)}
}

// ID is the window's number in the log; 0 if it has none.
func (w *Window) ID() uint64 { return w.opts.ID }

// Duplicates is how many duplicates the window has met.
func (w *Window) Duplicates() uint64 { return w.duplicates.Load() }

// Len is how many keys the window remembers at most at this moment; some of them may have expired.
func (w *Window) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.places)
}

// key finds the key of a message in its encoded headers, and for how long it is to be remembered.
func (w *Window) key(headers []byte) (k Key, ttl int64, ok bool) {
	if len(headers) == 0 {
		return Key{}, 0, false
	}
	tag, value, ok := amqp.FindField(headers, w.opts.Header)
	if !ok || tag == 'V' {
		return Key{}, 0, false
	}
	var scratch [128]byte
	sum := sha256.Sum256(amqp.AppendCanonical(scratch[:0], tag, value))
	ttl = w.opts.TTL
	if tag, value, ok := amqp.FindField(headers, HeaderTTL); ok {
		if n, ok := amqp.FieldInteger(tag, value); ok && n > 0 {
			ttl = n
		}
	}
	return Key(sum[:len(k)]), ttl, true
}

// knows reports whether a key is remembered, and counts it if so.
func (w *Window) knows(k Key) bool {
	now := time.Now().UnixMilli()
	w.mu.Lock()
	known := w.knowsLocked(k, now)
	w.mu.Unlock()
	if known {
		w.duplicates.Add(1)
	}
	return known
}

func (w *Window) knowsLocked(k Key, now int64) bool {
	at, ok := w.places[k]
	return ok && !w.at(at).expired(now)
}

// take remembers a key and returns its place; ok is false when it is known already.
func (w *Window) take(k Key, ttl int64) (at uint64, ok bool) {
	now := time.Now().UnixMilli()
	expires := int64(0)
	if ttl > 0 {
		expires = now + ttl
	}
	w.mu.Lock()
	if w.knowsLocked(k, now) {
		w.mu.Unlock()
		return 0, false
	}
	w.trim(now, 1)
	at = w.push(entry{key: k, expires: expires})
	gone := w.settled.full()
	w.mu.Unlock()
	w.tell(gone)
	return at, true
}

// forget takes a key back, if it still stands where take put it.
func (w *Window) forget(k Key, at uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if place, ok := w.places[k]; ok && place == at {
		delete(w.places, k)
	}
}

// number gives a key its number in the log. A key that newer ones have driven out meanwhile is settled at once.
func (w *Window) number(at uint64) (seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq++
	if at < w.first {
		w.settled.add(w.seq)
	} else {
		w.at(at).seq = w.seq
	}
	return w.seq
}

// tell settles in the log what is forgotten.
func (w *Window) tell(gone []store.Range) {
	if len(gone) > 0 && w.opts.Log != nil {
		w.opts.Log.Settle(w.opts.ID, gone)
	}
}

func (w *Window) at(place uint64) *entry { return &w.ring[place&uint64(len(w.ring)-1)] }

func (e *entry) expired(now int64) bool { return e.expires != 0 && e.expires <= now }

// trim makes room for n keys: of those that have expired and stand at the front anyway, and of the oldest as far as there are too many.
func (w *Window) trim(now int64, n int) {
	for w.first < w.end && (w.end-w.first+uint64(n) > uint64(w.opts.Size) || w.at(w.first).expired(now)) {
		e := w.at(w.first)
		if at, ok := w.places[e.key]; ok && at == w.first {
			delete(w.places, e.key)
		}
		if e.seq != 0 {
			w.settled.add(e.seq)
		}
		*e = entry{}
		w.first++
	}
}

// push puts a key behind all others, whether it is known or not.
func (w *Window) push(e entry) (at uint64) {
	if w.end-w.first == uint64(len(w.ring)) {
		w.grow()
	}
	at = w.end
	w.end++
	*w.at(at) = e
	w.places[e.key] = at
	return at
}

func (w *Window) grow() {
	old := w.ring
	w.ring = make([]entry, 2*len(old))
	for at := w.first; at < w.end; at++ {
		*w.at(at) = old[at&uint64(len(old)-1)]
	}
}

// settled are numbers of forgotten keys that the log has not been told of.
type settled []store.Range

// settledRanges is how many ranges of them are gathered. A crash brings what was not told back, and the start drops it again.
const settledRanges = 64

// settledKeys is how many keys one of them holds at most.
const settledKeys = 1024

func (s *settled) add(seq uint64) {
	if n := len(*s); n > 0 && (*s)[n-1].Last+1 == seq {
		(*s)[n-1].Last = seq
		return
	}
	*s = append(*s, store.Range{First: seq, Last: seq})
}

// full returns what was gathered if it is enough for a record, and begins anew.
func (s *settled) full() []store.Range {
	n := len(*s)
	if n == 0 || n < settledRanges && (*s)[n-1].Last-(*s)[n-1].First < settledKeys {
		return nil
	}
	gone := *s
	*s = nil
	return gone
}
