package store

import (
	"cmp"
	"slices"
	"time"
)

const (
	// lagging is how many of the newest sealed segments are left alone: most of what they hold is about to be settled.
	lagging = 2
	// fadeLook is how long a sparse segment is watched before its survivors move. It is left alone for as much longer if fadePart of them
	// went meanwhile: at that pace it is empty in a few minutes, and to move what goes by itself would be work for nothing. That
	// matters most when many segments become sparse together, as those do whose messages are due in another order than they came in.
	fadeLook = 10 * time.Second
	fadePart = 16
)

// fade is what a sparse segment held when it was last looked at.
type fade struct {
	since time.Time // zero when it was not sparse
	disk  int64
}

// fading says whether a sparse segment is about to be empty without anybody moving anything. The index's mutex is held.
func (seg *segment) fading(now time.Time) bool {
	f := &seg.fade
	if f.since.IsZero() {
		*f = fade{now, seg.disk}
	}
	if now.Sub(f.since) < fadeLook {
		return true
	}
	if f.disk-seg.disk < max(1, f.disk/fadePart) { // a queue's share of a record that many have may be a few bytes
		return false // and not looked at anew: it may have to wait for its turn
	}
	*f = fade{now, seg.disk}
	return true
}

// sparse returns the segments that are to be moved now: all that are worth it, or, at a limited rate, the emptiest of those that
// don't empty themselves. When the disk is full room counts more than work.
func (s *Disk) sparse(now time.Time) (list []*segment) {
	rate := s.options.RelocateRate
	unpaced := rate <= 0 || s.Alarm()
	all := s.logSegments()
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	if !unpaced && now.Before(s.moveAfter) {
		return nil
	}
	for i, seg := range all {
		old := i+1+lagging < len(all) || s.options.RelocateThreshold >= 1
		if old && s.worthMoving(seg) && (unpaced || !seg.fading(now)) {
			list = append(list, seg)
		}
	}
	if !unpaced {
		list = s.firstFew(list, now)
	}
	for _, seg := range list {
		seg.touched = false
	}
	return list
}

// worthMoving says whether little of a segment is alive, which has not been dealt with already. The index's mutex is held.
func (s *Disk) worthMoving(seg *segment) bool {
	if !seg.saved || seg.moved || seg.refs == 0 || seg.punched && !seg.touched {
		return false
	}
	return float64(seg.disk) <= s.options.RelocateThreshold*float64(seg.size)
}

// firstFew returns the emptiest segments, as many as may be moved in a second, or one; and notes when there may be more. The index's mutex is
// held.
func (s *Disk) firstFew(list []*segment, now time.Time) []*segment {
	slices.SortFunc(list, func(a, b *segment) int { return cmp.Compare(a.disk, b.disk) })
	rate, size, n := s.options.RelocateRate, int64(0), 0
	for n < len(list) && (n == 0 || size+list[n].disk <= rate) {
		size += list[n].disk
		n++
	}
	s.moveAfter = now.Add(moveTime(size, rate))
	return list[:n]
}

// moveTime is how long so many bytes take at a rate.
func moveTime(size, rate int64) time.Duration {
	return time.Duration(float64(size) / float64(rate) * float64(time.Second))
}

// notMoved says that a segment of those that sparse returned stays where it is: it takes none of the time of others.
func (s *Disk) notMoved(seg *segment) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	if rate := s.options.RelocateRate; rate > 0 {
		s.moveAfter = s.moveAfter.Add(-moveTime(seg.disk, rate))
	}
}
