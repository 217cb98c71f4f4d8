package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// preparedSegments is how many files are ready ahead: the next one, and a reserve, so that what publishers had sent before the
	// alarm reached them can be taken, and the settlements that free space too.
	preparedSegments = 2
	// keptSegments is how many are kept for use again while the log is busy.
	keptSegments = 5
	// keepEvery is how often the keeper looks without having been woken.
	keepEvery = time.Second
	// idleTrim is the number of such looks without a new segment from which on kept files beyond the prepared ones are removed.
	idleTrim = 10
	// spaceRetry is how long to wait before asking a full disk again.
	spaceRetry = 50 * time.Millisecond
	// checkpointAlarm is the number of checkpoints in a row that fail before the alarm goes on.
	checkpointAlarm = 3
	// dirtyLimit is the number of changes in the index that make a checkpoint worth it without a sealed segment.
	dirtyLimit = 100_000
)

// wakeKeeper makes the keeper look now rather than at its next tick.
func (s *Disk) wakeKeeper() {
	select {
	case s.keeping <- struct{}{}:
	default:
	}
}

// keep is the keeper's goroutine.
func (s *Disk) keep() {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	failures, idle := 0, 0
	s.watchSpace()
	for {
		select {
		case <-s.closing:
			return
		case <-s.keeping:
			idle = 0
		case <-tick.C:
			idle++
			s.watchSpace()
			if idle >= idleTrim { // not once: segments become free on an idle store too
				s.warn("trim free segments", s.pool.trim())
			}
		}
		if err := s.pass(); err != nil {
			failures++
			s.counters.checkpointFailed.Add(1)
			s.logger.Error("checkpoint failed, the log is kept", "error", err, "failures", failures)
		} else {
			failures = 0
		}
		s.space.set(&s.space.stuck, failures >= checkpointAlarm, s)
	}
}

// warn logs what failed and needs no other answer: it is tried again, or costs space alone.
func (s *Disk) warn(what string, err error) {
	if err != nil {
		s.logger.Warn(what, "error", err)
	}
}

// pass does what there is to do: checkpoint, free what nobody needs, compact, shrink the root file.
func (s *Disk) pass() error {
	free := s.unneeded()
	if len(free) > 0 || s.checkpointDue() {
		if err := s.checkpoint(free); err != nil {
			return err
		}
		for _, seg := range free {
			s.warn("free segment", s.free(seg))
		}
	}
	if err := s.compact(); err != nil {
		return err
	}
	s.shrinkRoot()
	return nil
}

// unneeded returns the sealed segments without a live message. All their chunks are dead by then, so the checkpoint that follows
// takes them out of the root file too.
func (s *Disk) unneeded() (free []*segment) {
	all := s.logSegments()
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	for _, seg := range all {
		if seg.sealed && seg.refs == 0 {
			free = append(free, seg)
		}
	}
	return free
}

// checkpointDue says whether a segment waits to be saved, or so much was settled that a replay would take long.
func (s *Disk) checkpointDue() bool {
	all := s.logSegments()
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	for _, seg := range all {
		if seg.sealed && !seg.saved {
			return true
		}
	}
	x := s.index
	return x.due.size() > dirtyLimit || x.noteBytes > noteLimit
}

// free lets go of a segment that the root file does not name any more.
func (s *Disk) free(seg *segment) error {
	s.removeSegment(seg)
	f := seg.detach()
	s.hook("freeing")
	if f == nil {
		return nil
	}
	if seg.punched || seg.failed {
		return errors.Join(f.Close(), s.files.remove(segmentName(seg.id)))
	}
	return s.pool.recycle(seg.id, seg.size, f)
}

// preparer is the goroutine that keeps segment files ready. That it can't is the first sign of a full disk.
func (s *Disk) preparer() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-s.pool.wake:
		case <-timer.C:
		}
		err := s.pool.fill()
		s.setShortage(err != nil)
		if err != nil {
			s.logger.Warn("no new segment", "error", err)
			timer.Reset(10 * spaceRetry)
		}
	}
}

// spaceWatch holds the reasons for the alarm.
type spaceWatch struct {
	mu       sync.Mutex
	shortage bool // no prepared segments
	low      bool // little free space
	stuck    bool // the root file can't be written
	on       atomic.Bool
}

// Alarm implements Store.
func (s *Disk) Alarm() bool { return s.space.on.Load() }

// OnAlarm implements Store.
func (s *Disk) OnAlarm(change func(on bool)) { register(&s.watchers, change) }

// setShortage notes whether there are prepared segments.
func (s *Disk) setShortage(on bool) { s.space.set(&s.space.shortage, on, s) }

// SetMinFree changes below how many bytes of free disk Alarm is on, while the store runs. Any goroutine may call it; the next look at the disk heeds it.
func (s *Disk) SetMinFree(bytes uint64) { s.minFree.Store(bytes) }

// MinFree is what it is now.
func (s *Disk) MinFree() uint64 { return s.minFree.Load() }

// Free is how many bytes the disk has left, 0 if that can't be told.
func (s *Disk) Free() uint64 {
	free, err := s.files.free()
	if err != nil {
		return 0
	}
	return free
}

// watchSpace looks at the free space.
func (s *Disk) watchSpace() {
	free, err := s.files.free()
	s.space.set(&s.space.low, err == nil && free < s.minFree.Load(), s)
}

// set changes one of the reasons, and tells if the alarm changes by it.
func (w *spaceWatch) set(reason *bool, to bool, s *Disk) {
	w.mu.Lock()
	*reason = to
	on := w.shortage || w.low || w.stuck
	changed := w.on.Swap(on) != on
	w.mu.Unlock()
	if !changed {
		return
	}
	s.logger.Warn("disk alarm", "on", on)
	if watchers := s.watchers.Load(); watchers != nil {
		for _, tell := range *watchers {
			tell(on)
		}
	}
}

// finalCheckpoint seals the segment that was written and saves everything, so that the next start has nothing to replay. It runs
// after the committer and the keeper have ended.
func (s *Disk) finalCheckpoint(ctx context.Context) error {
	if s.Err() != nil {
		return nil
	}
	if s.writer.dirty || s.log.unsynced.Load() > 0 || ctx.Err() != nil {
		return context.Cause(ctx) // the log was not written to its end
	}
	s.index.seal(s.writer.seg, s.writer.pos)
	free := s.unneeded()
	if err := s.checkpoint(free); err != nil {
		return err
	}
	for _, seg := range free {
		s.warn("free segment", s.free(seg))
	}
	return s.root.update(func(tx *bbolt.Tx) error { return putNumber(tx, keyClean, 1) })
}
