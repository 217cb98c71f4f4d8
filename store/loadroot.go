package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"go.etcd.io/bbolt"
)

// deleteStale deletes chunks whose segment is not named: they are from a checkpoint that did not come to its end. Their messages
// are in the log that is replayed, and that may make chunks of the same name.
func (r *recovery) deleteStale() error {
	return r.s.root.write(func(tx *bbolt.Tx) error {
		stale := &step{}
		segments := tx.Bucket(bucketSegments)
		err := tx.Bucket(bucketChunks).ForEach(func(k, v []byte) error {
			key, ok := parseChunkKey(k)
			if _, err := openValue(k, v); ok && err == nil && segments.Get(uint64Key(key.segment)) == nil {
				stale.deleteChunk(slices.Clone(k))
			}
			return nil // what is damaged is reported when it is loaded
		})
		if err != nil {
			return err
		}
		return stale.write(tx)
	})
}

// loadRoot reads the summaries of the last checkpoint.
func (r *recovery) loadRoot() error {
	s := r.s
	return s.root.view(func(tx *bbolt.Tx) error {
		r.ckpt = number(tx, keyCheckpoint)
		r.maxID = number(tx, keySegment)
		s.report.Clean = number(tx, keyClean) == 1
		s.root.queueID.Store(max(1, number(tx, keyQueue)))
		err := eachValue(tx, bucketSegments, func(k, v []byte) error {
			seg, ok := decodeSegment(keyUint64(k), v)
			if !ok {
				return fmt.Errorf("entry of segment %x: %w", k, ErrCorrupt)
			}
			r.known[seg.id] = seg
			r.maxID = max(r.maxID, seg.id)
			return nil
		})
		if err != nil {
			return err
		}
		err = eachValue(tx, bucketQueues, func(k, v []byte) error {
			c := cursor{src: v}
			l := &lane{id: keyUint64(k), next: c.uvarint(), saved: true}
			s.index.lanes[l.id] = l
			s.seeQueue(l.id)
			return nil
		})
		if err != nil {
			return err
		}
		return r.loadChunks(tx)
	})
}

// seeQueue keeps the queue's number from being given again.
func (s *Disk) seeQueue(id uint64) {
	if id < math.MaxUint64 && id >= s.root.queueID.Load() {
		s.root.queueID.Store(id + 1)
	}
}

// loadChunks reads the summaries and live states of all chunks: about a hundred bytes for 4096 messages.
func (r *recovery) loadChunks(tx *bbolt.Tx) error {
	x := r.s.index
	acks := tx.Bucket(bucketAcks)
	found := 0
	err := tx.Bucket(bucketChunks).ForEach(func(k, v []byte) error {
		found++
		key, ok := parseChunkKey(k)
		if !ok {
			return fmt.Errorf("chunk key %x: %w", k, ErrCorrupt)
		}
		seg := r.known[key.segment]
		if _, err := openValue(k, v); seg == nil && err == nil {
			return nil // from a checkpoint that did not come to its end
		}
		c := &chunk{seg: seg, queue: key.queue, first: key.first, floor: key.first, saved: true}
		if err := c.load(k, v, acks.Get(k)); err != nil {
			return r.refuse(Damage{Segment: key.segment, What: err.Error()})
		}
		if saved, err := savedNotes(tx, k); err != nil {
			r.found(Damage{Segment: key.segment, What: err.Error()})
		} else {
			c.noted = len(saved)
		}
		l := x.lane(key.queue)
		l.chunks = append(l.chunks, c)
		l.next = max(l.next, c.last+1)
		r.s.seeQueue(key.queue)
		seg.chunks = append(seg.chunks, c)
		seg.refs += c.live
		seg.disk += c.liveDisk()
		x.chunks++
		return nil
	})
	if err == nil {
		if err = checkCount(tx, bucketChunks, found); err != nil {
			err = r.refuse(Damage{What: err.Error()})
		}
	}
	for _, l := range x.lanes { // the ids of segments are not always in the order of the log
		slices.SortFunc(l.chunks, func(a, b *chunk) int { return cmp.Compare(a.first, b.first) })
	}
	return err
}

// forgetDamaged deletes chunks that can't be read, and counts what is left: the loss was accepted, the next start need not be told.
func forgetDamaged(tx *bbolt.Tx) error {
	found, damaged := uint64(0), [][]byte{}
	acks := tx.Bucket(bucketAcks)
	err := tx.Bucket(bucketChunks).ForEach(func(k, v []byte) error {
		key, ok := parseChunkKey(k)
		c := &chunk{first: key.first, floor: key.first}
		if err := c.load(k, v, acks.Get(k)); !ok || err != nil {
			damaged = append(damaged, slices.Clone(k))
		} else {
			found++
		}
		return nil
	})
	for _, k := range damaged {
		err = errors.Join(err, tx.Bucket(bucketChunks).Delete(k))
	}
	return errors.Join(err, putNumber(tx, countKey(bucketChunks), found))
}
