package vhost

import (
	"leveret/amqp"
	"leveret/dedup"
	"leveret/exchange"
	"leveret/queue"
)

// newWindow makes the window of keys of an exchange or a queue. Of a durable one it lasts: id is its number in the store, 0 to be given a new
// one. With a number it takes in what the store has kept, and waits for the disk.
func (v *VHost) newWindow(d queue.Deduplication, durable bool, id uint64) (*dedup.Window, error) {
	opts := dedup.Options{Header: d.Header, Size: d.Size, TTL: d.TTL}
	if !durable {
		return dedup.New(opts), nil
	}
	opts.Log, opts.ID = v.opts.Store, id
	if id == 0 {
		opts.ID = v.opts.Store.NextQueueID()
		return dedup.New(opts), nil
	}
	return dedup.Recover(opts, v.opts.Recovery.claim(id))
}

// exchangeWindow makes the window of an exchange that looks for duplicates, nil for others.
func (v *VHost) exchangeWindow(opts *exchange.Options, id uint64) (*dedup.Window, error) {
	if !opts.Deduplicates() {
		return nil, nil
	}
	// The arguments are those of queues, but that the exchange type does without the first.
	arguments := append(amqp.Table{{Name: exchange.ArgDeduplication, Value: true}}, opts.Arguments...)
	return v.newWindow(deduplication(arguments), opts.Durable, id)
}

// addWindow gives a queue that looks for duplicates its window.
func (v *VHost) addWindow(q *queue.Options, id uint64) (err error) {
	if q.Deduplication.Enabled {
		q.Window, err = v.newWindow(q.Deduplication, q.Durable, id)
	}
	return err
}

// dropWindow forgets what the store holds of a window.
func (v *VHost) dropWindow(w *dedup.Window) {
	if w != nil && w.ID() != 0 {
		v.opts.Store.DropQueue(w.ID())
	}
}

// windowID is the number of a window in the store, 0 for none.
func windowID(w *dedup.Window) int64 {
	if w == nil {
		return 0
	}
	return int64(w.ID())
}
