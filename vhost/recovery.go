package vhost

import (
	"encoding/binary"

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

// NoRecovery is for virtual hosts that are made while the broker runs: there is nothing that the store could have found for them.
func NoRecovery(s store.Store) *Recovery { return &Recovery{store: s} }

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

// Close notes which messages of durable queues had been given back, so that they are redelivered after the restart too. It is called once,
// when no client is left, and before the store is closed.
func (v *VHost) Close() error {
	var changes []store.Change
	v.Queues(func(q *queue.Queue) bool {
		if ranges := q.Returned(); len(ranges) > 0 {
			changes = append(changes, store.Change{Bucket: v.returnedBucket(), Key: returnedKey(q.Options().ID), Value: encodeRanges(ranges)})
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

// returnedBucket is where a clean stop notes which messages had been delivered before, so that the start can say redelivered.
func (v *VHost) returnedBucket() string { return "returned messages of " + v.opts.Name }

// returnedKey is a queue's number, in an order that is that of numbers.
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
