package vhost

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"leveret/queue"
	"leveret/store"
)

// Recovery is what the store found of the queues when it was opened, until virtual hosts claim it. One serves all virtual hosts of a
// broker, one after the other.
type Recovery struct {
	store  store.Store
	states map[uint64]store.QueueState // by the queues' numbers
}

// NewRecovery asks the store what it found.
func NewRecovery(s store.Store) *Recovery {
	r := &Recovery{store: s, states: make(map[uint64]store.QueueState)}
	s.Queues(func(q store.QueueState) { r.states[q.ID] = q })
	return r
}

// claim returns what the store found of a queue.
func (r *Recovery) claim(id uint64) store.QueueState {
	state := r.states[id]
	delete(r.states, id)
	return state
}

// Finish drops what no virtual host has claimed: messages of queues that were being deleted when the broker stopped.
func (r *Recovery) Finish() {
	for id := range r.states {
		r.store.DropQueue(id)
	}
	clear(r.states)
}

// progressInterval is how often a long recovery says how far it is.
const progressInterval = 2 * time.Second

// recovering are the queues of a virtual host on their way back.
type recovering struct {
	v        *VHost
	log      *slog.Logger
	queues   []*comeback
	next     atomic.Int64
	done     atomic.Int64
	messages atomic.Uint64
	lost     atomic.Uint64
}

// comeback is one queue on its way back.
type comeback struct {
	opts     queue.Options
	state    store.QueueState
	returned []store.Range
	queue    *queue.Queue
	err      error
}

// recoverQueues brings queues back, as many at once as there are processors, and tells how far it is if that takes long.
func (v *VHost) recoverQueues(queues []*comeback) error {
	start := time.Now()
	r := &recovering{v: v, log: v.opts.Log.With("vhost", v.opts.Name), queues: queues}
	finished := make(chan struct{})
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(queues)) {
		workers.Go(r.work)
	}
	go func() {
		workers.Wait()
		close(finished)
	}()
	r.report(finished)
	for _, c := range queues {
		if c.err != nil {
			return fmt.Errorf("recover queue %q: %w", c.opts.Name, c.err)
		}
		if e := v.queues.reserve(c.opts.Name); e != nil {
			e.bearer.Store(c.queue)
			e.turn.Unlock()
		}
	}
	if len(queues) > 0 {
		r.log.Info("queues recovered", "queues", len(queues), "messages", r.messages.Load(), "lost", r.lost.Load(), "duration", time.Since(start))
	}
	return nil
}

// report tells how far the recovery is until it is finished.
func (r *recovering) report(finished <-chan struct{}) {
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			return
		case <-tick.C:
			r.log.Info("recovering queues", "done", r.done.Load(), "of", len(r.queues), "messages", r.messages.Load())
		}
	}
}

// work recovers queues until there are no more.
func (r *recovering) work() {
	for {
		i := int(r.next.Add(1)) - 1
		if i >= len(r.queues) {
			return
		}
		c := r.queues[i]
		var lost uint64
		c.queue, lost, c.err = queue.Recover(c.opts, c.state, c.returned)
		if lost > 0 {
			r.log.Error("messages of a queue are damaged on disk and lost", "queue", c.opts.Name, "messages", lost)
			r.lost.Add(lost)
		}
		r.messages.Add(c.state.Messages - min(lost, c.state.Messages))
		r.done.Add(1)
	}
}

// Close notes which messages of durable queues had been given back, so that they are redelivered after the restart too. It is called once,
// when no client is left, and before the store is closed.
func (v *VHost) Close() error {
	var changes []store.Change
	v.Queues(func(q *queue.Queue) bool {
		if q.Durable() {
			if ranges := q.Returned(); len(ranges) > 0 {
				changes = append(changes, store.Change{Bucket: v.returnedBucket(), Key: returnedKey(q.Options().ID), Value: encodeRanges(ranges)})
			}
		}
		return true
	})
	return v.commit(changes)
}

// loadReturned reads what Close noted, by the queues' numbers, and removes it: it holds for one start.
func (v *VHost) loadReturned() (map[string][]store.Range, error) {
	found := make(map[string][]store.Range)
	var used []store.Change
	err := v.opts.Store.Load(v.returnedBucket(), func(key string, value []byte) error {
		found[key] = decodeRanges(value)
		used = append(used, store.Change{Bucket: v.returnedBucket(), Key: key})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, v.commit(used)
}

func (v *VHost) returnedBucket() string { return "returned messages of " + v.opts.Name }

func returnedKey(id uint64) string { return string(binary.BigEndian.AppendUint64(nil, id)) }

// encodeRanges writes each range as its distance from the one before and its length.
func encodeRanges(ranges []store.Range) []byte {
	var b []byte
	end := uint64(0)
	for _, r := range ranges {
		b = binary.AppendUvarint(b, r.First-end)
		b = binary.AppendUvarint(b, r.Last-r.First)
		end = r.Last
	}
	return b
}

// decodeRanges reads what encodeRanges wrote; what makes no sense ends it.
func decodeRanges(b []byte) (ranges []store.Range) {
	end := uint64(0)
	for len(b) > 0 {
		distance, n := binary.Uvarint(b)
		if n <= 0 {
			return ranges
		}
		length, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return ranges
		}
		r := store.Range{First: end + distance, Last: end + distance + length}
		ranges, b, end = append(ranges, r), b[n+m:], r.Last
	}
	return ranges
}
