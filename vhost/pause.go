package vhost

import (
	"encoding/binary"

	"leveret/queue"
	"leveret/store"
)

// PauseQueue stops, or resumes, that a queue delivers to consumers; of a durable queue that lasts over a restart. Any goroutine may call it; it waits
// for the disk, and until the queue has obeyed. An error is the store's, or queue.ErrClosed.
func (v *VHost) PauseQueue(q *queue.Queue, on bool) error {
	if q.Durable() {
		if err := v.commit([]store.Change{v.pauseRecord(q, on)}); err != nil {
			return err
		}
	}
	return q.Pause(on)
}

// pauseRecord keeps that a queue is paused, or forgets it.
func (v *VHost) pauseRecord(q *queue.Queue, on bool) store.Change {
	change := store.Change{Bucket: v.pausedBucket(), Key: pausedKey(q.Options().ID)}
	if on {
		change.Value = []byte{1}
	}
	return change
}

// pausedBucket is where the store keeps which queues are paused: a restart must not resume what an operator has stopped.
func (v *VHost) pausedBucket() string { return "paused queues of " + v.opts.Name }

// pausedKey is by number and not by name: a new queue of the name is not paused.
func pausedKey(id uint64) string { return string(binary.BigEndian.AppendUint64(nil, id)) }

// loadPaused pauses the queues that were paused when the broker stopped. Records of queues that are gone, which a crash may leave behind, are deleted.
func (v *VHost) loadPaused() error {
	paused := map[string]bool{}
	err := v.opts.Store.Load(v.pausedBucket(), func(key string, _ []byte) error {
		paused[key] = true
		return nil
	})
	if err != nil || len(paused) == 0 {
		return err
	}
	v.Queues(func(q *queue.Queue) bool {
		if key := pausedKey(q.Options().ID); paused[key] {
			delete(paused, key)
			err = q.Pause(true)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	var orphans []store.Change
	for key := range paused {
		orphans = append(orphans, store.Change{Bucket: v.pausedBucket(), Key: key})
	}
	return v.commit(orphans)
}
